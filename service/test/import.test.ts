import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { makePartition } from "../src/db/activities.ts";
import { statement } from "../src/db/postgres/sql.ts";
import type { Activity } from "../src/domain/activity.ts";
import type { PastActivity } from "../src/domain/history.ts";
import { clock } from "../src/clock.ts";
import type { Pass } from "../src/engine/detect.ts";
import { applyLabels } from "../src/engine/labels.ts";
import { Engine } from "../src/engine/loop.ts";
import { openLog } from "../src/log.ts";
import { makeRule } from "./decided.ts";
import { TestTenant, expectProblem, newDetector } from "./harness.ts";
import { countRows, daysAgo, decidedOf, importAll, pastOf, scoreHistory, statusOf } from "./import-lab.ts";
import { listed, sendScored } from "./labels-lab.ts";
import { eventually, useOwnService } from "./process.ts";

// No engine runs here: nothing is scored unless a test scores it.
const service = useOwnService({ roles: new Set(["api"]) });
const noneStored = { accepted: 0, duplicates: 0, reused: 0, too_old: 0, unlabelled: 0 };
const newTenant = () => TestTenant.create(service.current);
const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile Safari/604.1";

const loginOf = (occurred_at: string, more: Partial<PastActivity> = {}) =>
  pastOf({ type: "login_succeeded", occurred_at, device_id: "phone", ip: "192.0.2.7", user_agent: iphone, ...more });
const paymentOf = (occurred_at: string, more: Partial<PastActivity> = {}) =>
  pastOf({ type: "payment", occurred_at, amount: 20, currency: "EUR", ...more });

// A robot that tries many accounts from one device, and a report: sent live, each would open a case.
function attack(days: number): PastActivity[] {
  const tries = Array.from({ length: 60 }, (_, index) =>
    loginOf(daysAgo(days, index / 10), {
      type: "login_failed",
      device_id: "robot",
      website_account_id: `victim-${index}`,
      user_agent: "curl/8.5.0",
    }),
  );
  return [...tries, pastOf({ type: "fraud_report", occurred_at: daysAgo(days, 30), website_account_id: "victim-1" })];
}

test("import: an attack in the history is scored and stored, and opens no case, now or later", async () => {
  const [tenant, live] = [await newTenant(), await newTenant()];
  await sendScored(
    live,
    attack(0).map((each) => ({ ...each, occurred_at: clock.now() })),
  );
  expect((await live.list()).length).toBeGreaterThan(1);
  expect(await importAll(tenant, attack(3))).toEqual({ ...noneStored, accepted: 61 });
  expect(await countRows(tenant, "activities")).toBe(0);
  expect(await scoreHistory(tenant)).toBe(61);
  const decided = [...(await decidedOf(tenant)).values()];
  expect(decided.filter(({ score }) => score >= 3).length).toBeGreaterThan(10);
  expect(decided.every(({ case_id }) => case_id === null)).toBe(true);
  await applyLabels({ database: service.current.database, clock }, tenant.tenantId);
  await sendScored(tenant, [{ ...loginOf(clock.now(), { website_account_id: "victim-2" }), activity_id: randomUUID() }]);
  expect(await tenant.list()).toEqual([]);
  const { events } = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: { type: string }[] };
  const types = new Set(events.map(({ type }) => type));
  expect([...types].toSorted()).toEqual(["account.created", "history.started", "history.stored"]);
});

test("import: history is scored in order of time, whatever the order in which it was sent", async () => {
  const days = [40, 30, 20, 10, 5];
  const past = days.map((day) => loginOf(daysAgo(day)));
  const decisions = [];
  for (const order of [past, past.toReversed()]) {
    const tenant = await newTenant();
    for (const each of order) await importAll(tenant, [each]);
    await scoreHistory(tenant);
    const decided = await decidedOf(tenant);
    decisions.push(past.map(({ activity_id }) => decided.get(activity_id)));
  }
  expect(decisions[0]).toEqual(decisions[1]);
  const gaps = decisions[0]?.map((each) => each?.features["account.days_since_last_login"] ?? 0);
  expect(gaps).toEqual([0, 10, 10, 10, 5]);
});

test("import: a device that the account used in the history is known to live activity, and another one is new", async () => {
  const tenant = await newTenant();
  const habits = Array.from({ length: 20 }, (_, index) => loginOf(daysAgo(20 - (index % 4), index)));
  await importAll(tenant, habits);
  await scoreHistory(tenant);
  const [known, other] = [loginOf(clock.now()), loginOf(clock.now(), { device_id: "unheard-of" })];
  await sendScored(tenant, [known]);
  await sendScored(tenant, [other]);
  const decided = await decidedOf(tenant);
  expect(decided.get(known.activity_id)?.features["account.device_is_new"] ?? false).toBe(false);
  expect(decided.get(other.activity_id)?.features["account.device_is_new"]).toBe(true);
});

test("import: a fraud counts for its payee from the day on which it was known, not before", async () => {
  const tenant = await newTenant();
  const fraud = paymentOf(daysAgo(20), { payee_id: "shop", fraudulent: true, known_at: daysAgo(15) });
  const [before, after] = [17, 13].map((day) => paymentOf(daysAgo(day), { payee_id: "shop", website_account_id: "bob" }));
  const all = [fraud, before, after].filter((each) => each !== undefined);
  await importAll(tenant, all.toReversed());
  await scoreHistory(tenant);
  const decided = await decidedOf(tenant);
  const frauds = all.map(({ activity_id }) => decided.get(activity_id)?.features["payee.frauds_14d"] ?? 0);
  expect(frauds).toEqual([0, 0, 1]);
  expect(await listed(tenant)).toMatchObject([
    { activity_id: fraud.activity_id, source: "api", fraudulent: true, event_at: daysAgo(20), known_at: daysAgo(15) },
  ]);
});

test("import: labels that became known after the next activity of the history are not counted before it is scored", async () => {
  const tenant = await newTenant();
  await importAll(tenant, [paymentOf(daysAgo(20), { fraudulent: true, known_at: daysAgo(10) })]);
  await scoreHistory(tenant);
  await importAll(tenant, [paymentOf(daysAgo(15)), paymentOf(daysAgo(5))]);
  const apply = () => applyLabels({ database: service.current.database, clock }, tenant.tenantId);
  expect((await tenant.call("POST", "/imports/start")).json.data).toMatchObject({ waiting: 2, is_running: true });
  expect(await apply()).toEqual({ outcomes: 0, labels: 0 });
  await scoreHistory(tenant);
  const text = "select applied_y from labels where tenant_id = $1";
  expect(await service.current.database.query(statement(text, [tenant.tenantId]))).toEqual([{ applied_y: 1 }]);
});

test("import: an activity that is sent again is stored once, and labelled if it is now known as a fraud", async () => {
  const tenant = await newTenant();
  const [first, second, third] = [paymentOf(daysAgo(9)), paymentOf(daysAgo(8)), paymentOf(daysAgo(7))];
  const live: Activity = { ...paymentOf(clock.now()) };
  await sendScored(tenant, [live]);
  expect(await importAll(tenant, [first, second, first, live])).toEqual({ ...noneStored, accepted: 2, duplicates: 2 });
  const known = { fraudulent: true, known_at: daysAgo(3) };
  expect(await importAll(tenant, [{ ...first, ...known }, third])).toEqual({ ...noneStored, accepted: 1, duplicates: 1 });
  expect(await scoreHistory(tenant)).toBe(3);
  expect(await importAll(tenant, [first, { ...second, ...known }])).toEqual({ ...noneStored, duplicates: 2 });
  expect(await scoreHistory(tenant)).toBe(0);
  expect(await countRows(tenant, "activities")).toBe(4);
  const labels = await listed(tenant);
  expect(labels.map(({ activity_id }) => activity_id).toSorted()).toEqual([first.activity_id, second.activity_id].toSorted());
});

test("import: a different activity under a known id is not stored, and is counted", async () => {
  const tenant = await newTenant();
  const first = paymentOf(daysAgo(9));
  const other = { ...first, amount: 21, fraudulent: true };
  expect(await importAll(tenant, [first, other])).toEqual({ ...noneStored, accepted: 1, duplicates: 1, reused: 1 });
  expect(await importAll(tenant, [other, first])).toEqual({ ...noneStored, duplicates: 2, reused: 1 });
  await scoreHistory(tenant);
  expect(await importAll(tenant, [other])).toEqual({ ...noneStored, duplicates: 1, reused: 1 });
  expect(await listed(tenant)).toEqual([]);
});

test("import: activity older than the tenant's retention is counted, but not stored", async () => {
  const tenant = await newTenant();
  const keptFrom = async () => (await statusOf(tenant)).kept_from;
  expect(await keptFrom()).toBe(`${daysAgo(89).slice(0, 10)}T00:00:00.000Z`);
  expect((await tenant.call("PUT", "/tenants", { body: { retention_days: 10 } })).status).toBe(200);
  expect(await keptFrom()).toBe(`${daysAgo(9).slice(0, 10)}T00:00:00.000Z`);
  expect(await importAll(tenant, [paymentOf(daysAgo(10)), paymentOf(daysAgo(9))])).toMatchObject({ accepted: 1, too_old: 1 });
  expect(await countRows(tenant, "activity_ids")).toBe(1);
});

test.each([
  ["in the future", { occurred_at: "2100-01-01T00:00:00Z" }, "activities[1].occurred_at"],
  ["of a type that cannot be a fraud", { type: "page_view", fraudulent: true }, "activities[1].fraudulent"],
  ["known before it happened", { fraudulent: true, known_at: "2026-01-01T00:00:00Z" }, "activities[1].known_at"],
  ["known in the future", { fraudulent: true, known_at: "2100-01-01T00:00:00Z" }, "activities[1].known_at"],
  ["with an unknown member", { imported: true }, "activities[1].imported"],
])("POST imports 422: an activity %s rejects the whole batch", async (_name, more, field) => {
  const tenant = await newTenant();
  const activities = [paymentOf(daysAgo(2)), { ...paymentOf(daysAgo(2)), ...more }];
  const answer = await tenant.call("POST", "/imports", { body: { activities } });
  expectProblem(answer, 422, "validation-error");
  expect(answer.json.errors).toMatchObject([{ field }]);
  expect(await countRows(tenant, "history")).toBe(0);
});

test("import: a client that may only send activity cannot mark it as history", async () => {
  const tenant = await newTenant();
  const token = await tenant.mint(["create:activities", "create:labels", "manage:models", "update:tenant"]);
  const past = paymentOf(daysAgo(2));
  expectProblem(await tenant.call("POST", "/imports", { token, body: { activities: [past] } }), 403, "access-denied");
  for (const path of ["/imports/start", "/imports"])
    expectProblem(await tenant.call(path === "/imports" ? "GET" : "POST", path, { token }), 403, "access-denied");
  for (const mark of [
    { imported: true },
    { isImported: true },
    { is_history: true },
    { fraudulent: false },
    { known_at: null },
  ]) {
    const body = { activities: [{ ...past, ...mark }] };
    expectProblem(await tenant.call("POST", "/activities", { token, body }), 422, "validation-error");
  }
  // An attribute with such a name has no effect. Old activity that is sent live is not history either.
  const report = { ...past, type: "fraud_report", activity_id: randomUUID(), attributes: { imported: true } };
  await sendScored(tenant, [report]);
  expect(await tenant.list()).toHaveLength(1);
  const rows = await service.current.database.query<{ imported: string | null }>(
    statement("select document::jsonb ->> 'imported' as imported from activities where tenant_id = $1", [tenant.tenantId]),
  );
  expect(rows).toEqual([{ imported: null }]);
  expect(await countRows(tenant, "history")).toBe(0);
});

test("import: history does not change what the tenant's servers and pages are believed to send today", async () => {
  const tenant = await newTenant();
  const text = "select told, tied_sessions, heard_sessions, browser_at, campaigns from engine_turns where tenant_id = $1";
  const turn = () => service.current.database.query(statement(text, [tenant.tenantId]));
  const before = await turn();
  await importAll(tenant, [
    ...attack(4),
    ...Array.from({ length: 30 }, (_, index) => loginOf(daysAgo(4, index), { session_id: `s-${index}` })),
  ]);
  await scoreHistory(tenant);
  expect(await turn()).toEqual(before);
});

const large = (at: string) => paymentOf(at, { amount: 2000, device_id: "phone" });

test("import: history is not damped by decisions that were made after it", async () => {
  const tenant = await newTenant();
  await makeRule(tenant, "large_payment", { expression: "event.value >= 1000", sentence: "{event.value} is much.", weight: 4 });
  await sendScored(tenant, [large(clock.now())]);
  const [opened] = await tenant.list();
  const closing = { status: "CLOSED", case_version: opened?.case_version, disposition: "FALSE_POSITIVE" };
  expect((await tenant.put(opened?.case_id ?? "", closing)).status).toBe(200);
  const [live, past] = [large(clock.now()), large(daysAgo(2))];
  await sendScored(tenant, [live]);
  await importAll(tenant, [past]);
  await scoreHistory(tenant);
  const decided = await decidedOf(tenant);
  expect([live, past].map(({ activity_id: id }) => decided.get(id)?.score)).toEqual([1, 4]);
});

test("import: an erasure also removes the account's waiting history, even if nothing else names the account", async () => {
  const tenant = await newTenant();
  await importAll(tenant, [paymentOf(daysAgo(2)), paymentOf(daysAgo(2), { website_account_id: "bob" })]);
  expect((await tenant.call("DELETE", "/enduseraccounts/ann")).status).toBe(204);
  expectProblem(await tenant.call("DELETE", "/enduseraccounts/ann"), 404, "item-not-found");
  expect(await scoreHistory(tenant)).toBe(1);
  expectProblem(await tenant.call("GET", "/enduseraccounts/ann"), 404, "item-not-found");
});

test("import: a pass of the engine also scores live activity, however much history is waiting", async () => {
  const tenant = await newTenant();
  const past = [3, 4, 5].flatMap((day) => Array.from({ length: 200 }, (_, index) => paymentOf(daysAgo(day, index))));
  await importAll(tenant, past);
  expect((await tenant.call("POST", "/imports/start")).status).toBe(202);
  const live = paymentOf(clock.now());
  const { database } = service.current;
  await database.transaction((tx) => makePartition(tx, clock.now().slice(0, 10)));
  expect((await tenant.call("POST", "/activities", { body: { activities: [live] } })).status).toBe(202);
  const passes: Pass[] = [];
  const engine = new Engine({ detector: newDetector(database), log: openLog("silent"), onPass: (pass) => passes.push(pass) });
  engine.start();
  await eventually(async () => expect(await statusOf(tenant)).toMatchObject({ waiting: 0, is_running: false }));
  await engine.stop();
  expect(passes.map(({ scored }) => scored).filter((scored) => scored > 0)).toEqual([201, 200, 200]);
  expect((await decidedOf(tenant)).has(live.activity_id)).toBe(true);
});

test("import: an activity that cannot be scored is set aside, and the others are scored", async () => {
  const tenant = await newTenant();
  const past = Array.from({ length: 40 }, (_, index) => paymentOf(daysAgo(2, index)));
  await importAll(tenant, past);
  const text = `update history set activity = replace(activity, '"occurred_at":"2', '"occurred_at":"x')
    where tenant_id = $1 and activity like '%' || $2 || '%'`;
  await service.current.database.query(statement(text, [tenant.tenantId, past[20]?.activity_id]));
  expect(await scoreHistory(tenant)).toBe(39);
  expect(await countRows(tenant, "unscorable")).toBe(1);
});

test("GET imports report 200: counts known frauds, those with a score of 3 or more, and one case a day for each account", async () => {
  const tenant = await newTenant();
  const frauds = [
    paymentOf(daysAgo(6), { fraudulent: true, known_at: daysAgo(3) }),
    loginOf(daysAgo(6, 5), { fraudulent: true }),
  ];
  await importAll(tenant, [...frauds, ...attack(5), paymentOf(daysAgo(4), { type: "transfer" })]);
  await scoreHistory(tenant);
  const set = "update activities set score = 4 where tenant_id = $1 and activity_id = $2";
  await service.current.database.query(statement(set, [tenant.tenantId, frauds[0]?.activity_id]));
  const text = `select count(distinct (received_at::date, website_account_id)) as cases
    from activities where tenant_id = $1 and score >= 3`;
  const [counted] = await service.current.database.query<{ cases: number }>(statement(text, [tenant.tenantId]));
  const report = (await tenant.call("GET", "/imports/report")).json.data;
  expect(report).toEqual({
    activities: 64,
    cases: counted?.cases,
    moments: { entry: { frauds: 1, found: 0 }, signup: { frauds: 0, found: 0 }, value: { frauds: 1, found: 1 } },
  });
  const long = `/imports/report?from=${daysAgo(40)}&until=${daysAgo(1)}`;
  expectProblem(await tenant.call("GET", long), 400, "bad-request");
});
