import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { slowFiles } from "./suites.ts";

const root = join(import.meta.dirname, "..");
const slow = slowFiles.map((pattern) => globSync(pattern, { cwd: root }));

test("suites: every pattern of slow files matches a file, and no file matches two patterns", () => {
  expect(slowFiles.filter((_, index) => slow[index]?.length === 0)).toEqual([]);
  const all = slow.flat();
  expect(new Set(all).size).toBe(all.length);
});

test("suites: most files are in the fast suite", () => {
  const all = globSync("{service,client,console,tag,simulator,scripts,proof,bench}/**/*.test.ts", {
    cwd: root,
    exclude: (file) => file.includes("node_modules"),
  });
  expect(slow.flat().length).toBeLessThan(all.length / 4);
});

test("suites: continuous integration runs the fast suite first, and then the slow one", () => {
  expect(readFileSync(join(root, ".ci/run"), "utf8")).toMatch(/^npm test\nnpm run test:slow\n/m);
});
