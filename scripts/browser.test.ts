import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NoBrowser, ensureChromium, findChromium } from "./browser.ts";

// A machine's whole PATH: what is not put here is not installed.
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

// An apt-get that writes down what it was told, and a way to root for those who are not.
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

test("chromium: the one named in CHROMIUM goes before any in PATH, and PATH's order of names is fixed", () => {
  put("google-chrome");
  expect(findChromium({ PATH: bin })).toBe(join(bin, "google-chrome"));
  put("chromium");
  expect(findChromium({ PATH: bin })).toBe(join(bin, "chromium"));
  const named = put("another");
  expect(findChromium({ PATH: bin, CHROMIUM: named })).toBe(named);
  expect(findChromium({ PATH: bin, CHROMIUM: "" })).toBe(join(bin, "chromium"));
});

test("chromium: what cannot be run is none, and one that is named and is none is refused", () => {
  const flat = put("chromium", "", 0o644);
  expect(findChromium({ PATH: `relative:${bin}` })).toBeNull();
  expect(findChromium({})).toBeNull();
  for (const CHROMIUM of [flat, bin, join(bin, "absent")]) {
    expect(() => findChromium({ PATH: bin, CHROMIUM })).toThrow(NoBrowser);
  }
});

test("chromium: where there is none, Debian's package is installed, once, although a source is out of reach", () => {
  const told = putApt(`printf '#!/bin/sh\\n' > ${join(bin, "chromium")}; /bin/chmod +x ${join(bin, "chromium")}`);
  expect(ensureChromium({ PATH: bin })).toBe(join(bin, "chromium"));
  expect(ensureChromium({ PATH: bin })).toBe(join(bin, "chromium"));
  const commands = readFileSync(told, "utf8").trimEnd().split("\n");
  expect(commands.map((line) => line.replace(/^(-o \S+ )+/, ""))).toEqual([
    "update",
    "install -y --no-install-recommends chromium",
  ]);
});

test("chromium: one that is there is used as it is, without apt-get", () => {
  const told = putApt("exit 0");
  put("chromium");
  expect(ensureChromium({ PATH: bin })).toBe(join(bin, "chromium"));
  expect(existsSync(told)).toBe(false);
});

// The real script, on a machine where nothing can be had. No check runs: none of them is in this PATH.
function runTests(): { status: number | null; stdout: string; stderr: string } {
  const script = join(import.meta.dirname, "test.ts");
  return spawnSync(process.execPath, [script], { env: { PATH: bin }, encoding: "utf8" });
}

test("npm test: without a browser and without apt-get it stops with one line that says what to do, and exit code 2", () => {
  const { status, stdout, stderr } = runTests();
  expect(stderr).toMatch(/^casehound: [^\n]*no apt-get[^\n]*CHROMIUM\n$/);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
});

test("npm test: where the package cannot be installed, apt-get's words come before the line, and exit code 2", () => {
  putApt('echo "no such package" >&2; exit 100');
  const { status, stdout, stderr } = runTests();
  expect(stderr).toMatch(/\nno such package\ncasehound: chromium could not be installed [^\n]*CHROMIUM\n$/);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
});
