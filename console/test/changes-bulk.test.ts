import { expect, test } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { BulkClosing, type BulkVerdict } from "../src/changes/bulk.ts";
import { deskOf, fatefulProxy } from "./desk.ts";

const service = useService();
const verdict: BulkVerdict = { disposition: "FALSE_POSITIVE", reason: "One campaign." };

async function openMany(tenant: TestTenant, count: number) {
  const accounts = Array.from({ length: count }, (_, index) => `account-${index}`);
  await Promise.all(accounts.map((account) => tenant.report(account)));
  await expect.poll(() => tenant.list("status=OPEN"), { timeout: 60_000 }).toHaveLength(count);
  const rows = await tenant.list("status=OPEN&sort=created_at");
  return rows.toSorted((a, b) => Number(a.website_account_id.slice(8)) - Number(b.website_account_id.slice(8)));
}

test("bulk: of 50 cases, one changed and one already closed, 48 are closed and each case has its outcome", async () => {
  const tenant = await TestTenant.create(service.current);
  const rows = await openMany(tenant, 50);
  const [changed, closed] = [rows[7], rows[30]];
  if (!changed || !closed) throw new Error("too few");
  await tenant.report(changed.website_account_id, { attributes: { label: "Bot" } });
  await tenant.put(closed.case_id, { status: "CLOSED", case_version: 1 });
  await expect.poll(async () => (await tenant.read(changed.case_id)).case_version, { timeout: 60_000 }).toBe(2);
  const absent = { case_id: "019a8b1c-0000-7000-8000-000000000000", case_version: 1 };
  const desk = deskOf(tenant);
  const steps: number[] = [];
  const closing: BulkClosing = new BulkClosing(desk, [...rows, absent], verdict, () => steps.push(closing.done));
  await closing.run();
  const outcomes = closing.outcomes();
  expect(outcomes.get(changed.case_id)).toEqual({ kind: "changed", from: 1, to: 2 });
  expect(outcomes.get(closed.case_id)).toEqual({ kind: "already-closed", by: tenant.clientId });
  expect(outcomes.get(absent.case_id)).toEqual({ kind: "absent" });
  expect([...outcomes.values()].filter((each) => each.kind === "closed")).toHaveLength(48);
  expect({ steps, keys: desk.keys.length, hasFailed: closing.hasFailed }).toEqual({
    steps: [25, 50, 51],
    keys: 3,
    hasFailed: false,
  });
  expect((await tenant.list("status=OPEN")).map((each) => each.case_id)).toEqual([changed.case_id]);
  expect(await tenant.read(closed.case_id)).toMatchObject({ current_state: { reason: "The case was closed." } });
});

test("bulk: a failed batch is retried under its own key, so a lost response is found and nothing is applied twice", async () => {
  const tenant = await TestTenant.create(service.current);
  const rows = await openMany(tenant, 30);
  let isIll = true;
  // The first batch is applied but its responses fail; the second never arrives.
  const proxy = await fatefulProxy(tenant, (_seen, count) => (!isIll ? "pass" : count === 1 ? "lose" : 502));
  const desk = deskOf(tenant, proxy.url);
  const impatient = { ...desk, outbox: Object.assign(desk.outbox, { deliver: (_label: string, send: () => unknown) => send() }) };
  const closing = new BulkClosing(impatient, rows, verdict);
  await closing.run();
  expect([...closing.outcomes().values()].every((each) => each.kind === "failed")).toBe(true);
  expect(await tenant.list("status=OPEN")).toHaveLength(5);
  isIll = false;
  await closing.retry();
  expect([...closing.outcomes().values()].map((each) => each.kind)).toEqual(rows.map(() => "closed"));
  expect(new Set(proxy.seen.map((each) => each.key)).size).toBe(2);
  expect(await tenant.list("status=OPEN")).toEqual([]);
  for (const row of await tenant.list("status=CLOSED")) expect(row.case_version).toBe(2);
});

test("bulk: a case that stays locked fails alone and can be retried", async () => {
  const tenant = await TestTenant.create(service.current);
  const rows = await openMany(tenant, 3);
  const held = rows[1];
  if (!held) throw new Error("too few");
  const closing = new BulkClosing(deskOf(tenant), rows, verdict);
  const { promise: isOver, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: isHeld, resolve: holds } = Promise.withResolvers<void>();
  const { lockCasesById } = await import("../../service/src/db/cases.ts");
  const holding = service.current.database.transaction(async (tx) => {
    await lockCasesById(tx, tenant.tenantId, [held.case_id]);
    holds();
    await isOver;
  });
  await isHeld;
  await closing.run();
  expect(rows.map((row) => closing.outcomes().get(row.case_id)?.kind)).toEqual(["closed", "failed", "closed"]);
  letGo();
  await holding;
  await closing.retry();
  expect(closing.outcomes().get(held.case_id)).toEqual({ kind: "closed", case_version: 2 });
  expect(closing.hasFailed).toBe(false);
});
