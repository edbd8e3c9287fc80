// What a benchmark needs to know about the processes that it measures.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Database } from "../service/src/db/postgres/database.ts";
import { EmbeddedPostgres } from "../service/src/db/postgres/embedded.ts";

const main = fileURLToPath(new URL("../service/src/main.ts", import.meta.url));
const ticksPerSecond = 100;
// The same flags as the start script in package.json.
const nodeFlags = ["--max-semi-space-size=16", "--heap-growing-percent=80"];

export type Bench = { folder: string; postgres: EmbeddedPostgres; database: Database; stop: () => Promise<void> };

// A separate PostgreSQL, as the service would run it.
export async function openBench(name: string): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), `casehound-${name}-`));
  const postgres = await EmbeddedPostgres.forService(folder);
  const database = new Database(postgres.address);
  const stop = async () => {
    await database.end();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { folder, postgres, database, stop };
}

export type ServiceUnderTest = { url: string; pid: number; stop: () => Promise<void> };

export function databaseUrl({ postgres }: Bench): string {
  const { user, database, host } = postgres.address;
  return `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}`;
}

// The service as a separate process on that PostgreSQL.
export function startProcess(bench: Bench, env: Record<string, string> = {}, flags: string[] = []): Promise<ServiceUnderTest> {
  return spawnService({ DATABASE_URL: databaseUrl(bench), ...env }, flags);
}

// The load generator sends more events than the quotas allow one address.
const unlimitedPages = {
  QUOTA_ADDRESS_EVENTS: "off",
  QUOTA_ADDRESS_NAMES: "off",
  QUOTA_KEY_EVENTS: "off",
  QUOTA_KEY_NAMES: "off",
};

// Starts the service as `npm start` does, and returns when it reports that it is up.
export async function spawnService(env: Record<string, string>, flags: string[] = []): Promise<ServiceUnderTest> {
  const { PATH = "" } = process.env;
  const child: ChildProcess = spawn(process.execPath, [...nodeFlags, ...flags, main], {
    env: { PATH, PORT: "0", METRICS_PORT: "off", LOG_LEVEL: "warn", ...unlimitedPages, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const found = /is up(?: at (\S+))? \(/.exec(text);
      if (found) resolve(found[1] ?? "");
    });
    child.once("exit", (code) => reject(new Error(`the service exited with ${code}: ${text}`)));
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGTERM");
    });
  return { url, pid: child.pid ?? 0, stop };
}

export function cpuSeconds(pid: number): number {
  const [user = 0, system = 0] =
    readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ").slice(11, 13).map(Number) ?? [];
  return (user + system) / ticksPerSecond;
}

export function memoryMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
}

// The CPU of every process of that PostgreSQL, including those that have ended.
export function postgresCpuSeconds(folder: string): number {
  const ofPostmaster = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
        return command.includes(folder) && command.includes("postgres") ? [Number(name)] : [];
      } catch {
        return [];
      }
    });
  const [postmaster] = ofPostmaster;
  if (postmaster === undefined) return 0;
  const fields = readFileSync(`/proc/${postmaster}/stat`, "utf8").split(") ")[1]?.split(" ").map(Number) ?? [];
  const ended = ((fields[13] ?? 0) + (fields[14] ?? 0)) / ticksPerSecond;
  const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8").trim().split(" ").filter(Boolean);
  return ended + cpuSeconds(postmaster) + children.reduce((sum, pid) => sum + cpuOrNone(Number(pid)), 0);
}

function cpuOrNone(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN;
}
