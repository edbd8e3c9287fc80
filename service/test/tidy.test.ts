import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { advisoryLocks } from "../src/db/postgres/advisory-locks.ts";

// Enforces the design rules for the code: import direction, where SQL may be, and file length.
const root = resolve(import.meta.dirname, "../..");
const source = join(root, "service/src");
const linesMax = 300;
const folders = ["service", "client", "console", "tag", "simulator", "site", "scripts", "bench", "proof"];

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\/(node_modules|dist)(\/|$)/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name));
}

const sources = filesBelow(source).filter((file) => !file.endsWith(".test.ts"));

function layerOf(file: string): string {
  const [first = "", rest] = relative(source, file).split("/");
  return rest === undefined ? "main" : first;
}

function importsOf(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(/from "(\.[^"]+)"/g)].map(([, path]) => resolve(dirname(file), path ?? ""));
}

const mayImport: Record<string, string[]> = {
  main: ["main", "processes", "api", "engine", "db", "domain", "detection", "webhook", "mail"],
  processes: ["processes", "main", "api", "engine", "db", "domain", "webhook", "mail", "concurrency"],
  cli: ["cli", "main", "api", "db", "detection", "domain", "mail"],
  api: ["api", "db", "detection", "domain", "webhook", "mail", "main", "concurrency"],
  engine: ["engine", "db", "detection", "domain", "webhook", "mail", "concurrency"],
  webhook: ["webhook", "domain"],
  mail: ["mail"],
  detection: ["detection", "domain"],
  db: ["db", "domain", "concurrency"],
  domain: ["domain"],
  concurrency: ["concurrency"],
};

test("tidy: imports go one way", () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file)
      .filter((imported) => !(mayImport[layerOf(file)] ?? []).includes(layerOf(imported)))
      .map((imported) => `${relative(source, file)} imports ${relative(source, imported)}`),
  );
  expect(wrong).toEqual([]);
});

test("tidy: layers below main import only types from the configuration", () => {
  const lower = sources.filter((file) => ["api", "engine", "db", "domain", "detection"].includes(layerOf(file)));
  const wrong = lower.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/import (?!type)[^;]* from "(\.[^"]+)"/g)]
      .filter(([, path]) => layerOf(resolve(dirname(file), path ?? "")) === "main")
      .map(([, path]) => `${relative(source, file)} imports ${path}`),
  );
  expect(wrong).toEqual([]);
});

test("tidy: the simulator and the site import nothing from the service", () => {
  const files = ["simulator/src", "site/src"].flatMap((folder) => filesBelow(join(root, folder)));
  expect(files.length).toBeGreaterThan(30);
  const wrong = files.filter((file) => importsOf(file).some((imported) => imported.startsWith(join(root, "service"))));
  expect(wrong.map((file) => relative(root, file))).toEqual([]);
});

// Types count too: two files that need each other's types are hard to understand separately.
test("tidy: there are no import cycles", () => {
  const files = folders.flatMap((folder) => filesBelow(join(root, folder)));
  const imports = new Map(files.map((file) => [file, importsOf(file)]));
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file].map((each) => relative(root, each)).join(" > "));
    if (start >= 0 || done.has(file)) return;
    for (const imported of imports.get(file) ?? []) visit(imported, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test("tidy: SQL is only in db/", () => {
  const sql = /\b(select\s.+\sfrom|insert into|update\s\w+\sset|delete from|create table)\b/i;
  const outside = sources.filter((file) => layerOf(file) !== "db" && sql.test(readFileSync(file, "utf8")));
  expect(outside.map((file) => relative(source, file))).toEqual([]);
});

test("tidy: every advisory lock has its own number, from one table", () => {
  const numbers = Object.values(advisoryLocks);
  expect(new Set(numbers).size).toBe(numbers.length);
  const call = /pg_\w*advisory_(?:\w+_)?lock\w*\((?!\$\{advisoryLocks\.\w+\}|\$1\)[^;]*\badvisoryLocks\.|\$1\)[^;]*\[lock\])/;
  const wrong = sources.filter((file) => call.test(readFileSync(file, "utf8")));
  expect(wrong.map((file) => relative(source, file))).toEqual([]);
});

test("tidy: the domain and detection are pure: no clock, no randomness, no I/O", () => {
  const impure = /Date\.now\(|new Date\(\)|Math\.random|from "node:|process\./;
  // A hash depends only on its input.
  const pureImport = /import \{ (hash|createHmac) \} from "node:crypto";/;
  const wrong = sources.filter(
    (file) => ["domain", "detection"].includes(layerOf(file)) && impure.test(readFileSync(file, "utf8").replace(pureImport, "")),
  );
  expect(wrong.map((file) => relative(source, file))).toEqual([]);
});

test("tidy: only the configuration reads the environment", () => {
  const readers = sources.filter((file) => readFileSync(file, "utf8").includes("process.env"));
  // A worker finds its task there. It must not load the configuration before that, because some limits depend on the task.
  expect(readers.map((file) => relative(source, file)).toSorted()).toEqual(["config.ts", "processes/worker.ts"]);
});

test(`tidy: no file is longer than ${linesMax} lines`, () => {
  const written = folders
    .flatMap((folder) => filesBelow(join(root, folder)))
    .filter((file) => !/client\/src\/(operations|methods)\.ts$/.test(file));
  const long = written.filter((file) => readFileSync(file, "utf8").split("\n").length > linesMax + 1);
  expect(long.map((file) => relative(root, file))).toEqual([]);
});
