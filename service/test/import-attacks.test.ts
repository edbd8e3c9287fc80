import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { Database } from "../src/db/postgres/database.ts";
import { sql } from "../src/db/postgres/sql.ts";
import type { HistoryBatchResult, PastActivity } from "../src/domain/history.ts";
import { workHistory } from "../src/engine/history.ts";
import { dieEverywhere } from "./dying.ts";
import { snapshot } from "./engine-lab.ts";
import { TestTenant, expectProblem, newDetector, useOwnDatabase, useService, type Answer } from "./harness.ts";
import { countRows, daysAgo, decidedOf, importAll, pastOf, scoreHistory, statusOf } from "./import-lab.ts";
import { listed, scoreAll } from "./labels-lab.ts";
import { eventually } from "./process.ts";

// What a client that may import could try. No engine runs here.
const url = useOwnDatabase("import_attacks");
const service = useService({ databaseUrl: url, roles: new Set(["api"]) });
const newTenant = () => TestTenant.create(service.current);

const payments = (count: number, more: Partial<PastActivity> = {}): PastActivity[] =>
  Array.from({ length: count }, (_, index) =>
    pastOf({ type: "payment", occurred_at: daysAgo(3 + (index % 3), index), amount: 20, currency: "EUR", ...more }),
  );

const shuffled = <T>(all: T[]): T[] => all.toSorted(() => Math.random() - 0.5);

async function eventsOf(tenant: TestTenant, type: string): Promise<unknown[]> {
  const { events } = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: { type: string }[] };
  return events.filter((each) => each.type === type);
}

test("POST imports: the same activities in eight requests at once, each in another order, are stored once", async () => {
  const tenant = await newTenant();
  const past = payments(200);
  const results = await Promise.all(Array.from({ length: 8 }, () => importAll(tenant, shuffled(past))));
  const sum = (pick: (each: HistoryBatchResult) => number) => results.reduce((total, each) => total + pick(each), 0);
  expect([sum((each) => each.accepted), sum((each) => each.duplicates)]).toEqual([200, 1400]);
  expect(await countRows(tenant, "history")).toBe(200);
});

test("POST imports: eight requests at once mark the same waiting activities as frauds, each in another order", async () => {
  const tenant = await newTenant();
  const past = payments(200);
  await importAll(tenant, past);
  const known = past.map((each) => ({ ...each, fraudulent: true, known_at: daysAgo(1) }));
  for (const result of await Promise.all(Array.from({ length: 8 }, () => importAll(tenant, shuffled(known)))))
    expect(result).toEqual({ accepted: 0, duplicates: 200, reused: 0, too_old: 0, unlabelled: 0 });
  await scoreHistory(tenant);
  expect(await listed(tenant, "limit=1000")).toHaveLength(200);
});

test("POST imports: an activity that is sent live at the same time is stored once", async () => {
  const tenant = await newTenant();
  const past = payments(100);
  const live = past.map(({ fraudulent: _fraudulent, known_at: _known, ...each }) => each);
  const [imported, sent] = await Promise.all([
    importAll(tenant, past),
    tenant.call("POST", "/activities", { body: { activities: live.toReversed() } }),
  ]);
  expect(imported.accepted + (sent.json.data as { accepted: number }).accepted).toBe(100);
  await scoreHistory(tenant);
  await scoreAll(tenant);
  expect(await countRows(tenant, "activities")).toBe(100);
});

test("POST imports start: eight at once are one start with one event, and without history there is none", async () => {
  const tenant = await newTenant();
  const start = () => tenant.call("POST", "/imports/start");
  expect((await start()).json.data).toMatchObject({ waiting: 0, is_running: false });
  await importAll(tenant, payments(3));
  for (const { status, json } of await Promise.all(Array.from({ length: 8 }, start)))
    expect([status, json.data]).toMatchObject([202, { waiting: 3, is_running: true }]);
  expect(await eventsOf(tenant, "history.started")).toHaveLength(1);
});

test("import: engines that score the same history at once score each activity once, with the same result as one", async () => {
  const [one, several] = [await newTenant(), await newTenant()];
  const past = payments(60);
  for (const tenant of [one, several]) await importAll(tenant, past);
  await scoreHistory(one);
  expect((await several.call("POST", "/imports/start")).status).toBe(202);
  const databases = [1, 2, 3].map(() => new Database({ connectionString: url }));
  const scored = databases.map(async (database) => {
    let sum = 0;
    while ((await statusOf(several)).is_running) sum += (await workHistory(newDetector(database), several.tenantId))?.scored ?? 0;
    return sum;
  });
  expect((await Promise.all(scored)).reduce((sum, each) => sum + each, 0)).toBe(60);
  await Promise.all(databases.map((database) => database.end()));
  expect(await decidedOf(several)).toEqual(await decidedOf(one));
});

test("crash: an engine that dies at any statement while it scores history changes nothing, and the next one scores everything once", async () => {
  const tenant = await newTenant();
  const { database } = service.current;
  await importAll(
    tenant,
    [...payments(2), ...payments(1, { fraudulent: true })].map((each) => ({ ...each, occurred_at: daysAgo(3) })),
  );
  await tenant.call("POST", "/imports/start");
  const before = await snapshot({ url, database }, tenant.tenantId);
  const { steps } = await dieEverywhere(
    database,
    (dying) => workHistory(newDetector(dying), tenant.tenantId),
    async () => expect(await snapshot({ url, database }, tenant.tenantId)).toEqual(before),
  );
  expect(steps).toBeGreaterThan(10);
  expect(await countRows(tenant, "activities")).toBe(3);
  expect(await listed(tenant)).toHaveLength(1);
});

const odd = "\u202e\u{1f9ff}e\u0301\uffff'\"\\\u0001\u001b[2J";

test("import: the largest numbers, odd texts and equal times are scored, and the import ends", async () => {
  const tenant = await newTenant();
  const occurred_at = daysAgo(2);
  const numbers = [0, -0, 5e-324, 1e-9, 0.1 + 0.2, 2 ** 53 - 1, 1e15, 1e308, Number.MAX_VALUE];
  const past = [
    ...numbers.flatMap((amount) => [
      pastOf({ type: "payment", occurred_at, amount, currency: "EUR", payee_id: odd }),
      pastOf({ type: "transfer", occurred_at, attributes: { amount, value: -amount, [odd]: odd } }),
    ]),
    ...["login_succeeded", "signup", "login_failed", `custom:${"x".repeat(20)}`].map((type) =>
      pastOf({
        type,
        occurred_at,
        website_account_id: odd,
        device_id: odd,
        session_id: odd,
        user_agent: odd,
        ip: "::ffff:192.0.2.1",
      }),
    ),
  ];
  const accepted: PastActivity[] = [];
  for (const each of past) {
    const answer: Answer = await tenant.call("POST", "/imports", { body: { activities: [each] } });
    expect([202, 422], answer.text).toContain(answer.status);
    if (answer.status === 202) accepted.push(each);
  }
  expect(accepted.length).toBeGreaterThan(10);
  expect(await scoreHistory(tenant)).toBe(accepted.length);
  expect(await countRows(tenant, "unscorable")).toBe(0);
});

test("POST imports 422: 1,001 activities; 413: more than 2 MiB; nothing is stored", async () => {
  const tenant = await newTenant();
  const post = (activities: PastActivity[]) => tenant.call("POST", "/imports", { body: { activities } });
  expectProblem(await post(payments(1_001)), 422, "validation-error");
  const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`a${index}`, "x".repeat(250)]));
  expectProblem(await post(payments(1_000, { attributes })), 413, "payload-too-large");
  expect(await countRows(tenant, "history")).toBe(0);
});

test("import: it ends even if the retention was shortened after the history was sent", async () => {
  const tenant = await newTenant();
  await importAll(tenant, payments(5));
  expect((await tenant.call("PUT", "/tenants", { body: { retention_days: 1 } })).status).toBe(200);
  expect(await scoreHistory(tenant)).toBe(5);
});

test("import: the longest retention does not let one tenant make thousands of days for all", async () => {
  const tenant = await newTenant();
  expect((await tenant.call("PUT", "/tenants", { body: { retention_days: 3650 } })).status).toBe(200);
  expect((await statusOf(tenant)).kept_from).toBe(`${daysAgo(399).slice(0, 10)}T00:00:00.000Z`);
  const days = [1, 399, 400, 1_000, 3_649];
  const past = days.map((day) => pastOf({ type: "payment", occurred_at: daysAgo(day) }));
  expect(await importAll(tenant, past)).toEqual({ accepted: 2, duplicates: 0, reused: 0, too_old: 3, unlabelled: 0 });
});

test("GET imports report: any span is answered, also one at the ends of time or the wrong way round", async () => {
  const tenant = await newTenant();
  const ends = ["0001-01-01T00:00:00Z", "0001-02-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", clock.now()];
  for (const from of [undefined, ...ends])
    for (const until of [undefined, ...ends]) {
      const query = [...(from === undefined ? [] : [`from=${from}`]), ...(until === undefined ? [] : [`until=${until}`])];
      const answer = await tenant.call("GET", `/imports/report?${query.join("&")}`);
      expect([200, 400], `${query.join("&")}: ${answer.text}`).toContain(answer.status);
    }
});

test("import: if it ends at the moment at which more is sent and started, what was sent is scored", async () => {
  const tenant = await newTenant();
  const { database } = service.current;
  await importAll(tenant, payments(1));
  await tenant.call("POST", "/imports/start");
  // The engine has looked for more history and found none, but has not ended the import yet.
  await database.query(sql`
    create function wait_here() returns trigger language plpgsql as $$
    begin
      perform set_config('lock_timeout', '0', true);
      perform pg_advisory_xact_lock(4711);
      return old;
    end $$`);
  await database.query(sql`create trigger wait_here before delete on imports for each row execute function wait_here()`);
  const detector = newDetector(database);
  await workHistory(detector, tenant.tenantId);
  const waiting = sql`select 1 as found from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  const waiters = async () => (await database.query(waiting)).length;
  const ending = await database.transaction(async (tx) => {
    await tx.query(sql`select pg_advisory_xact_lock(4711)`);
    const engine = workHistory(detector, tenant.tenantId);
    await eventually(async () => expect(await waiters()).toBe(1));
    await importAll(tenant, payments(1));
    let isAnswered = false;
    const started = tenant.call("POST", "/imports/start").finally(() => (isAnswered = true));
    await eventually(async () => expect(isAnswered || (await waiters()) === 2).toBe(true));
    return { engine, started };
  });
  await ending.engine;
  expect((await ending.started).json.data).toMatchObject({ waiting: 1, is_running: true });
  expect(await statusOf(tenant)).toMatchObject({ waiting: 1, is_running: true });
  await database.query(sql`drop trigger wait_here on imports`);
});

test("import: a page's key opens none of its operations", async () => {
  const tenant = await newTenant();
  const { clickstream_app_id: key }: { clickstream_app_id: string } = (await tenant.call("GET", "/tenants")).json.data;
  const body = { activities: payments(1) };
  for (const [method, path] of [
    ["POST", "/imports"],
    ["POST", "/imports/start"],
    ["GET", "/imports"],
    ["GET", "/imports/report"],
  ] as const) {
    const given = method === "POST" && path === "/imports" ? { body } : {};
    expectProblem(await tenant.call(method, path, { ...given, token: key }), 401, "unauthorized");
  }
  expect(await countRows(tenant, "history")).toBe(0);
});
