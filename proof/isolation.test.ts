import { expect, test } from "vitest";
import { isolation } from "./isolation.ts";
import { changesOf } from "./isolation/rows.ts";
import { Tally } from "./isolation/tally.ts";
import type { Twin } from "./isolation/twin.ts";
import { proveShort } from "./prove.ts";

test("isolation: one tenant's attempts on another find nothing and change nothing", async () => {
  const figures = await proveShort(isolation);
  expect(figures["operations"]).toBeGreaterThan(50);
  expect(figures["attempts"]).toBeGreaterThan(250);
  expect(figures["rows compared"]).toBeGreaterThan(50);
  expect(figures["responses with 403"]).toBeGreaterThan(100);
  expect(figures["responses with 404"]).toBeGreaterThan(50);
});

test("isolation: detects a word of the other tenant, another status and a changed row", () => {
  const tally = new Tally({ word: "marked", tenantId: "t-1" } as Twin);
  const answer = { status: 200, headers: new Headers(), text: "not so marked", json: undefined as never };
  tally.see("told", answer, { wanted: 404 });
  expect(tally.violations).toHaveLength(2);
  tally.seeSame("pair", [answer, { ...answer, text: "else" }]);
  expect(tally.violations).toHaveLength(3);
  expect(changesOf(["cases a", "cases b"], ["cases a", "cases c"])).toEqual(["gone: cases b", "new: cases c"]);
});
