import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { faults, mutation } from "./mutation.ts";
import { proveShort } from "./prove.ts";

test("proof of the tests: there are faults enough, each planted once", () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  expect(faults.length).toBeGreaterThanOrEqual(40);
});

test("proof of the tests: the text of each fault stands in its file once", () => {
  for (const { name, file, text } of faults) {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
    expect(source.split(text).length, name).toBe(2);
  }
});

// Whole runs of tests inside of a test, beside all the others.
test("proof of the tests: some of the faults, drawn by chance, are seen", { timeout: 600_000 }, async () => {
  expect(await proveShort(mutation)).toMatchObject({ "faults planted": 2, "seen by the tests": 2 });
});
