import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { insertOutcomes } from "../src/db/outcomes.ts";
import type { BacktestListItem, NewBacktest } from "../src/domain/backtest.ts";
import { ended, holdBacktest, readBacktest, startBacktest, tryDraft, useRunner } from "./backtest-lab.ts";
import { dayBefore, insertDecided, noonBefore, selectAll, type NamedDecision } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();
useRunner(service);
const newTenant = () => TestTenant.create(service.current);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const expression = "device.accounts_1h >= 8";

function accounts(count: number): NamedDecision {
  return { v: 1, l: 0, f: { "event.type": "page_view", "device.accounts_1h": count } };
}

test("POST backtests 202: the backtest is queued, runs, and reports what the draft would have hit", async () => {
  const tenant = await newTenant();
  await insertDecided(tenant, [
    {
      received_at: noonBefore(1),
      website_account_id: "a",
      score: 3,
      decision: { ...accounts(8), r: { first: 2 }, s: { third: 1 } },
    },
    { received_at: noonBefore(1), website_account_id: "a", decision: { ...accounts(9), r: { first: 1, second: 1 } } },
    { received_at: noonBefore(2), device_id: "d", score: 5, decision: accounts(64) },
    { received_at: noonBefore(2), website_account_id: "b", decision: accounts(7) },
    { received_at: noonBefore(2), website_account_id: "c" },
    { received_at: noonBefore(3), website_account_id: "too-old", decision: accounts(9) },
    { received_at: new Date(Date.now() + 600_000).toISOString(), website_account_id: "too-new", decision: accounts(9) },
  ]);
  const other = await newTenant();
  await insertDecided(other, [{ received_at: noonBefore(1), website_account_id: "foreign", decision: accounts(9) }]);
  const made = await startBacktest(tenant, { expression, days: 3, label: "Stricter" });
  const asked = { backtest_id: made.backtest_id, expression, label: "Stricter", about: "account", days: 3, from: dayBefore(2) };
  const stamps = { until: time, created_at: time, created_by: tenant.clientId };
  expect(made).toEqual({ ...asked, ...stamps, status: "QUEUED", progress: { done: 0, total: 0, percent: 0 } });
  const done = await ended(tenant, made.backtest_id);
  const progress = { done: 5, total: 5, percent: 100 };
  expect(done).toEqual({ ...asked, ...stamps, status: "DONE", progress, finished_at: time, result: expect.anything() });
  expect(done.result).toMatchObject({
    decisions: 5,
    hits: 3,
    hits_per_day: [
      { day: dayBefore(2), hits: 1, decisions: 3 },
      { day: dayBefore(1), hits: 2, decisions: 2 },
      { day: dayBefore(0), hits: 0, decisions: 0 },
    ],
    accounts: 1,
    overlap: [
      { rule_id: "first", hits: 2 },
      { rule_id: "second", hits: 1 },
    ],
    caught_already: 2 / 3,
    precision: { confirmed: 0, false_positives: 0, inconclusive: 0, precision: null },
  });
  const { backtests } = (await tenant.call("GET", "/backtests")).json.data as { backtests: BacktestListItem[] };
  const { result: _result, ...listed } = done;
  expect(backtests).toEqual([listed]);
});

const values = (count: number) => [
  { name: "device.accounts_1h", plain_name: "Accounts on the device in 1 hour", value: count },
  { name: "event.attributes", plain_name: "Attributes", value: '{"amount":12,"plan":"x"}' },
];

test("backtest: examples show the latest hit of each subject, with the values that the draft reads", async () => {
  const tenant = await newTenant();
  const shared = { type: "payment", occurred_at: noonBefore(2), attributes: { amount: 12, plan: "x" } };
  await insertDecided(tenant, [
    { ...shared, activity_id: "one", received_at: noonBefore(1), website_account_id: "a", score: 4, decision: accounts(9) },
    { ...shared, activity_id: "older", received_at: noonBefore(2), website_account_id: "a", decision: accounts(10) },
    { ...shared, activity_id: "two", received_at: noonBefore(2), session_id: "s", decision: accounts(11) },
    { ...shared, activity_id: "not", received_at: noonBefore(2), decision: accounts(9), attributes: { amount: 1 } },
  ]);
  const { examples, hits } = await tryDraft(tenant, { expression: `${expression} && event.attributes.amount > 10` });
  expect(hits).toBe(3);
  const example = { type: "payment", occurred_at: noonBefore(2) };
  expect(examples).toEqual([
    { ...example, activity_id: "one", website_account_id: "a", score: 4, values: values(9) },
    { ...example, activity_id: "two", score: 1, values: values(11) },
  ]);
});

test("backtest: an erased account no longer appears in any result", async () => {
  const tenant = await newTenant();
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "erased-soon" } });
  await insertDecided(tenant, [
    { received_at: noonBefore(1), website_account_id: "erased-soon", decision: accounts(9) },
    { received_at: noonBefore(2), website_account_id: "other", decision: accounts(9) },
  ]);
  const { backtest_id: id } = await startBacktest(tenant, { expression });
  expect((await ended(tenant, id)).result?.examples).toHaveLength(2);
  expect((await tenant.call("DELETE", "/enduseraccounts/erased-soon")).status).toBe(204);
  const { result } = await readBacktest(tenant, id);
  expect(result).toMatchObject({ hits: 2, examples: [{ website_account_id: "other" }] });
  const rows = await selectAll(service.current.database, "select * from backtests where tenant_id = $1", [tenant.tenantId]);
  expect(JSON.stringify(rows)).not.toContain("erased-soon");
});

test("backtest: thousands of decisions received in the same instant are each counted once", async () => {
  const tenant = await newTenant();
  const many = Array.from({ length: 4_500 }, (_, index) => ({
    received_at: noonBefore(1),
    website_account_id: `account-${index}`,
    decision: accounts(index < 4_000 ? 9 : 1),
  }));
  await insertDecided(tenant, many);
  const result = await tryDraft(tenant, { expression, days: 2 });
  expect(result).toMatchObject({ decisions: 4_500, hits: 4_000, accounts: 4_000 });
  expect(result.examples).toHaveLength(10);
});

const about: [about: NewBacktest["about"], subject: string][] = [
  ["account", "account:a"],
  ["device", "device:d"],
  ["address", "ip:192.0.2.7"],
  ["network", "network:AS64496"],
];

test.each(about)(
  "backtest about %s: precision uses the outcomes recorded for that subject after its first hit",
  async (whose, subject) => {
    const tenant = await newTenant();
    const hit = {
      type: "login_failed",
      website_account_id: "a",
      device_id: "d",
      ip: "192.0.2.7",
      decision: { f: { ...accounts(9).f, "event.asn": 64496 } },
    };
    await insertDecided(tenant, [
      { ...hit, received_at: noonBefore(1) },
      { ...hit, received_at: noonBefore(3) },
    ]);
    const said = (disposition: string, at: string, whom = subject) => ({
      case_id: randomUUID(),
      case_version: 2,
      subject: whom,
      website_account_id: "a",
      disposition,
      decided_at: at,
      decided_by: "x",
    });
    await service.current.database.transaction((tx) =>
      insertOutcomes(tx, tenant.tenantId, [
        said("FALSE_POSITIVE", noonBefore(4)),
        said("CONFIRMED_FRAUD", noonBefore(2)),
        said("FALSE_POSITIVE", noonBefore(0), "session:other"),
      ]),
    );
    const { precision } = await tryDraft(tenant, { expression, ...(whose && { about: whose }) });
    expect(precision).toEqual({ confirmed: 1, false_positives: 0, inconclusive: 0, precision: 1 });
  },
);

test("backtest: the days start at the given date, and future days are left out", async () => {
  const tenant = await newTenant();
  await insertDecided(
    tenant,
    [1, 2, 3, 4].map((days) => ({ received_at: noonBefore(days), decision: accounts(9) })),
  );
  const past = await tryDraft(tenant, { expression, days: 2, from: dayBefore(3) });
  expect(past.hits_per_day).toEqual([3, 2].map((days) => ({ day: dayBefore(days), hits: 1, decisions: 1 })));
  const open = await tryDraft(tenant, { expression, days: 90, from: dayBefore(1) });
  expect(open.hits_per_day.map((each) => each.day)).toEqual([dayBefore(1), dayBefore(0)]);
});

const refused: [name: string, body: Record<string, unknown>, field: string][] = [
  ["no expression", {}, "expression"],
  ["a misspelled field", { expression: "device.acounts_1h > 1" }, "expression"],
  ["0 days", { expression, days: 0 }, "days"],
  ["91 days", { expression, days: 91 }, "days"],
  ["a first day that does not exist", { expression, from: "2026-02-30" }, "from"],
  ["a first day in the year 0", { expression, from: "0000-01-01" }, "from"],
  ["a time instead of a day", { expression, from: "2026-02-03T00:00:00.000Z" }, "from"],
  ["an unknown subject", { expression, about: "everybody" }, "about"],
];

test.each(refused)("POST backtests 422: %s, and nothing is queued", async (_name, body, field) => {
  const tenant = await newTenant();
  const { errors } = expectProblem(await tenant.call("POST", "/backtests", { body }), 422, "validation-error");
  expect(errors?.map((each) => each.field)).toEqual([field]);
  expect((await tenant.call("GET", "/backtests")).json.data).toEqual({ backtests: [] });
});

test("POST backtests 429: three may be queued or running; when one ends, another is accepted", async () => {
  const tenant = await newTenant();
  const held = [];
  for (const _each of [1, 2, 3]) held.push(await holdBacktest(tenant, { expression }));
  const answers = await Promise.all([1, 2, 3, 4].map(() => tenant.call("POST", "/backtests", { body: { expression } })));
  for (const answer of answers) {
    expectProblem(answer, 429, "rate-limited");
    expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
  }
  expect((await tenant.call("POST", `/backtests/${held[1]?.backtest_id}/cancel`)).json.data).toMatchObject({
    status: "CANCELLED",
  });
  const { backtest_id: id } = await startBacktest(tenant, { expression });
  expect((await ended(tenant, id)).status).toBe("DONE");
  const { backtests } = (await tenant.call("GET", "/backtests")).json.data as { backtests: BacktestListItem[] };
  const ids = held.map((each) => each.backtest_id);
  expect(backtests.map((each) => each.backtest_id)).toEqual([id, ids[2], ids[1], ids[0]]);
});

test("GET and cancel backtest 404: a backtest that does not exist", async () => {
  const tenant = await newTenant();
  for (const id of [randomUUID(), "x", "x".repeat(600)]) {
    const answers = [await tenant.call("GET", `/backtests/${id}`), await tenant.call("POST", `/backtests/${id}/cancel`)];
    for (const answer of answers) {
      expect(expectProblem(answer, 404, "item-not-found").detail).toBe(`Backtest not found: ${id.slice(0, 100)}`);
    }
  }
});
