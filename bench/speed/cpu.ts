// CPU time to the nanosecond, for processes that live throughout the measurement. The kernel's usual figures come in steps of 10
// ms, which is the cost of many requests. They are used only for connections that have ended.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

// `postgres` are the postmasters of one or more servers.
export type CpuOf = { services: number[]; postgres: number[] };
export type Cpu = { service: number; postgres: number };

// In microseconds since the processes started.
export function readCpu({ services, postgres }: CpuOf): Cpu {
  const live = sum(postgres.flatMap((pid) => [pid, ...childrenOf(pid)]));
  return { service: sum(services), postgres: postgres.reduce((total, pid) => total + endedMicros(pid), live) };
}

const tickMicros = 10_000;

// Of the children of a process that have ended.
function endedMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) * tickMicros;
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
