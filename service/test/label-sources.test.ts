import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { insertActivities, newActivity } from "../src/db/inbox.ts";
import type { Activity, RecordedActivity } from "../src/domain/activity.ts";
import type { Case } from "../src/domain/case.ts";
import { makeRule } from "./decided.ts";
import { expectProblem, TestTenant } from "./harness.ts";
import { apply, label, listed, paymentOf, rowsOf, scoreAll, sendScored } from "./labels-lab.ts";
import { useOwnService } from "./process.ts";

const service = useOwnService({ roles: new Set(["api"]) });
const hourMs = 60 * 60 * 1000;
const ago = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString();

// A tenant whose rule opens a case for every payment of 1,000 or more.
async function newTenant(): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  const rule = { expression: "event.value >= 1000", sentence: "{event.value} is much.", weight: 4 };
  await makeRule(tenant, "large_payment", rule);
  return tenant;
}

async function caseOf(tenant: TestTenant, account: string): Promise<Case> {
  const [found] = await tenant.list(`website_account_id=${account}`);
  return tenant.read(found?.case_id ?? "");
}

async function decide(tenant: TestTenant, { case_id, case_version }: Case, disposition?: string): Promise<Case> {
  const closing = disposition === undefined ? { status: "OPEN" } : { status: "CLOSED", disposition };
  const answer = await tenant.put(case_id, { case_version, ...closing });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

function reportOf(account: string | undefined, more: Partial<Activity> = {}): Activity {
  return {
    activity_id: randomUUID(),
    type: "fraud_report",
    occurred_at: new Date().toISOString(),
    ...(account !== undefined && { website_account_id: account }),
    ...more,
  };
}

test.each([
  ["CONFIRMED_FRAUD", true],
  ["FALSE_POSITIVE", false],
])("a case closed as %s labels the rated activities behind its occurrences, and no others", async (disposition, fraudulent) => {
  const tenant = await newTenant();
  const large = paymentOf({ website_account_id: "a", amount: 2000 });
  await sendScored(tenant, [large, paymentOf({ website_account_id: "a", amount: 5 })]);
  const opened = await caseOf(tenant, "a");
  await decide(tenant, opened, disposition);
  expect(await apply(tenant)).toEqual({ outcomes: 1, labels: 1 });
  expect(await listed(tenant)).toMatchObject([
    {
      activity_id: large.activity_id,
      source: "case",
      fraudulent,
      weight: 1,
      event_at: large.occurred_at,
      case_id: opened.case_id,
      actor: tenant.clientId,
    },
  ]);
  expect(await apply(tenant)).toEqual({ outcomes: 0, labels: 0 });
});

test("PUT case 200: a close that names occurrences labels only their activities; reopening removes the labels", async () => {
  const tenant = await newTenant();
  const rule = { expression: "event.value >= 5000", sentence: "{event.value} is very much.", weight: 5 };
  await makeRule(tenant, "huge_payment", rule);
  const [large, huge, reported] = [2000, 6000, 5].map((amount) =>
    paymentOf({ website_account_id: "a", amount, order_id: `order-${amount}` }),
  );
  if (!large || !huge || !reported) throw new Error("three payments are needed");
  await sendScored(tenant, [large, huge, reported, reportOf("a", { order_id: "order-5" })]);
  const opened = await caseOf(tenant, "a");
  const occurrences = Object.values(opened.fraud_occurrences).toSorted((a, b) => a.risk_score - b.risk_score);
  expect(occurrences).toHaveLength(3);
  const ids = occurrences.map(({ occurrence_id: id }) => id);
  const isReport = ({ explanation }: (typeof occurrences)[number]) => explanation.fraud_reason === "Reported fraud";
  const report = occurrences.find(isReport)?.occurrence_id ?? "";
  const [first = ""] = ids;
  const labelled = async () => {
    await apply(tenant);
    return (await listed(tenant, "source=case")).map(({ activity_id, fraudulent }) => [activity_id, fraudulent]);
  };
  const closing = { status: "CLOSED", disposition: "FALSE_POSITIVE", case_version: opened.case_version, occurrence_ids: [first] };
  const key = randomUUID();
  const closed = await tenant.put(opened.case_id, closing, key);
  expect(closed.status, closed.text).toBe(200);
  const after = closed.json.data as Case;
  expect(after.current_state).toMatchObject({ disposition: "FALSE_POSITIVE", occurrence_ids: [first] });
  expect(await labelled()).toEqual([[large.activity_id, false]]);
  const again = await tenant.put(opened.case_id, closing, key);
  expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([closed.text, "true"]);
  const reopened = await decide(tenant, after);
  expect(await labelled()).toEqual([]);
  const next = { ...closing, case_version: reopened.case_version, occurrence_ids: [report] };
  expect((await tenant.put(opened.case_id, next)).status).toBe(200);
  expect(await labelled()).toEqual([[reported.activity_id, false]]);
});

test("PUT case 422: an occurrence that the case does not have changes nothing and leaves the key free", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [paymentOf({ website_account_id: "a", amount: 2000 })]);
  const opened = await caseOf(tenant, "a");
  const [known = ""] = Object.keys(opened.fraud_occurrences);
  const closing = { status: "CLOSED", disposition: "CONFIRMED_FRAUD", case_version: opened.case_version };
  const key = randomUUID();
  const refused = await tenant.put(opened.case_id, { ...closing, occurrence_ids: [known, "unknown"] }, key);
  expectProblem(refused, 422, "validation-error");
  expect(refused.json).toMatchObject({
    errors: [{ field: "occurrence_ids[1]", message: "is not an occurrence of this case" }],
  });
  expect(await tenant.read(opened.case_id)).toEqual(opened);
  for (const wrong of [
    { ...closing, occurrence_ids: [] },
    { ...closing, occurrence_ids: known },
    { status: "OPEN", case_version: opened.case_version, occurrence_ids: [known] },
  ])
    expectProblem(await tenant.put(opened.case_id, wrong), 422, "validation-error");
  const stale = { ...closing, case_version: 99, occurrence_ids: ["unknown"] };
  expectProblem(await tenant.put(opened.case_id, stale), 409, "item-version-conflict");
  const accepted = await tenant.put(opened.case_id, { ...closing, occurrence_ids: [known] }, key);
  expect(accepted.status, accepted.text).toBe(200);
});

test("a case closed as INCONCLUSIVE or without an outcome labels nothing", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [paymentOf({ website_account_id: "a", amount: 2000 })]);
  await decide(tenant, await caseOf(tenant, "a"), "INCONCLUSIVE");
  await apply(tenant);
  expect(await rowsOf(tenant)).toEqual([]);
});

test("reopening a case takes its labels back at once, and the next close gives new ones", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [paymentOf({ website_account_id: "a", amount: 2000 })]);
  const closed = await decide(tenant, await caseOf(tenant, "a"), "CONFIRMED_FRAUD");
  await apply(tenant);
  expect(await listed(tenant)).toHaveLength(1);
  const reopened = await decide(tenant, closed);
  expect(await listed(tenant)).toEqual([]);
  await apply(tenant);
  expect(await rowsOf(tenant)).toEqual([]);
  const inconclusive = await decide(tenant, reopened, "INCONCLUSIVE");
  await apply(tenant);
  expect(await rowsOf(tenant)).toEqual([]);
  await decide(tenant, await decide(tenant, inconclusive), "FALSE_POSITIVE");
  await apply(tenant);
  expect(await listed(tenant)).toMatchObject([{ source: "case", fraudulent: false }]);
});

test("a case that is reopened before an engine saw its outcome leaves no label", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [paymentOf({ website_account_id: "a", amount: 2000 })]);
  await decide(tenant, await decide(tenant, await caseOf(tenant, "a"), "CONFIRMED_FRAUD"));
  expect(await apply(tenant)).toEqual({ outcomes: 0, labels: 0 });
  expect(await rowsOf(tenant)).toEqual([]);
});

test("fraud_report: the member order_id and the attributes order_id and activity_id each label what they name", async () => {
  const tenant = await newTenant();
  const payments = ["o-1", "o-2", "o-3", "o-4"].map((order_id) => paymentOf({ website_account_id: "a", order_id }));
  const known = ago(0.5);
  // The payments are in the same batch as the reports.
  await sendScored(tenant, [
    ...payments,
    reportOf("a", { order_id: "o-1", occurred_at: known }),
    reportOf("a", { attributes: { order_id: "o-2" } }),
    reportOf(undefined, { attributes: { activity_id: payments[2]?.activity_id ?? "" } }),
    reportOf("a", { attributes: { activity_id: "absent" } }),
    reportOf("a", { order_id: "absent" }),
  ]);
  const labels = await listed(tenant);
  expect(labels.map(({ order_id }) => order_id ?? "").toSorted()).toEqual(["o-1", "o-2", "o-3"]);
  for (const each of labels) expect(each).toMatchObject({ source: "report", fraudulent: true, weight: 1, actor: "system" });
  expect(labels.find(({ order_id }) => order_id === "o-1")).toMatchObject({
    known_at: known,
    case_id: (await caseOf(tenant, "a")).case_id,
  });
});

const byText = (a: unknown, b: unknown) => (String(a) < String(b) ? -1 : 1);
const paidBefore = (hours: number, more: Partial<Activity> = {}) =>
  paymentOf({ website_account_id: "a", occurred_at: ago(hours), ...more });

test("fraud_report without an activity: the account's last three payments within 72 hours get half the weight, and count as no known fraud", async () => {
  const tenant = await newTenant();
  const [recent, transfer, older] = [paidBefore(1), paidBefore(30, { type: "transfer" }), paidBefore(71)];
  const others = [paidBefore(73), paidBefore(2, { type: "login_succeeded" }), paymentOf({ website_account_id: "b" })];
  await sendScored(tenant, [recent, transfer, older, ...others]);
  await sendScored(tenant, [reportOf("a")]);
  const wanted = [recent, transfer, older].map(({ activity_id }) => activity_id).toSorted();
  const labels = await listed(tenant);
  expect(labels.map(({ activity_id }) => activity_id).toSorted()).toEqual(wanted);
  for (const each of labels) expect(each).toMatchObject({ source: "account_report", fraudulent: true, weight: 0.5 });
  expect(await apply(tenant)).toEqual({ outcomes: 0, labels: 0 });
  await sendScored(tenant, [paidBefore(0.5), reportOf("a")]);
  expect(await listed(tenant)).toHaveLength(4);
});

test("a false report: a case closed as FALSE_POSITIVE overrules what its reports named or guessed", async () => {
  const tenant = await newTenant();
  const payments = ["o-1", "o-2"].map((order_id) => paymentOf({ website_account_id: "a", order_id }));
  await sendScored(tenant, [...payments, reportOf("a", { order_id: "o-1" }), reportOf("a")]);
  await decide(tenant, await caseOf(tenant, "a"), "FALSE_POSITIVE");
  await apply(tenant);
  const decided = await listed(tenant, "source=case");
  expect(decided.map(({ order_id, fraudulent }) => [order_id, fraudulent]).toSorted(byText)).toEqual([
    ["o-1", false],
    ["o-2", false],
  ]);
});

test("a report confirmed by a person labels what it named, and not what was guessed from another one", async () => {
  const tenant = await newTenant();
  const payments = ["o-1", "o-2"].map((order_id) => paymentOf({ website_account_id: "a", order_id }));
  await sendScored(tenant, [...payments, reportOf("a", { order_id: "o-1" }), reportOf("a")]);
  await decide(tenant, await caseOf(tenant, "a"), "CONFIRMED_FRAUD");
  await apply(tenant);
  expect(await listed(tenant, "source=case")).toMatchObject([{ order_id: "o-1", fraudulent: true }]);
});

const forged = (more: Partial<RecordedActivity>): RecordedActivity => ({
  ...reportOf("victim"),
  origin: "browser",
  received_at: new Date().toISOString(),
  ...more,
});

test("attack: reports that come through a page label nothing, whatever they name, and a page's order is not labelled", async () => {
  const tenant = await newTenant();
  const victim = paymentOf({ website_account_id: "victim", order_id: "o-1", session_id: "s-1" });
  await sendScored(tenant, [victim]);
  const page = [
    forged({ order_id: "o-1" }),
    forged({ attributes: { order_id: "o-1", activity_id: victim.activity_id } }),
    forged({}),
    // In a session that the server tied to the account.
    forged({ session_id: "s-1", order_id: "o-1" }),
    forged({ session_id: "s-1", identity: "signed" }),
    forged({ type: "payment", order_id: "forged", session_id: "s-1" }),
  ];
  await service.current.database.transaction((tx) => insertActivities(tx, tenant.tenantId, page.map(newActivity)));
  await scoreAll(tenant);
  await apply(tenant);
  expect(await rowsOf(tenant)).toEqual([]);
  expect(await label(tenant, [{ order_id: "forged", fraudulent: true }])).toMatchObject({ not_found: [0] });
});

test("several sources may label one activity", async () => {
  const tenant = await newTenant();
  const payment = paymentOf({ website_account_id: "a", amount: 2000, order_id: "o-1" });
  await sendScored(tenant, [payment, reportOf("a", { order_id: "o-1" })]);
  await label(tenant, [{ order_id: "o-1", fraudulent: true }]);
  await decide(tenant, await caseOf(tenant, "a"), "FALSE_POSITIVE");
  await apply(tenant);
  const labels = await listed(tenant);
  expect(labels.map(({ source, fraudulent }) => [source, fraudulent]).toSorted(byText)).toEqual([
    ["api", true],
    ["case", false],
    ["report", true],
  ]);
});
