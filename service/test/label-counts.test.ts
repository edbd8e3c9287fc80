import { expect, test } from "vitest";
import { lockTurn, makePartition } from "../src/db/activities.ts";
import { lockRatedById, saveLabels, type NewLabelRow } from "../src/db/labels.ts";
import { Database, type Transaction } from "../src/db/postgres/database.ts";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { entityKey } from "../src/db/states.ts";
import { daysKept, sumOfDays, type Days } from "../src/detection/days.ts";
import { eraseAccountTraces } from "../src/db/erasure.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import type { LabelSource } from "../src/domain/label.ts";
import { applyLabels } from "../src/engine/labels.ts";
import { dieEverywhere } from "./dying.ts";
import { activityOf, drain, iso, labDetector, labNow, labNowMs, newTenant, snapshot, store, useLab } from "./engine-lab.ts";
import { eventually } from "./process.ts";

const lab = useLab();
const clock = { now: () => labNow };
const dayMs = 24 * 60 * 60 * 1000;

const paymentOf = (more: Partial<RecordedActivity> = {}): RecordedActivity =>
  activityOf({ type: "payment", website_account_id: "payer", device_id: "phone", ...more });

async function scored(activities: RecordedActivity[]): Promise<string> {
  const tenantId = await newTenant(lab.current);
  await store(lab.current, tenantId, activities);
  await drain(labDetector(lab.current.database), tenantId);
  return tenantId;
}

// Labels activities as the API does.
async function label(
  tenantId: string,
  activities: RecordedActivity[],
  { source = "api", y = 1, database = lab.current.database }: { source?: LabelSource; y?: 0 | 1; database?: Database } = {},
): Promise<void> {
  await database.transaction((tx) => labelIn(tx, tenantId, activities, { source, y }));
}

async function labelIn(
  tx: Transaction,
  tenantId: string,
  activities: RecordedActivity[],
  { source, y }: { source: LabelSource; y: 0 | 1 },
): Promise<number> {
  const found = await lockRatedById(
    tx,
    tenantId,
    activities.map((each) => each.activity_id),
  );
  const rows = activities.flatMap(({ activity_id, occurred_at: event_at }) =>
    (found.get(activity_id) ?? []).map((activity): NewLabelRow => {
      const from = { source, weight: 1, case_id: null, case_version: null, actor: "test" };
      return { activity, y, event_at, labelled_at: labNow, known_at: labNow, ...from };
    }),
  );
  return (await saveLabels(tx, tenantId, rows)).size;
}

const apply = (tenantId: string, database = lab.current.database) => applyLabels({ database, clock }, tenantId);

const fraudsIn = (facts: string, { at = labNowMs, span = daysKept } = {}) =>
  sumOfDays((JSON.parse(facts) as { days?: Days }).days, "frauds", { at, span });

type Counted = { account: number; device: number };

// The known frauds of the payer and the phone over the days that end at `at`.
async function fraudsOf(tenantId: string, { at = labNowMs, span = daysKept } = {}): Promise<Counted> {
  const read = async (kind: "account" | "device", name: string) => {
    const [row] = await lab.current.database.query<{ facts: string }>(
      sql`select facts from entity_states where tenant_id = ${tenantId} and kind = ${kind} and key = ${entityKey(kind, name)}`,
    );
    return fraudsIn(row?.facts ?? "{}", { at, span });
  };
  return { account: await read("account", "payer"), device: await read("device", "phone") };
}

async function labelsOf(tenantId: string): Promise<{ source: string; y: number | null; applied_y: number | null }[]> {
  const text = "select source, y, applied_y from labels where tenant_id = $1 order by id_key, source";
  return lab.current.database.query(statement(text, [tenantId]));
}

test("known frauds: a label counts on the day of its activity, for its account and its device, and once", async () => {
  const payment = paymentOf({ occurred_at: iso(labNowMs - 5 * dayMs) });
  const tenantId = await scored([payment, paymentOf()]);
  await label(tenantId, [payment]);
  expect(await apply(tenantId)).toEqual({ outcomes: 0, labels: 1 });
  expect(await apply(tenantId)).toEqual({ outcomes: 0, labels: 0 });
  expect(await fraudsOf(tenantId)).toEqual({ account: 1, device: 1 });
  expect(await fraudsOf(tenantId, { span: 5 })).toEqual({ account: 0, device: 0 });
  expect(await fraudsOf(tenantId, { at: labNowMs - 5 * dayMs, span: 1 })).toEqual({ account: 1, device: 1 });
});

test("known frauds: a label that is changed or taken back is subtracted, and counts survive later activity", async () => {
  const payments = [paymentOf(), paymentOf(), paymentOf()];
  const tenantId = await scored(payments);
  await label(tenantId, payments);
  await apply(tenantId);
  await label(tenantId, payments.slice(1), { y: 0 });
  await apply(tenantId);
  await store(lab.current, tenantId, [paymentOf()]);
  await drain(labDetector(lab.current.database), tenantId);
  expect(await fraudsOf(tenantId)).toEqual({ account: 1, device: 1 });
  await label(tenantId, payments, { y: 0 });
  await apply(tenantId);
  expect(await fraudsOf(tenantId)).toEqual({ account: 0, device: 0 });
});

test("known frauds: several sources count once, and the one of the highest rank decides", async () => {
  const [payment, other] = [paymentOf(), paymentOf()];
  const tenantId = await scored([payment, other]);
  const steps: [LabelSource, 0 | 1, number][] = [
    ["account_report", 1, 0],
    ["report", 1, 1],
    ["api", 1, 1],
    ["case", 0, 0],
    ["api", 0, 0],
    ["case", 1, 1],
    ["report", 0, 1],
  ];
  for (const [source, y, frauds] of steps) {
    await label(tenantId, [payment], { source, y });
    await apply(tenantId);
    expect([source, y, (await fraudsOf(tenantId)).account]).toEqual([source, y, frauds]);
  }
  await label(tenantId, [other], { source: "account_report" });
  expect(await apply(tenantId)).toEqual({ outcomes: 0, labels: 0 });
});

test("known frauds: a label of activity from before the days kept, or of an entity that was forgotten, is processed without effect", async () => {
  const old = paymentOf({ occurred_at: iso(labNowMs - 90 * dayMs) });
  const forgotten = paymentOf({ website_account_id: "nobody", device_id: "nothing" });
  const tenantId = await scored([old, forgotten]);
  const gone = [entityKey("account", "nobody"), entityKey("device", "nothing")];
  await lab.current.database.transaction((tx) =>
    tx.query(statement("delete from entity_states where tenant_id = $1 and key = any($2::uuid[])", [tenantId, gone])),
  );
  await label(tenantId, [old, forgotten]);
  await apply(tenantId);
  expect(await labelsOf(tenantId)).toMatchObject([{ applied_y: 1 }, { applied_y: 1 }]);
  expect((await fraudsOf(tenantId)).account).toBe(0);
  await label(tenantId, [old, forgotten], { y: 0 });
  await apply(tenantId);
  expect((await fraudsOf(tenantId)).account).toBe(0);
});

test("known frauds: more labels than one batch takes are all counted", async () => {
  const payments = Array.from({ length: 620 }, () => paymentOf());
  const tenantId = await scored(payments);
  await label(tenantId, payments);
  expect(await apply(tenantId)).toEqual({ outcomes: 0, labels: 500 });
  expect(await apply(tenantId)).toEqual({ outcomes: 0, labels: 120 });
  expect(await fraudsOf(tenantId)).toEqual({ account: 620, device: 620 });
});

test("engines: two engines that count labels while labels change give the same result as one", async () => {
  const payments = Array.from({ length: 30 }, () => paymentOf());
  const tenantId = await scored(payments);
  const databases = [0, 1, 2].map(() => new Database({ connectionString: lab.current.url }));
  const [first, second, sender] = databases;
  const sending = { isOn: true };
  const count = async (database: Database | undefined) => {
    while (sending.isOn) await apply(tenantId, database);
  };
  const send = async () => {
    for (let round = 0; round < 8; round++) {
      const y = round % 2 === 0 ? 1 : 0;
      const more = { y, source: round % 3 === 0 ? "report" : "api", ...(sender && { database: sender }) } as const;
      await label(tenantId, payments.slice(round, round + 20), more);
    }
    sending.isOn = false;
  };
  await Promise.all([count(first), count(second), send()]);
  while (((await apply(tenantId))?.labels ?? 1) > 0);
  const wanted = await lab.current.database.query<{ count: number }>(sql`
    select count(*) as count
    from (
      select distinct on (id_key) y
      from labels
      where tenant_id = ${tenantId}
      order by id_key, source
    ) as decided
    where y = 1`);
  expect((await fraudsOf(tenantId)).account).toBe(wanted[0]?.count);
  expect((await labelsOf(tenantId)).every(({ y, applied_y }) => y === applied_y)).toBe(true);
  await Promise.all(databases.map((database) => database.end()));
});

test("crash: counting that dies at any statement changes nothing, and a rerun counts every label once", async () => {
  const payments = [paymentOf(), paymentOf({ occurred_at: iso(labNowMs - dayMs) })];
  const tenantId = await scored(payments);
  await label(tenantId, payments);
  const before = await snapshot(lab.current, tenantId);
  const { result, steps } = await dieEverywhere(
    lab.current.database,
    (database) => apply(tenantId, database),
    async () => expect(await snapshot(lab.current, tenantId)).toEqual(before),
  );
  expect(result).toEqual({ outcomes: 0, labels: 2 });
  expect(steps).toBeGreaterThan(6);
  expect(await fraudsOf(tenantId)).toEqual({ account: 2, device: 2 });
});

const erased = { id: "payer", pseudonym: "erased-1" };

test("erasure: while one runs, counting gives way, and afterwards the account's labels are gone", async () => {
  const [payment, other] = [paymentOf(), paymentOf({ website_account_id: "other" })];
  const tenantId = await scored([payment, other]);
  await label(tenantId, [payment, other]);
  await lab.current.database.transaction(async (tx) => {
    await lockTurn(tx, tenantId);
    expect(await apply(tenantId)).toBeNull();
    await eraseAccountTraces(tx, tenantId, erased);
    expect(await apply(tenantId)).toBeNull();
  });
  expect(await apply(tenantId)).toEqual({ outcomes: 0, labels: 1 });
  expect(await labelsOf(tenantId)).toHaveLength(1);
  expect(await fraudsOf(tenantId)).toEqual({ account: 0, device: 1 });
});

test("erasure: the account's known frauds still count for its device and its payee, as day counts that name nobody", async () => {
  const payment = paymentOf({ payee_id: "payee-1", amount: 20, currency: "EUR" });
  const tenantId = await scored([payment]);
  await label(tenantId, [payment]);
  await apply(tenantId);
  expect(await entitiesWithFrauds(tenantId)).toEqual(["account", "device", "payee", "value"]);
  await lab.current.database.transaction((tx) => eraseAccountTraces(tx, tenantId, erased));
  await apply(tenantId);
  expect(await labelsOf(tenantId)).toEqual([]);
  expect(await entitiesWithFrauds(tenantId)).toEqual(["device", "payee", "value"]);
});

async function entitiesWithFrauds(tenantId: string): Promise<string[]> {
  const rows = await lab.current.database.query<{ kind: string; facts: string }>(
    sql`select kind, facts from entity_states where tenant_id = ${tenantId} order by kind`,
  );
  return rows.filter(({ facts }) => fraudsIn(facts) > 0).map(({ kind }) => kind);
}

test("erasure: a label that is being stored meanwhile is erased too, and one that comes later finds no activity", async () => {
  const payment = paymentOf();
  const tenantId = await scored([payment]);
  let erasure: Promise<void> = Promise.resolve();
  await lab.current.database.transaction(async (tx) => {
    expect(await labelIn(tx, tenantId, [payment], { source: "api", y: 1 })).toBe(1);
    erasure = lab.current.database.transaction(async (other) => {
      await lockTurn(other, tenantId);
      await eraseAccountTraces(other, tenantId, erased);
    });
    // Until the erasure waits for this transaction.
    const waits = sql`select 1 as found from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await eventually(async () => expect(await lab.current.database.query(waits)).not.toEqual([]));
  });
  await erasure;
  expect(await labelsOf(tenantId)).toEqual([]);
  await lab.current.database.transaction(async (tx) => {
    expect(await labelIn(tx, tenantId, [payment], { source: "api", y: 1 })).toBe(0);
  });
});

test("a label finds its activity on the day of its receipt, whatever the time of day", async () => {
  const days = [iso(labNowMs - dayMs).slice(0, 10), labNow.slice(0, 10)];
  for (const day of days) await lab.current.database.transaction((tx) => makePartition(tx, day));
  const payments = days.flatMap((day) => ["00:00:00.000", "23:59:59.999"].map((time) => `${day}T${time}Z`));
  const activities = payments.map((received_at) => paymentOf({ received_at, occurred_at: received_at }));
  const tenantId = await scored(activities);
  const found = await lab.current.database.transaction((tx) => labelIn(tx, tenantId, activities, { source: "api", y: 1 }));
  expect(found).toBe(4);
});
