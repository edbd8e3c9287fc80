import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { saveSessions } from "../src/db/states.ts";
import type { ScoredActivity, Session } from "../src/domain/session.ts";
import { insertDecided } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();

type Activities = { activities: ScoredActivity[]; next_cursor: string | null };
type Sessions = { sessions: Session[]; next_cursor: string | null };

async function read<T>(tenant: TestTenant, path: string): Promise<T> {
  const answer = await tenant.call("GET", path);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const hostile = `<img src=x onerror=alert(1)>"'\u2028`;

// A session as the engine stores it.
async function makeSession(
  tenant: TestTenant,
  id: string,
  more: { account?: string; startedMinutes: number; lastMinutes: number },
) {
  const facts = {
    events: 3,
    pages: 2,
    accounts: [1, 2],
    isWebdriver: true,
    client: { locale: "de-DE", screen: "1920x1080", sdk: hostile },
  };
  const stored = {
    session_id: id,
    website_account_id: more.account ?? null,
    device_id: "device-1",
    started_at: minutesAgo(more.startedMinutes),
    last_at: minutesAgo(more.lastMinutes),
    facts: JSON.stringify(facts),
  };
  await tenant.service.database.transaction((tx) => saveSessions(tx, tenant.tenantId, [stored]));
}

let tenant: TestTenant;
beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
});

test("GET activities 200: shows a payment's members as they were sent, and leaves out members that were not sent", async () => {
  const own = await TestTenant.create(service.current);
  const payment = {
    amount: 12.5,
    currency: "EUR",
    payee_id: "shop-7",
    order_id: "order-1",
    instrument: { type: "card", bin: "411111", last4: "1111", fingerprint: "fp_1" },
    status: "declined",
  };
  const base = { type: "payment", occurred_at: new Date().toISOString(), website_account_id: "user-1" };
  const activities = [
    { ...base, ...payment, activity_id: "with" },
    { ...base, activity_id: "without", attributes: { amount: 3 } },
  ];
  expect((await own.call("POST", "/activities", { body: { activities } })).status).toBe(202);
  await expect.poll(async () => (await read<Activities>(own, "/activities")).activities.length, { timeout: 20_000 }).toBe(2);
  const shown = (await read<Activities>(own, "/activities")).activities;
  expect(shown.find((each) => each.activity_id === "with")).toMatchObject(payment);
  const without = shown.find((each) => each.activity_id === "without") ?? {};
  expect(Object.keys(payment).filter((name) => name in without)).toEqual([]);
});

test("GET activities 200: activities of one request with the same time are listed in the order in which they were sent", async () => {
  const own = await TestTenant.create(service.current);
  const common = { occurred_at: minutesAgo(1), website_account_id: "user-1", session_id: "s-1" };
  const ids = Array.from({ length: 12 }, (_, n) => `a-${n}`);
  const activities = ids.map((activity_id) => ({ activity_id, type: "page_view", ...common }));
  expect((await own.call("POST", "/activities", { body: { activities } })).status).toBe(202);
  const list = async (path: string) => (await read<Activities>(own, path)).activities.map((each) => each.activity_id);
  await expect.poll(async () => (await list("/activities")).length, { timeout: 20_000 }).toBe(12);
  expect(await list("/activities")).toEqual(ids.toReversed());
  expect(await list("/enduseraccounts/user-1/activities")).toEqual(ids.toReversed());
  expect(await list("/sessions/s-1/activities")).toEqual(ids);
});

test("GET session 200: returns the state, times, device, addresses and what the browser says about itself", async () => {
  const id = `s/${randomUUID()} ${hostile}`;
  await makeSession(tenant, id, { account: "user-s", startedMinutes: 50, lastMinutes: 10 });
  const at = minutesAgo(40);
  await insertDecided(tenant, [
    { session_id: id, received_at: at, ip: "192.0.2.1", user_agent: hostile },
    { session_id: id, received_at: at, ip: "192.0.2.2", user_agent: hostile },
    { session_id: id, received_at: at },
  ]);
  const session = await read<Session>(tenant, `/sessions/${encodeURIComponent(id)}`);
  expect(session).toEqual({
    session_id: id,
    session_status: "ACTIVE",
    website_account_id: "user-s",
    device_id: "device-1",
    started_at: expect.any(String),
    last_activity_at: expect.any(String),
    ended_at: null,
    activities: 3,
    page_views: 2,
    accounts: 2,
    is_webdriver: true,
    ips: ["192.0.2.1", "192.0.2.2"],
    user_agent: hostile,
    client: { locale: "de-DE", screen: "1920x1080", sdk: hostile },
  });
});

test("GET session 200: after half an hour without an event it is finished, as of its last event", async () => {
  const id = randomUUID();
  await makeSession(tenant, id, { startedMinutes: 90, lastMinutes: 31 });
  const session = await read<Session>(tenant, `/sessions/${id}`);
  expect(session).toMatchObject({ session_status: "FINISHED", ended_at: session.last_activity_at, ips: [] });
  expect(session).not.toHaveProperty("website_account_id");
});

test("GET session activities 200: ordered by their own time, though received together, with score, page and decision", async () => {
  const [id, case_id, prediction_id] = [randomUUID(), randomUUID(), randomUUID()];
  await makeSession(tenant, id, { startedMinutes: 20, lastMinutes: 5 });
  const received_at = minutesAgo(5);
  const steps = [12, 3, 15, 9, 6];
  await insertDecided(
    tenant,
    steps.map((minutes) => ({
      activity_id: `at-${minutes}`,
      session_id: id,
      received_at,
      occurred_at: minutesAgo(5 + minutes),
      origin: "browser" as const,
      type: "custom:add_to_cart",
      ...(minutes === 9 && {
        score: 4,
        prediction_id,
        case_id,
        decision: { l: 4.25, r: { own_rule: 2 } },
        attributes: { amount: 12.5, note: hostile, is_new: true },
        browser: { page_url: "https://shop.example/<script>", page_title: hostile, signs: ["wrong-hash"] },
      }),
    })),
  );
  const path = `/sessions/${id}/activities`;
  const { activities } = await read<Activities>(tenant, path);
  expect(activities.map((each) => each.activity_id)).toEqual(["at-15", "at-12", "at-9", "at-6", "at-3"]);
  expect(activities[2]).toEqual({
    activity_id: "at-9",
    type: "custom:add_to_cart",
    origin: "browser",
    source: "page",
    occurred_at: expect.any(String),
    received_at,
    session_id: id,
    page_url: "https://shop.example/<script>",
    page_title: hostile,
    signs: ["wrong-hash"],
    attributes: { amount: 12.5, note: hostile, is_new: true },
    score: 4,
    log_odds: 4.25,
    rules: ["own_rule"],
    prediction_id,
    case_id,
    cases: [{ case_id, score: 4 }],
  });
  const first = await read<Activities>(tenant, `${path}?limit=2`);
  const second = await read<Activities>(tenant, `${path}?limit=2&cursor=${first.next_cursor}`);
  const third = await read<Activities>(tenant, `${path}?limit=2&cursor=${second.next_cursor}`);
  expect([...first.activities, ...second.activities, ...third.activities]).toEqual(activities);
  expect(third.next_cursor).toBeNull();
});

test("GET account activities 200: newest first, over several days, each once, page by page", async () => {
  const account = `many-${randomUUID()}`;
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: account } });
  const same = minutesAgo(3);
  const decided = Array.from({ length: 25 }, (_, index) => ({
    activity_id: `${account}-${index}`,
    website_account_id: account,
    received_at: index < 10 ? same : minutesAgo(index * 400),
  }));
  await insertDecided(tenant, [...decided, { website_account_id: `${account}-other` }]);
  const path = `/enduseraccounts/${account}/activities`;
  const whole = await read<Activities>(tenant, path);
  expect(whole.activities).toHaveLength(25);
  const times = whole.activities.map((each) => each.received_at);
  expect(times).toEqual(times.toSorted().toReversed());
  const paged: ScoredActivity[] = [];
  for (let next: string | null = ""; next !== null;) {
    const page: Activities = await read(tenant, `${path}?limit=4${next === "" ? "" : `&cursor=${next}`}`);
    paged.push(...page.activities);
    next = page.next_cursor;
  }
  expect(paged).toEqual(whole.activities);
});

test("GET case sessions and activities 200: returns those of its occurrences, and none after an erasure", async () => {
  const account = `victim-${randomUUID()}`;
  const session_id = `session-${randomUUID()}`;
  await tenant.report(account, { session_id, device_id: "device-9", ip: "198.51.100.7" });
  const { case_id } = await tenant.openCase(account);
  // The first report opens the case, so the second one may still be waiting.
  const count = async () => (await read<Activities>(tenant, `/cases/${case_id}/activities`)).activities.length;
  await expect.poll(count, { timeout: 15_000 }).toBe(2);
  const { sessions } = await read<Sessions>(tenant, `/cases/${case_id}/sessions`);
  expect(sessions).toMatchObject([{ session_id, session_status: "ACTIVE", website_account_id: account, ips: ["198.51.100.7"] }]);
  const { activities } = await read<Activities>(tenant, `/cases/${case_id}/activities`);
  const [known] = Object.values((await tenant.read(case_id)).fraud_occurrences);
  expect(activities.at(-1)).toMatchObject({ session_id, score: 5, case_id, prediction_id: known?.prediction_id });
  const ofAccount = `/enduseraccounts/${account}`;
  expect((await read<Sessions>(tenant, `${ofAccount}/sessions`)).sessions).toEqual(sessions);
  expect((await read<Activities>(tenant, `${ofAccount}/activities`)).activities).toEqual(activities);
  expect((await tenant.call("DELETE", ofAccount)).status).toBe(204);
  expect((await read<Sessions>(tenant, `/cases/${case_id}/sessions`)).sessions).toEqual([]);
  expect((await read<Activities>(tenant, `/cases/${case_id}/activities`)).activities).toEqual([]);
  for (const path of [
    `/sessions/${session_id}`,
    `/sessions/${session_id}/activities`,
    `${ofAccount}/sessions`,
    `${ofAccount}/activities`,
  ]) {
    expectProblem(await tenant.call("GET", path), 404, "item-not-found");
  }
});

test("GET case activities 200: evidence=true returns only the activity behind the occurrences, however much followed", async () => {
  const own = await TestTenant.create(service.current);
  const { case_id } = await own.openCase("ann");
  const [known] = Object.values((await own.read(case_id)).fraud_occurrences);
  await insertDecided(
    own,
    Array.from({ length: 5 }, () => ({ website_account_id: "ann", type: "login_failed" })),
  );
  const path = `/cases/${case_id}/activities`;
  expect((await read<Activities>(own, path)).activities).toHaveLength(6);
  const { activities, next_cursor } = await read<Activities>(own, `${path}?evidence=true`);
  expect(activities.map((each) => each.prediction_id)).toEqual([known?.prediction_id]);
  expect(next_cursor).toBeNull();
  const cursor = (await read<Activities>(own, `${path}?limit=2`)).next_cursor;
  expectProblem(await own.call("GET", `${path}?evidence=true&cursor=${cursor}`), 400, "bad-request");
  expectProblem(await own.call("GET", `${path}?evidence=1`), 400, "bad-request");
  const other = await TestTenant.create(service.current);
  expectProblem(await other.call("GET", `${path}?evidence=true`), 404, "item-not-found");
});

test("GET case activities 200: for a case without an account, returns those that made its occurrences", async () => {
  const own = await TestTenant.create(service.current);
  const device_id = randomUUID();
  const id = await own.report(undefined, { device_id });
  await own.report("someone", { device_id });
  const [listed] = await expect
    .poll(() => own.list("website_account_id=UNKNOWN"), { timeout: 15_000 })
    .toHaveLength(1)
    .then(() => own.list("website_account_id=UNKNOWN"));
  const { activities } = await read<Activities>(own, `/cases/${listed?.case_id}/activities`);
  expect(activities.map((each) => each.activity_id)).toEqual([id]);
  expect((await read<Sessions>(own, `/cases/${listed?.case_id}/sessions`)).sessions).toEqual([]);
});

test("GET session 404: another tenant's session and its events are not found", async () => {
  const other = await TestTenant.create(service.current);
  const id = randomUUID();
  await makeSession(tenant, id, { startedMinutes: 2, lastMinutes: 1 });
  for (const path of [`/sessions/${id}`, `/sessions/${id}/activities`]) {
    expect((await tenant.call("GET", path)).status).toBe(200);
    expectProblem(await other.call("GET", path), 404, "item-not-found");
  }
});

test("GET activities 200: lists the latest activity of servers and browsers, newest first, page by page, and of no other tenant", async () => {
  const [own, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  await insertDecided(other, [{ activity_id: "foreign" }]);
  await insertDecided(
    own,
    [3, 1, 4, 2].map((minutes) => ({
      activity_id: `at-${minutes}`,
      received_at: minutesAgo(minutes * 1000),
      origin: minutes % 2 === 0 ? ("browser" as const) : ("server" as const),
    })),
  );
  const { activities } = await read<Activities>(own, "/activities");
  expect(activities.map((each) => each.activity_id)).toEqual(["at-1", "at-2", "at-3", "at-4"]);
  expect(activities.map((each) => each.origin)).toEqual(["server", "browser", "server", "browser"]);
  const first = await read<Activities>(own, "/activities?limit=3");
  const second = await read<Activities>(own, `/activities?limit=3&cursor=${first.next_cursor}`);
  expect([...first.activities, ...second.activities]).toEqual(activities);
  expect(second.next_cursor).toBeNull();
});
