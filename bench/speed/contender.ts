// A measured process that serves HTTP: ours, the bare one or the plain one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type Contender = { name: string; url: string; pid: number; stop: () => Promise<void> };

// The service's own flags, so that no contender has better ones.
const nodeFlags = ["--max-semi-space-size=16", "--heap-growing-percent=80"];

// Starts a program that prints its address as its first line.
export async function startContender(
  name: string,
  program: URL,
  { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {},
): Promise<Contender> {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [...nodeFlags, fileURLToPath(program), ...args], {
    env: { PATH, NODE_ENV: "production", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.trim());
    });
    child.once("exit", (code) => reject(new Error(`${name} exited with ${code}: ${text}`)));
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  };
  return { name, url, pid: child.pid ?? 0, stop };
}

// The peak memory of the process.
export function memoryPeakMb(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1024;
}
