import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { expect, test } from "vitest";
import { faultsIn, plant } from "./mutation/fault.ts";
import { faults, mutation } from "./mutation.ts";
import { proveShort } from "./prove.ts";

test("proof of the tests: there are enough faults, and no two are the same", () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  expect(faults.length).toBeGreaterThanOrEqual(40);
});

test.each(faults)("proof of the tests: $name: the change fits its function exactly once", (fault) => {
  const source = readFileSync(new URL(`../${fault.file}`, import.meta.url), "utf8");
  const planted = plant(source, fault);
  expect(planted).not.toBe(source);
  expect(stripTypeScriptTypes(planted)).not.toBe("");
});

test("proof of the tests: a fault changes only its function, and one that does not fit is rejected", () => {
  const source =
    "const max = 3;\n\nfunction one(\n  max: number,\n): number {\n  return max;\n}\n\nfunction two() {\n  return max;\n}\n";
  const [fault] = faultsIn("a.ts", [["", "one", /return \w+/, "return 0", ""]]);
  if (!fault) throw new Error("no fault");
  expect(plant(source, fault)).toBe(source.replace("return max", "return 0"));
  expect(() => plant(source, { ...fault, function: "three" })).toThrow("a.ts declares three 0 times");
  expect(() => plant(source, { ...fault, change: { pattern: /max/, instead: "" } })).toThrow("matches one in a.ts 2 times");
});

// Runs whole test files inside a test, while other tests run too.
test("proof of the tests: randomly chosen faults are detected", { timeout: 600_000 }, async () => {
  expect(await proveShort(mutation)).toMatchObject({ "faults planted": 2, "detected by the tests": 2 });
});
