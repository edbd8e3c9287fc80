import { expect, test } from "vitest";
import { check } from "./checker.ts";
import type { Deed } from "./history.ts";
import { MadeHistory } from "./made-history.ts";

// Two cases are closed under one key. Another request holds the second one at first, so the first response closes only the first.
function storyInTwo(first: Partial<Deed>) {
  const made = new MadeHistory();
  for (const account of ["a", "b"]) {
    made.makeAccount(account);
    made.report(account, `report-${account}`);
  }
  const partial = made.closeMany(["case-1"], "bulk", first);
  made.read("case-1");
  const rest = made.closeMany(["case-2"], "bulk");
  return { made, partial, rest };
}

test("checker: a bulk close in two responses under one key has no violations, also if the first one is lost", () => {
  expect(check(storyInTwo({ outcome: "partial" }).made).violations).toEqual([]);
  const { made, partial } = storyInTwo({ outcome: "unknown", made: [] });
  Object.assign(partial, { end: Infinity, sights: [] });
  expect(check(made).violations).toEqual([]);
});

test("checker: detects a bulk close that a response claims and the log does not have, and one that no response claims", () => {
  const claimed = storyInTwo({ outcome: "partial" });
  claimed.partial.deed.made.push({ case_id: "case-2", version: 3 });
  expect(check(claimed.made).violations).toContainEqual(expect.stringMatching(/^lost or forked: bulk/));
  const silent = storyInTwo({ outcome: "partial" });
  silent.rest.deed.made = [];
  expect(check(silent.made).violations).toContainEqual(expect.stringMatching(/^lost or forked: bulk/));
});

test("checker: detects a case that two responses under one key change twice", () => {
  const { made } = storyInTwo({ outcome: "partial" });
  made.put("case-1", "again", { status: "OPEN", version: 2 });
  made.closeMany(["case-1"], "bulk", { outcome: "partial" });
  expect(check(made).violations).toContainEqual(expect.stringMatching(/^applied twice: bulk/));
});
