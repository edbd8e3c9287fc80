import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Case } from "@casehound/client";
import { announceOverdue } from "../src/engine/overdue.ts";
import { addWorkingTime } from "../src/domain/business-hours.ts";
import type { DueTimes } from "../src/domain/due.ts";
import type { LoggedEvent } from "../src/domain/event.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { announce, makeLate, setDue } from "./due.ts";
import { expectProblem, TestTenant, useService } from "./harness.ts";
import { Browser } from "./people.ts";

// The service announces overdue cases by itself too, every few seconds.
const service = useService();

async function withTargets(targets: DueTimes["targets"], more: Partial<DueTimes> = {}): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  await setDue(tenant, { targets, ...more });
  return tenant;
}

const patience = { timeout: 15_000 };
const hourMs = 3_600_000;
const later = (at: string, hours: number) => new Date(Date.parse(at) + hours * hourMs).toISOString();
const query = (text: string, values: unknown[]) => service.current.database.query(statement(text, values));

async function overdueEvents(tenant: TestTenant): Promise<LoggedEvent[]> {
  const { events } = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: LoggedEvent[] };
  return events.filter(({ type }) => type === "case.overdue");
}

test("GET due-times: none at first, and a case then has no due time", async () => {
  const tenant = await TestTenant.create(service.current);
  expect((await tenant.call("GET", "/due-times")).json.data).toEqual({
    due_times_version: 1,
    days: [1, 2, 3, 4, 5],
    start: "09:00",
    end: "17:00",
    days_off: [],
    targets: [],
  });
  const found = await tenant.openCase();
  expect(found).not.toHaveProperty("due_at");
  const [listed] = await tenant.list();
  expect(listed).not.toHaveProperty("due_at");
});

test("a case gets its due time when it is opened, by the first target that matches, in the tenant's zone", async () => {
  const targets = [
    { min_score: 5, label: "Bot" as const, hours: 1 },
    { min_score: 4, hours: 8 },
  ];
  const tenant = await withTargets(targets, { days: [1, 2, 3, 4, 5], start: "09:00", end: "17:00" });
  await tenant.call("PUT", "/tenants", { body: { time_zone: "Australia/Sydney" } });
  const found = await tenant.openCase();
  const hours = { days: [1, 2, 3, 4, 5], daysOff: [], startMinute: 540, endMinute: 1020 };
  const expected = addWorkingTime(Date.parse(found.created_at), 8 * hourMs, { hours, zone: "Australia/Sydney" });
  expect(found.due_at).toBe(new Date(expected).toISOString());
  const [listed] = await tenant.list();
  expect(listed?.due_at).toBe(found.due_at);
  expect((await tenant.read(found.case_id)).due_at).toBe(found.due_at);
});

test("a close keeps the due time, and a reopened case gets a new one from then", async () => {
  const tenant = await withTargets([{ min_score: 1, hours: 4 }]);
  const found = await tenant.openCase();
  expect(found.due_at).toBe(later(found.created_at, 4));
  const closed = await tenant.put(found.case_id, { status: "CLOSED", case_version: found.case_version });
  expect((closed.json.data as Case).due_at).toBe(found.due_at);
  await setDue(tenant, { targets: [{ min_score: 1, hours: 2 }] });
  const reopened = await tenant.put(found.case_id, { status: "OPEN", case_version: found.case_version + 1 });
  const { due_at, current_state } = reopened.json.data as Case;
  expect(due_at).toBe(later(current_state.changed_at, 2));
  await tenant.put(found.case_id, { status: "CLOSED", case_version: found.case_version + 2 });
  await setDue(tenant, { targets: [] });
  const last = await tenant.put(found.case_id, { status: "OPEN", case_version: found.case_version + 3 });
  expect(last.json.data).not.toHaveProperty("due_at");
});

test("overdue: each due time is announced once, by several processes at once, and without raising the version", async () => {
  const tenant = await withTargets([{ min_score: 1, hours: 4 }]);
  const [late, onTime] = [await tenant.openCase(), await tenant.openCase()];
  const due_at = await makeLate(tenant, late);
  await Promise.all([1, 2, 3].map(() => announce(tenant)));
  await announce(tenant);
  const [event, ...more] = await overdueEvents(tenant);
  expect(more).toEqual([]);
  expect(event).toMatchObject({
    actor: "system",
    resource: { type: "case", id: late.case_id, version: late.case_version },
    data: { due_at },
  });
  expect((await tenant.read(late.case_id)).case_version).toBe(late.case_version);
  expect((await tenant.read(onTime.case_id)).due_at).toBe(onTime.due_at);
});

test("overdue: if a process fails before it commits, another announces the case", async () => {
  const tenant = await withTargets([{ min_score: 1, hours: 4 }]);
  await makeLate(tenant, await tenant.openCase());
  const broken = { now: () => "not a time" };
  await expect(announceOverdue({ database: service.current.database, clock: broken }, tenant.tenantId)).rejects.toBeInstanceOf(
    Error,
  );
  await announce(tenant);
  expect(await overdueEvents(tenant)).toHaveLength(1);
});

test("overdue: a closed case is not announced, and a reopened one again when its new due time has passed", async () => {
  const tenant = await withTargets([{ min_score: 1, hours: 4 }]);
  const found = await tenant.openCase();
  await tenant.put(found.case_id, { status: "CLOSED", case_version: found.case_version });
  await makeLate(tenant, found);
  await announce(tenant);
  expect(await overdueEvents(tenant)).toEqual([]);
  await tenant.put(found.case_id, { status: "OPEN", case_version: found.case_version + 1 });
  await makeLate(tenant, await tenant.read(found.case_id), 1);
  await announce(tenant);
  expect(await overdueEvents(tenant)).toHaveLength(1);
});

test("evidence that changes the score computes the due time again, from the same beginning, and other evidence does not change it", async () => {
  const tenant = await withTargets([
    { min_score: 5, hours: 2 },
    { min_score: 1, hours: 40 },
  ]);
  const found = await tenant.openCase("ann");
  expect(found.due_at).toBe(later(found.created_at, 2));
  // As if the case had begun with less.
  const weaker = later(found.created_at, 40);
  const text = `update cases
    set due_at = $3::timestamptz, document = replace(replace(document, $4, $5), '"overall_risk_score":5', '"overall_risk_score":3')
    where tenant_id = $1 and case_id = $2`;
  await query(text, [tenant.tenantId, found.case_id, weaker, found.due_at, weaker]);
  await tenant.report("ann");
  await expect.poll(async () => (await tenant.read(found.case_id)).due_at, patience).toBe(found.due_at);
  await setDue(tenant, { targets: [{ min_score: 1, hours: 9 }] });
  await tenant.report("ann");
  await expect.poll(async () => (await tenant.read(found.case_id)).case_version, patience).toBe(found.case_version + 2);
  expect((await tenant.read(found.case_id)).due_at).toBe(found.due_at);
});

test("an erasure keeps the due time, and the events name nobody", async () => {
  const tenant = await withTargets([{ min_score: 1, hours: 4 }]);
  const found = await tenant.openCase("ann-of-the-shop");
  const due_at = await makeLate(tenant, found);
  await announce(tenant);
  expect((await tenant.call("DELETE", "/enduseraccounts/ann-of-the-shop")).status).toBe(204);
  expect((await tenant.read(found.case_id)).due_at).toBe(due_at);
  expect(JSON.stringify(await overdueEvents(tenant))).not.toContain("ann-of-the-shop");
});

test("GET cases 400: overdue is true or false", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const value of ["yes", "", "1", "true&overdue=true"])
    expect(expectProblem(await tenant.call("GET", `/cases?overdue=${value}`), 400, "bad-request").errors).toBeNull();
});

test("PUT due-times 409, 403 and 422: nothing is stored", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = (await tenant.call("GET", "/due-times")).json.data as DueTimes;
  const put = (body: object, by: TestTenant | Browser = tenant) => by.call("PUT", "/due-times", { body: { ...before, ...body } });
  const lead = await Browser.join(tenant, "lead");
  expectProblem(await put({}, lead), 403, "access-denied");
  expect(expectProblem(await put({ due_times_version: 7 }), 409, "item-version-conflict").current_version).toBe(1);
  const wrong: [string, object][] = [
    ["days", { days: [] }],
    ["days", { days: [1, 1] }],
    ["days[0]", { days: [8] }],
    ["start", { start: "9:00" }],
    ["start", { start: "25:00" }],
    ["end", { end: "09:30" }],
    ["days_off[1]", { days_off: ["2026-12-25", "2026-02-30"] }],
    ["days_off", { days_off: ["2026-12-25", "2026-12-25"] }],
    ["days_off", { days_off: Array.from({ length: 101 }, (_, at) => new Date(at * 86_400_000).toISOString().slice(0, 10)) }],
    ["targets[0].hours", { targets: [{ min_score: 3, hours: 0 }] }],
    ["targets[0]", { targets: [null] }],
    ["targets[0].min_score", { targets: [{ min_score: 6, hours: 1 }] }],
    ["targets", { targets: Array.from({ length: 21 }, () => ({ min_score: 3, hours: 1 })) }],
    ["zone", { zone: randomUUID() }],
  ];
  for (const [field, body] of wrong) {
    const problem = expectProblem(await put(body), 422, "validation-error");
    expect(problem.errors?.map((each) => each.field)).toContain(field);
  }
  expect((await tenant.call("GET", "/due-times")).json.data).toEqual(before);
});
