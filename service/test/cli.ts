import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { runCommand } from "../src/cli/run.ts";
import { compileCache } from "./launch.ts";

export const cliFile = join(import.meta.dirname, "../src/cli/main.ts");

export type Ended = { code: number | null; out: string; err: string };
export type Running = { child: ChildProcess; ended: Promise<Ended> };

// Runs a command in the test's own process, which saves starting one. The command sees only the given environment.
export async function runCli(args: string[], env: Record<string, string>): Promise<Ended> {
  const written = { out: "", err: "" };
  const code = await runCommand(args, {
    env,
    out: (text) => (written.out += text),
    err: (text) => (written.err += text),
  });
  return { code, ...written };
}

// Runs the command as its own process, to test signals, exit codes and leftovers.
export function launchCli(args: string[], env: Record<string, string>): Running {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [cliFile, ...args], { env: { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...env } });
  const ended = new Promise<Ended>((resolve, reject) => {
    const written = { out: "", err: "" };
    child.stdout.on("data", (chunk: Buffer) => (written.out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (written.err += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...written }));
  });
  return { child, ended };
}
