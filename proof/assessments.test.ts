import { expect, test } from "vitest";
import { assessments } from "./assessments.ts";
import { proveShort } from "./prove.ts";

test("proof of assessments: each request has one verdict after kills, with several processes, and during stalls", async () => {
  const figures = await proveShort(assessments);
  expect(figures["kill -9 during an assessment"]).toBe(14);
  expect(figures["cases that they opened"]).toBe(1);
  expect(figures["answers during them"]).toBeGreaterThan(0);
});
