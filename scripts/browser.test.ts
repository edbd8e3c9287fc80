import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NoBrowser, ensureChromium, findChromium } from "./browser.ts";

// The machine's whole PATH: only programs in this folder are installed.
let bin = "";
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), "casehound-path-"));
});
afterEach(() => rmSync(bin, { recursive: true, force: true }));

function put(name: string, script = "exit 0", mode = 0o755): string {
  const path = join(bin, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode });
  return path;
}

// An apt-get that records its arguments, and a sudo for users who are not root.
function putApt(install: string): string {
  const told = join(bin, "told");
  symlinkSync("/usr/bin/env", join(bin, "env"));
  put("sudo", 'shift; exec "$@"');
  put(
    "apt-get",
    `echo "$*" >> ${told}\ncase "$*" in *" update") echo "a source is out of reach" >&2; exit 100 ;; esac\n${install}`,
  );
  return told;
}

test("chromium: the path in CHROMIUM takes precedence over PATH, and the order of names in PATH is fixed", () => {
  put("google-chrome");
  expect(findChromium({ PATH: bin })).toBe(join(bin, "google-chrome"));
  put("chromium");
  expect(findChromium({ PATH: bin })).toBe(join(bin, "chromium"));
  const named = put("another");
  expect(findChromium({ PATH: bin, CHROMIUM: named })).toBe(named);
  expect(findChromium({ PATH: bin, CHROMIUM: "" })).toBe(join(bin, "chromium"));
});

test("chromium: a file that cannot be run does not count, and an invalid CHROMIUM is rejected", () => {
  const flat = put("chromium", "", 0o644);
  expect(findChromium({ PATH: `relative:${bin}` })).toBeNull();
  expect(findChromium({})).toBeNull();
  for (const CHROMIUM of [flat, bin, join(bin, "absent")]) {
    expect(() => findChromium({ PATH: bin, CHROMIUM })).toThrow(NoBrowser);
  }
});

test("chromium: if there is none, Debian's package is installed once, even if a source is unreachable", () => {
  const told = putApt(`printf '#!/bin/sh\\n' > ${join(bin, "chromium")}; /bin/chmod +x ${join(bin, "chromium")}`);
  expect(ensureChromium({ PATH: bin })).toBe(join(bin, "chromium"));
  expect(ensureChromium({ PATH: bin })).toBe(join(bin, "chromium"));
  const commands = readFileSync(told, "utf8").trimEnd().split("\n");
  expect(commands.map((line) => line.replace(/^(-o \S+ )+/, ""))).toEqual([
    "update",
    "install -y --no-install-recommends chromium",
  ]);
});

test("chromium: an installed one is used as it is, without apt-get", () => {
  const told = putApt("exit 0");
  put("chromium");
  expect(ensureChromium({ PATH: bin })).toBe(join(bin, "chromium"));
  expect(existsSync(told)).toBe(false);
});

// Runs the real script on a machine without any tools. No check runs, because none of them is in this PATH.
function runTests(): { status: number | null; stdout: string; stderr: string } {
  const script = join(import.meta.dirname, "test.ts");
  return spawnSync(process.execPath, [script], { env: { PATH: bin }, encoding: "utf8" });
}

test("npm test: without a browser and apt-get it prints one line that says what to do, and exits with code 2", () => {
  const { status, stdout, stderr } = runTests();
  expect(stderr).toMatch(/^casehound: [^\n]*no apt-get[^\n]*CHROMIUM[^\n]*\n$/);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
});

test("npm test: if the package cannot be installed, apt-get's output precedes the line, and the exit code is 2", () => {
  putApt('echo "no such package" >&2; exit 100');
  const { status, stdout, stderr } = runTests();
  expect(stderr).toMatch(/\nno such package\ncasehound: chromium could not be installed [^\n]*CHROMIUM[^\n]*\n$/);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
});
