import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { parts, tagScript } from "./script.ts";

const folder = join(import.meta.dirname, "browser");
const sources = parts.map((part) => readFileSync(join(folder, `${part}.ts`), "utf8"));
const linesOf = (source: string): string[] => source.split("\n").map((line) => line.trim());

test("tag script: stays under 6,000 bytes compressed", () => {
  expect(gzipSync(tagScript()).length).toBeLessThan(6000);
});

test("tag script: is a valid classic script without imports, exports and types", () => {
  expect(() => new Script(tagScript())).not.toThrow();
  expect(tagScript()).not.toMatch(/^(import|export|type|interface) /m);
});

test("tag script: contains the package's version", () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as { version: string };
  expect(tagScript()).toContain(`const version = "${version}";`);
});

test("tag script: does not use cookies", () => {
  expect(tagScript()).not.toMatch(/cookie/i);
});

test("tag script: building it prints nothing on standard error and keeps the process's warnings", () => {
  const address = new URL("./script.ts", import.meta.url).href;
  const code = `import { tagScript } from "${address}"; tagScript(); process.emitWarning("kept");`;
  const { stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  expect(status).toBe(0);
  expect(stderr.match(/Warning: .*/g)).toEqual(["Warning: kept"]);
});

test("tag script: includes every source file of the tag, and each uses only earlier parts", () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  expect(files.toSorted()).toEqual(parts.map((part) => `${part}.ts`).toSorted());
  const late = sources.flatMap((source, index) =>
    [...source.matchAll(/from "\.\/(\w+)\.ts"/g)].filter(([, used]) => !parts.slice(0, index).some((each) => each === used)),
  );
  expect(late.map(([text]) => text)).toEqual([]);
});

test("tag script: no two parts share a top-level name", () => {
  const names = sources.flatMap((source) =>
    [...source.matchAll(/^(?:export )?(?:async )?(?:function|const|let) (\w+)/gm)].map(([, name]) => name),
  );
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("tag script: no literal spans lines or has two spaces in a row, so removing both changes nothing", () => {
  const wrong = sources.flatMap((source) =>
    linesOf(source).filter(
      (line) => !line.startsWith("//") && (line.includes("  ") || line.split("`").length % 2 === 0 || line.includes("/*")),
    ),
  );
  expect(wrong).toEqual([]);
});
