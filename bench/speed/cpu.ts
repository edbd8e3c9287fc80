// CPU time to the nanosecond, for processes that live throughout the measurement. The kernel's usual figures come in steps of 10
// ms, which is the cost of many requests.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

// `postgres` are the postmasters of one or more servers. With a `database`, only the connections to that database count, because
// other work on the same servers would count too.
export type CpuOf = { services: number[]; postgres: number[]; database?: string };
export type Cpu = { service: number; postgres: number };

// In microseconds since the processes started.
export function readCpu({ services, postgres, database }: CpuOf): Cpu {
  const counted = (pid: number) =>
    database === undefined
      ? [pid, ...childrenOf(pid)]
      : childrenOf(pid).filter((child) => titleOf(child).includes(` ${database} `));
  return { service: sum(services), postgres: sum(postgres.flatMap(counted)) };
}

// Names the user, the database and the client.
function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

export function cpuBetween(before: Cpu, after: Cpu, requests: number): Cpu {
  return {
    service: (after.service - before.service) / requests,
    postgres: (after.postgres - before.postgres) / requests,
  };
}

export function postmasterPid(folder: string): number {
  return Number(readFileSync(join(folder, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
}

function sum(pids: number[]): number {
  return pids.reduce((total, pid) => total + cpuMicros(pid), 0);
}

// Covers all threads. If the process or one of its threads ends meanwhile, it counts as zero.
function cpuMicros(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((total, thread) => {
      const [ns = "0"] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
      return total + Number(ns) / 1000;
    }, 0);
  } catch {
    return 0;
  }
}
