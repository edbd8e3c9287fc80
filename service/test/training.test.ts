import { expect, test } from "vitest";
import { findReportDelays, readTrainingRows, type TrainingRow } from "../src/db/training.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { activityKey } from "../src/db/inbox.ts";
import { saveLabels, type NewLabelRow } from "../src/db/labels.ts";
import type { LabelSource, Moment } from "../src/domain/label.ts";
import { insertDecided, type Decided } from "./decided.ts";
import { TestTenant } from "./harness.ts";
import { useOwnService } from "./process.ts";

const service = useOwnService({ roles: new Set(["api"]) });
const dayMs = 24 * 60 * 60 * 1000;
const asOf = "2026-06-30T00:00:00.000Z";
const before = (days: number) => new Date(Date.parse(asOf) - days * dayMs).toISOString();
const span = { from: before(90), until: asOf, asOf };

// The decision holds a number by which the test recognizes the activity.
function paymentOn(days: number, hits: number, more: Decided = {}): Decided & { activity_id: string } {
  const decision = { l: hits };
  return { activity_id: `p-${hits}`, type: "payment", received_at: before(days), decision, ...more };
}

async function keyOf(tenant: TestTenant, activity_id: string): Promise<{ id_key: string; received_at: string }> {
  const text = "select id_key, received_at from activities where tenant_id = $1 and activity_id = $2";
  const [row] = await tenant.service.database.query<{ id_key: string; received_at: string }>(
    statement(text, [tenant.tenantId, activity_id]),
  );
  if (!row) throw new Error(`${activity_id} is not stored`);
  return row;
}

async function labelAs(
  tenant: TestTenant,
  activity_id: string,
  { source, y, known = 1 }: { source: LabelSource; y: 0 | 1; known?: number },
): Promise<void> {
  const activity = await keyOf(tenant, activity_id);
  const row: NewLabelRow = {
    activity,
    source,
    y,
    weight: source === "account_report" ? 0.5 : 1,
    event_at: activity.received_at,
    labelled_at: before(0),
    known_at: before(known),
    case_id: null,
    case_version: null,
    actor: "test",
  };
  await tenant.service.database.transaction((tx) => saveLabels(tx, tenant.tenantId, [row]));
}

async function read(tenant: TestTenant, moment: Moment = "value", more: Partial<typeof span> = {}): Promise<TrainingRow[]> {
  return (await readChunks(tenant, moment, { ...span, ...more })).flat();
}

async function readChunks(tenant: TestTenant, moment: Moment, wanted: typeof span): Promise<TrainingRow[][]> {
  const chunks: TrainingRow[][] = [];
  for await (const chunk of readTrainingRows(tenant.service.database, tenant.tenantId, moment, wanted)) chunks.push(chunk);
  return chunks;
}

const brief = (rows: TrainingRow[]) => rows.map(({ decision, y, weight }) => [JSON.parse(decision).l, y, weight]);

const byText = (a: unknown, b: unknown) => (String(a) < String(b) ? -1 : 1);

test("training rows: labelled activities have the label of the source that decides, and old unlabelled ones are honest", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, [
    paymentOn(60, 1),
    paymentOn(50, 2),
    paymentOn(40, 3),
    paymentOn(20, 4),
    paymentOn(10, 5),
    paymentOn(5, 6),
    paymentOn(5, 7, { type: "transfer" }),
  ]);
  await labelAs(tenant, "p-1", { source: "api", y: 1 });
  await labelAs(tenant, "p-1", { source: "case", y: 0 });
  await labelAs(tenant, "p-1", { source: "report", y: 1 });
  await labelAs(tenant, "p-4", { source: "account_report", y: 1 });
  await labelAs(tenant, "p-6", { source: "report", y: 1 });
  await labelAs(tenant, "p-6", { source: "account_report", y: 0 });
  expect(brief(await read(tenant))).toEqual([
    [1, 0, 1],
    [2, 0, 1],
    [3, 0, 1],
    [4, 1, 0.5],
    [6, 1, 1],
  ]);
  const [first] = await read(tenant);
  expect(first).toMatchObject({ decision: '{"l":1}', y: 0, weight: 1, event_at: before(60), labelled_at: before(1) });
});

test("training rows: what was declined, has a case, or was suspicious enough for one is left out until somebody labels it", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, [
    paymentOn(60, 1, { status: "declined" }),
    paymentOn(60, 2, { case_id: "019a8b1c-0000-7000-8000-000000000000" }),
    paymentOn(60, 3, { score: 3 }),
    paymentOn(60, 4, { status: "approved", attributes: { word: '"status":"declined"' } }),
    paymentOn(60, 5, { status: "approved", attributes: { status: "declined" } }),
  ]);
  expect(brief(await read(tenant)).toSorted(byText)).toEqual([
    [4, 0, 1],
    [5, 0, 1],
  ]);
  for (const id of [1, 2, 3]) await labelAs(tenant, `p-${id}`, { source: "api", y: 1 });
  expect(await read(tenant)).toHaveLength(5);
});

test("training rows: each moment has its own activities, and neither pages' activities nor other tenants' rows are read", async () => {
  const [tenant, other] = await Promise.all([TestTenant.create(service.current), TestTenant.create(service.current)]);
  const all = ["login_succeeded", "login_failed", "signup", "payee_added", "payment", "transfer", "page_view", "fraud_report"];
  await insertDecided(
    tenant,
    all.map((type, index) => paymentOn(60, index, { type })),
  );
  await insertDecided(tenant, [paymentOn(60, 9, { origin: "browser" })]);
  await insertDecided(other, [paymentOn(60, 8)]);
  const typesOf = async (moment: Moment) => brief(await read(tenant, moment)).map(([index]) => all[Number(index)]);
  expect((await typesOf("entry")).toSorted(byText)).toEqual(["login_succeeded", "payee_added"]);
  expect(await typesOf("signup")).toEqual(["signup"]);
  expect((await typesOf("value")).toSorted(byText)).toEqual(["payment", "transfer"]);
});

test("training rows: a label that became known later is not used, and the span is by time of receipt", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, [paymentOn(60, 1), paymentOn(50, 2), paymentOn(91, 3)]);
  await labelAs(tenant, "p-1", { source: "api", y: 1, known: 10 });
  expect(brief(await read(tenant, "value", { asOf: before(10) }))).toEqual([
    [1, 1, 1],
    [2, 0, 1],
  ]);
  expect(brief(await read(tenant, "value", { asOf: before(11) }))).toEqual([
    [1, 0, 1],
    [2, 0, 1],
  ]);
  expect(brief(await read(tenant, "value", { from: before(55) }))).toEqual([[2, 0, 1]]);
  expect(brief(await read(tenant, "value", { until: before(55) }))).toEqual([[1, 1, 1]]);
});

test("training rows: the maturity time is the tenant's own once fifty report delays are known", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(
    tenant,
    Array.from({ length: 50 }, (_, index) => paymentOn(20, index)),
  );
  await insertDecided(tenant, [paymentOn(8, 100), paymentOn(6, 101)]);
  for (let index = 0; index < 49; index++) await labelAs(tenant, `p-${index}`, { source: "api", y: 1, known: 13 });
  expect(await findReportDelays(tenant.service.database, tenant.tenantId, asOf)).toEqual({ count: 49, p95Ms: 7 * dayMs });
  expect(await read(tenant)).toHaveLength(49);
  await labelAs(tenant, "p-49", { source: "report", y: 1, known: 13 });
  const rows = await read(tenant);
  expect(brief(rows).filter(([, y]) => y === 0)).toEqual([[100, 0, 1]]);
  expect(rows.at(-1)).toMatchObject({ labelled_at: before(1) });
});

test("training rows: several chunks contain every row once, in order", async () => {
  const tenant = await TestTenant.create(service.current);
  const received_at = before(60);
  // All have the same time, so that chunks are separated by key.
  const payments = Array.from({ length: 4_100 }, (_, index) => paymentOn(60, index, { received_at }));
  await insertDecided(tenant, payments);
  const chunks = await readChunks(tenant, "value", span);
  expect(chunks.map(({ length }) => length)).toEqual([2_000, 2_000, 100]);
  expect(new Set(brief(chunks.flat()).map(([index]) => index)).size).toBe(payments.length);
});

test("an activity's key depends on its origin, so a label never reaches a page's activity with the same id", () => {
  const [server, page] = (["server", "browser"] as const).map((origin) => activityKey({ origin, activity_id: "a" }));
  expect(server).not.toBe(page);
});
