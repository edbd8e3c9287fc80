import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli } from "./cli.ts";

test("cli: ./casehound works from any directory", () => {
  const program = join(import.meta.dirname, "../../casehound");
  const { status, stdout, stderr } = spawnSync(program, ["--help"], { cwd: tmpdir(), encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("Usage: ./casehound <command>");
});

test("cli: completion offers commands, subcommands and options in a real bash", async () => {
  const { out: script } = await runCli(["completion", "bash"], {});
  const complete = (words: string[]) => {
    const line = `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _casehound; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { status, stdout, stderr } = spawnSync("bash", ["-c", line], { encoding: "utf8" });
    expect(status, stderr).toBe(0);
    return stdout.trim().split("\n");
  };
  expect(complete(["casehound", "web"])).toEqual(["webhooks"]);
  expect(complete(["casehound", "cases", "c"])).toEqual(["close", "claim"]);
  expect(complete(["casehound", "cases", "close", "--d"])).toEqual(["--disposition"]);
  expect(complete(["casehound", "doctor", "--j"])).toEqual(["--json"]);
  expect(complete(["casehound", "events", "send", "--scenario", "spr"])).toEqual(["spraying"]);
  expect(complete(["casehound", "webhooks", "create", "https://x", "--format", ""])).toEqual(["standard", "slack", "teams"]);
  expect(script).toMatch(/^complete -o default -F _casehound casehound \.\/casehound$/m);
  expect((await runCli(["completion", "zsh"], {})).out).toContain("bashcompinit");
  expect((await runCli(["completion", "fish"], {})).code).toBe(2);
});
