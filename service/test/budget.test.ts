import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { BudgetCases } from "../src/api/budget-cases.ts";
import type { StoredThresholds } from "../src/domain/rule.ts";
import { insertDecided, noonBefore, type Decided } from "./decided.ts";
import { TestTenant, expectProblem, useOwnDatabase, useService } from "./harness.ts";
import { insertPaid, labelAs, paymentsOf } from "./training-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("budget"), roles: new Set(["api"]) });

test("PUT thresholds 200: a budget gives the thresholds of the last 28 days, counts a subject once a day, and is shown until it is replaced", async () => {
  const tenant = await TestTenant.create(service.current);
  const decided = [1, 2].flatMap((day) =>
    Array.from({ length: 20 }, (_, index) => ({
      received_at: noonBefore(day),
      website_account_id: `a-${index % 10}`,
      decision: { v: 1, l: index - 5, f: {} },
    })),
  );
  await insertDecided(tenant, decided);
  const put = (body: unknown) => tenant.call("PUT", "/thresholds", { body });
  const answer = await put({ cases_per_day: 4 });
  expect(answer.status, answer.text).toBe(200);
  // The ten accounts have 5 to 14 as their highest.
  expect(answer.json.data).toMatchObject({ score_3: 11, cases_per_day: 4, expected_cases_per_day: 4, thresholds_version: 2 });
  expect((await tenant.call("GET", "/thresholds")).json.data).toMatchObject({ score_3: 11, cases_per_day: 4 });
  expectProblem(await put({ cases_per_day: 5, thresholds_version: 1 }), 409, "item-version-conflict");
  const own = { score_2: 1, score_3: 2, score_4: 3, score_5: 4 };
  expect((await put({ ...own, thresholds_version: 2 })).status).toBe(200);
  expect((await tenant.call("GET", "/thresholds")).json.data).not.toHaveProperty("cases_per_day");
  const { errors } = expectProblem(await put({ cases_per_day: 4, score_2: 1 }), 422, "validation-error");
  expect(errors?.map(({ field }) => field)).toEqual(["score_2"]);
});

test("PUT thresholds 422: without activity a budget cannot be used, and nothing is changed", async () => {
  const tenant = await TestTenant.create(service.current);
  const { errors } = expectProblem(
    await tenant.call("PUT", "/thresholds", { body: { cases_per_day: 40 } }),
    422,
    "validation-error",
  );
  expect(errors?.map(({ field }) => field)).toEqual(["cases_per_day"]);
  expect((await tenant.call("GET", "/thresholds")).json.data).toMatchObject({ thresholds_version: 1, score_3: 2.5 });
});

test("GET thresholds 200: counts the labels of each score", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertPaid(tenant, paymentsOf({ count: 60, days: 3, fraudShare: 0.6 }));
  const stored: StoredThresholds = (await tenant.call("GET", "/thresholds")).json.data;
  expect(stored).toMatchObject({ labels_by_score: { "1": expect.any(Number) } });
  expect(stored).not.toHaveProperty("frauds_of_100");
});

test("GET thresholds 200: with a number of cases a day it shows what the change would store, and stores nothing; 400 without activity", async () => {
  const tenant = await TestTenant.create(service.current);
  const preview = () => tenant.call("GET", "/thresholds?cases_per_day=2");
  expect(expectProblem(await preview(), 400, "bad-request").detail).toContain("no activity in the last 28 days");
  const decided = [3, 5, 7].map((l) => ({ website_account_id: `a-${l}`, decision: { v: 1, l, f: {} } }));
  await insertDecided(tenant, decided);
  expect((await preview()).json.data).toMatchObject({ score_3: 5, cases_per_day: 2, expected_cases_per_day: 2 });
  const few = await tenant.call("GET", "/thresholds?cases_per_day=0.5");
  expect(few.json.data).toMatchObject({ score_3: 7, cases_per_day: 0.5 });
  for (const text of ["0.05", "1e1", ".5", "1.", "half"])
    expectProblem(await tenant.call("GET", `/thresholds?cases_per_day=${text}`), 400, "bad-request");
  const stored = (await tenant.call("GET", "/thresholds")).json.data;
  expect(stored).toMatchObject({ score_3: 2.5, thresholds_version: 1, labels_by_score: {} });
  expect(stored).not.toHaveProperty("cases_per_day");
  const changed = await tenant.call("PUT", "/thresholds", { body: { cases_per_day: 0.5 } });
  expect(changed.json.data).toMatchObject({ score_3: 7, cases_per_day: 0.5 });
});

test("GET thresholds 200: requests of a minute share one count of the last days", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = new BudgetCases();
  let nowMs = Date.now();
  const now = () => new Date(nowMs).toISOString();
  const find = () => cases.find({ database: service.current.database, now }, tenant.tenantId);
  const add = (l: number) => insertDecided(tenant, [{ website_account_id: `a-${l}`, decision: { v: 1, l, f: {} } }]);
  expect(await find()).toEqual({ cases: [], days: 0 });
  await add(3);
  const [first, ...others] = await Promise.all([find(), find(), find()]);
  expect(first.cases).toEqual([{ log_odds: 3, subjects: 1 }]);
  await add(5);
  nowMs += 59_999;
  for (const other of [...others, await find()]) expect(other).toBe(first);
  nowMs += 1;
  expect((await find()).cases).toEqual([5, 3].map((log_odds) => ({ log_odds, subjects: 1 })));
});

test("PUT thresholds 200: what anybody can send to the collector does not raise the thresholds", async () => {
  const tenant = await TestTenant.create(service.current);
  const takeover = { website_account_id: "a", received_at: noonBefore(1), decision: { v: 1, l: 3, f: {} } };
  const noise = Array.from({ length: 100 }, (_, index): Decided => ({
    origin: "browser",
    device_id: `d-${index}`,
    received_at: noonBefore(1),
    score: 3,
    decision: { v: 1, l: 4, f: {} },
  }));
  await insertDecided(tenant, [takeover, ...noise]);
  const answer = await tenant.call("PUT", "/thresholds", { body: { cases_per_day: 40 } });
  expect(answer.json.data).toMatchObject({ score_3: 3, expected_cases_per_day: 1 });
});

// A failed log-in counts toward an attack from its address.
const failedFrom = (ip: string, log_odds: number, more: Partial<Decided> = {}): Decided => ({
  type: "login_failed",
  website_account_id: `a-${randomUUID()}`,
  received_at: noonBefore(1),
  ip,
  decision: { v: 1, l: log_odds, f: {} },
  ...more,
});

test("PUT thresholds 200: many accounts of one address or one campaign count as one case, and so does a case of several days", async () => {
  const tenant = await TestTenant.create(service.current);
  const slow = { r: { stuffing_slow: 1 } };
  const case_id = randomUUID();
  const repeated = [1, 2, 3].map((day): Decided => {
    const decision = { v: 1, l: 9, f: {} };
    return { type: "payment", website_account_id: "a", received_at: noonBefore(day), score: 5, decision };
  });
  await insertDecided(tenant, [
    ...Array.from({ length: 30 }, () => failedFrom("192.0.2.1", 8)),
    ...Array.from({ length: 30 }, (_, index) =>
      failedFrom(`192.0.2.${index}`, 7, { decision: { v: 1, l: 7, ...slow, f: {} }, received_at: noonBefore(2) }),
    ),
    ...repeated.map((each) => ({ ...each, case_id })),
    // Activity that only repeats a case's evidence does not name the case.
    ...repeated,
  ]);
  const answer = await tenant.call("PUT", "/thresholds", { body: { cases_per_day: 1 } });
  expect(answer.json.data).toMatchObject({ score_3: 7, expected_cases_per_day: 1 });
});

test("PUT thresholds 200: the response says how many cases to expect, even if there are fewer subjects than wanted or the budget is too small", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(
    tenant,
    Array.from({ length: 6 }, (_, index) => ({
      received_at: noonBefore(1),
      website_account_id: `a-${index}`,
      decision: { v: 1, l: 3, f: {} },
    })),
  );
  const put = async (cases_per_day: number) => (await tenant.call("PUT", "/thresholds", { body: { cases_per_day } })).json.data;
  expect(await put(100)).toMatchObject({ score_3: 3, expected_cases_per_day: 6 });
  expect(await put(2)).toMatchObject({ score_3: 3, expected_cases_per_day: 6 });
});

test("PUT thresholds 200: another budget is a new version with an event even if it gives the same thresholds, and a repeat changes nothing", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, [{ received_at: noonBefore(1), website_account_id: "a", decision: { v: 1, l: 3, f: {} } }]);
  const put = async (cases_per_day: number) => {
    const answer = await tenant.call("PUT", "/thresholds", { body: { cases_per_day } });
    const { thresholds_version }: StoredThresholds = answer.json.data;
    return thresholds_version;
  };
  expect([await put(5), await put(5), await put(6)]).toEqual([2, 2, 3]);
  const { events }: { events: { data: unknown }[] } = (await tenant.call("GET", "/events")).json.data;
  expect(events.map(({ data }) => data)).toMatchObject([{ cases_per_day: 5 }, { cases_per_day: 6 }]);
});

test("PUT thresholds: if two budgets are sent at once for the same version, one is a conflict", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, [{ received_at: noonBefore(1), website_account_id: "a", decision: { v: 1, l: 3, f: {} } }]);
  const answers = await Promise.all(
    [5, 6].map((cases_per_day) => tenant.call("PUT", "/thresholds", { body: { cases_per_day, thresholds_version: 1 } })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
});

const paid = (activity_id: string, score: number): Decided => {
  return { activity_id, type: "payment", received_at: noonBefore(1), score, decision: { v: 1, l: score, f: {} } };
};

test("GET thresholds 200: for each score that opens cases, says how many of 100 labelled activities were frauds, by the label that decides", async () => {
  const tenant = await TestTenant.create(service.current);
  const ids = Array.from({ length: 30 }, (_, index) => `p-${index}`);
  await insertDecided(tenant, [...ids.map((id) => paid(id, 4)), ...ids.map((id) => paid(`low-${id}`, 1))]);
  await labelAs(tenant, [
    ...ids.map((activity_id) => ({ activity_id, y: 1 as const })),
    ...ids.slice(12).map((activity_id) => ({ activity_id, y: 0 as const, source: "case" as const, case_id: randomUUID() })),
    ...ids.map((id) => ({ activity_id: `low-${id}`, y: 1 as const })),
  ]);
  const { frauds_of_100 }: StoredThresholds = (await tenant.call("GET", "/thresholds")).json.data;
  expect(frauds_of_100).toEqual({ "4": 40 });
});
