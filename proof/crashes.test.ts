import { expect, test } from "vitest";
import { crashes } from "./crashes.ts";
import { proveShort } from "./prove.ts";

test("proof of crashes: after a kill every acknowledged change exists once, and its key reveals the outcome of any other", async () => {
  const figures = await proveShort(crashes);
  expect(figures["kill -9 under load"]).toBe(4);
  expect(figures["fail points inside writes"]).toBeGreaterThan(5);
  expect(figures["acknowledged changes, each found once"]).toBeGreaterThan(0);
});
