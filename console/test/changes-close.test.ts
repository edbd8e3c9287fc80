import { expect, test } from "vitest";
import type { Case } from "../../service/src/domain/case.ts";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { closeCase, reopenCase, type Verdict } from "../src/changes/desk.ts";
import { differenceOf } from "../src/changes/difference.ts";
import { deskOf, fatefulProxy } from "./desk.ts";

const service = useService();

function verdictOn({ case_id, case_version }: Case, more: Partial<Verdict> = {}): Verdict {
  return { case_id, case_version, disposition: "CONFIRMED_FRAUD", reason: "Seen by phone.", ...more };
}

test("close: the case is closed with outcome and reason, under one key", async () => {
  const tenant = await TestTenant.create(service.current);
  const open = await tenant.openCase();
  const desk = deskOf(tenant);
  const result = await closeCase(desk, verdictOn(open));
  expect(result).toMatchObject({ kind: "closed", found: { status: "CLOSED", case_version: 2 } });
  expect(await tenant.read(open.case_id)).toMatchObject({
    current_state: { reason: "Seen by phone.", disposition: "CONFIRMED_FRAUD" },
  });
  expect(desk.keys).toHaveLength(1);
});

test("close: a stale version closes nothing and returns what changed since", async () => {
  const tenant = await TestTenant.create(service.current);
  const seen = await tenant.openCase("ann");
  await tenant.report("ann", { attributes: { label: "Bot" } });
  await expect.poll(async () => (await tenant.read(seen.case_id)).case_version, { timeout: 60_000 }).toBe(2);
  const before = await tenant.read(seen.case_id);
  const result = await closeCase(deskOf(tenant), verdictOn(seen));
  expect(result).toStrictEqual({ kind: "changed", found: before });
  expect(await tenant.read(seen.case_id)).toStrictEqual(before);
  expect(differenceOf(seen, before)).toMatchObject({
    versions: { from: 1, to: 2 },
    scores: null,
    changed_by: "system",
    evidence: [expect.any(String)],
  });
  // "Close anyway" sends the current version as a new change.
  expect(await closeCase(deskOf(tenant), verdictOn(before))).toMatchObject({ kind: "closed", found: { case_version: 3 } });
});

test("close: a case that a colleague closed keeps the colleague's outcome and reason", async () => {
  const tenant = await TestTenant.create(service.current);
  const seen = await tenant.openCase();
  await tenant.put(seen.case_id, { status: "CLOSED", case_version: 1, reason: "Mine.", disposition: "INCONCLUSIVE" });
  const closed = await tenant.read(seen.case_id);
  for (const version of [1, 2]) {
    const result = await closeCase(deskOf(tenant), verdictOn(seen, { case_version: version }));
    expect(result).toStrictEqual({ kind: "already-closed", found: closed });
  }
  expect(await tenant.read(seen.case_id)).toStrictEqual(closed);
});

test("close: lost responses and server errors are retried under one key until the case is closed, exactly once", async () => {
  const tenant = await TestTenant.create(service.current);
  const open = await tenant.openCase();
  const proxy = await fatefulProxy(tenant, (_seen, count) => (["lose", 502, "lose", 500, 503] as const)[count - 1] ?? "pass");
  const desk = deskOf(tenant, proxy.url);
  const shown: number[] = [];
  desk.outbox.subscribe(() => shown.push(desk.outbox.unsaved().length));
  let delays = 0;
  expect(await closeCase(desk, verdictOn(open), () => delays++)).toMatchObject({ kind: "closed", found: { case_version: 2 } });
  expect(proxy.seen.map((each) => each.key)).toEqual(Array.from({ length: 6 }, () => desk.keys[0]));
  expect(await tenant.read(open.case_id)).toMatchObject({ case_version: 2, state_history: [open.current_state] });
  // The change stayed unsaved throughout, was reported as delayed once, and was saved in the end.
  expect({ delays, most: Math.max(...shown), last: shown.at(-1) }).toEqual({ delays: 1, most: 1, last: 0 });
});

test("close: a rejection returns the service's message and changes nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  const open = await tenant.openCase();
  tenant.token = await tenant.mint(["read:case", "read:cases"]);
  const result = await closeCase(deskOf(tenant), verdictOn(open));
  expect(result).toEqual({ kind: "refused", words: "The token lacks the scope update:case." });
  expect(await tenant.read(open.case_id)).toStrictEqual(open);
});

test("undo: reopens the closed case, but not if it has changed since or the account has another open case", async () => {
  const tenant = await TestTenant.create(service.current);
  const desk = deskOf(tenant);
  const open = await tenant.openCase("ann");
  const closed = await closeCase(desk, verdictOn(open));
  if (closed.kind !== "closed") throw new Error(closed.kind);
  expect(await reopenCase(desk, closed.found)).toMatchObject({ kind: "reopened", found: { status: "OPEN", case_version: 3 } });
  expect(await reopenCase(desk, closed.found)).toMatchObject({ kind: "changed", found: { case_version: 3 } });
  const again = await closeCase(desk, verdictOn(open, { case_version: 3 }));
  if (again.kind !== "closed") throw new Error(again.kind);
  await tenant.openCase("ann");
  expect(await reopenCase(desk, again.found)).toMatchObject({
    kind: "refused",
    words: expect.stringMatching(/another open case/),
  });
  expect(await tenant.read(open.case_id)).toMatchObject({ status: "CLOSED", case_version: 4 });
});
