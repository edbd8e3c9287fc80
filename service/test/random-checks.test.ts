import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { countChecks } from "../src/db/random-checks.ts";
import { readTrainingRows } from "../src/db/training.ts";
import type { Case } from "../src/domain/case.ts";
import type { CaseDigest } from "../src/domain/case-digest.ts";
import type { RandomChecks } from "../src/domain/random-check.ts";
import { drawChecks, drawDay } from "../src/engine/random-checks.ts";
import { openLog } from "../src/log.ts";
import { dayBefore, insertDecided, noonBefore, type Decided } from "./decided.ts";
import { TestTenant, expectProblem, useOwnDatabase, useService } from "./harness.ts";
import { apply, listed, paymentOf, sendScored } from "./labels-lab.ts";
import { labelAs } from "./training-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("random_checks"), roles: new Set(["api"]) });
const yesterday = dayBefore(1);
const draw = ({ tenantId }: TestTenant) => drawDay({ database: service.current.database, clock }, tenantId, yesterday);

function paid(count: number, more: Decided = {}): Decided[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "payment",
    website_account_id: `a-${more.type ?? ""}-${more.score ?? 1}-${index}`,
    received_at: noonBefore(1),
    decision: { v: 1, l: 0, f: {} },
    ...more,
  }));
}

async function set(tenant: TestTenant, per_day: number): Promise<RandomChecks> {
  const answer = await tenant.call("PUT", "/random-checks", { body: { per_day } });
  expect(answer.status, answer.text).toBe(200);
  // As if it had been set two days ago.
  const text = "update detection_settings set random_checked_on = random_checked_on - 2 where tenant_id = $1";
  await service.current.database.query(statement(text, [tenant.tenantId]));
  return answer.json.data;
}

async function casesOf(tenant: TestTenant): Promise<Case[]> {
  return Promise.all((await tenant.list()).map(({ case_id }) => tenant.read(case_id)));
}

async function decide(tenant: TestTenant, { case_id, case_version }: Case, disposition?: string): Promise<Case> {
  const closing = disposition === undefined ? { status: "OPEN" } : { status: "CLOSED", disposition };
  const answer = await tenant.put(case_id, { case_version, ...closing });
  expect(answer.status, answer.text).toBe(200);
  await apply(tenant);
  return answer.json.data;
}

async function recallOf(tenant: TestTenant) {
  const { recall }: RandomChecks = (await tenant.call("GET", "/random-checks")).json.data;
  return recall.find(({ moment }) => moment === "value");
}

test("random checks: without the setting nothing is chosen, and the setting is an event", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, paid(20));
  const log = openLog("silent");
  await drawChecks({ database: service.current.database, clock, log });
  expect(await tenant.list()).toEqual([]);
  expect((await set(tenant, 5)).per_day).toBe(5);
  await set(tenant, 5);
  const events = await tenant.call("GET", "/events");
  expect(events.json.data).toMatchObject({ events: [{ data: { random_checks_per_day: 5 }, actor: tenant.clientId }] });
  expectProblem(await tenant.call("PUT", "/random-checks", { body: { per_day: 101 } }), 422, "validation-error");
});

test("random checks: each day, the wanted number of cases is opened once for low scores of the day before, and they say that nothing was found", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, [
    ...paid(40),
    ...paid(5, { score: 3 }),
    ...paid(5, { type: "page_view" }),
    ...paid(5, { origin: "browser" }),
    ...paid(5, { received_at: noonBefore(2), website_account_id: "too-old" }),
  ]);
  await set(tenant, 6);
  expect(new Set(await Promise.all([draw(tenant), draw(tenant)]))).toEqual(new Set([0, 6]));
  expect(await draw(tenant)).toBe(0);
  const cases = await casesOf(tenant);
  expect(cases).toHaveLength(6);
  for (const { details, website_account_id, fraud_occurrences } of cases) {
    expect(details).toMatchObject({ overall_risk_score: 1, random_check: true, recommended_action: "MONITOR" });
    expect(details.summary).toMatch(/^This activity was chosen at random/);
    expect(website_account_id).toMatch(/^a--1-/);
    const [occurrence] = Object.values(fraud_occurrences);
    const decision = await tenant.call("GET", `/decisions/${occurrence?.prediction_id ?? ""}`);
    expect(decision.json.data).toMatchObject({ score: 1, activity: { type: "payment" } });
  }
  const ids = cases.map(({ case_id }) => case_id).join(",");
  const { case_digests: digests }: { case_digests: CaseDigest[] } = (await tenant.call("GET", `/cases/digests?case_ids=${ids}`))
    .json.data;
  expect(digests.map(({ random_check }) => random_check)).toEqual(Array(6).fill(true));
  const { events }: { events: { type: string }[] } = (await tenant.call("GET", "/events")).json.data;
  expect(events.filter(({ type }) => type === "case.opened")).toHaveLength(6);
});

test("random checks: the timeline of the case contains the chosen activity and the day before it", async () => {
  const tenant = await TestTenant.create(service.current);
  const chosen = `${yesterday}T00:00:01.000Z`;
  await insertDecided(tenant, [
    ...paid(1, { website_account_id: "one", received_at: chosen }),
    ...paid(1, { website_account_id: "one", received_at: noonBefore(2) }),
  ]);
  await set(tenant, 1);
  expect(await draw(tenant)).toBe(1);
  const [{ case_id } = { case_id: "" }] = await tenant.list();
  const timeline: { activities: { received_at: string; case_id?: string }[] } = (
    await tenant.call("GET", `/cases/${case_id}/activities`)
  ).json.data;
  expect(timeline.activities).toMatchObject([{ received_at: chosen, case_id }, { received_at: noonBefore(2) }]);
});

test("random checks: an account gets one case, and none if it already has an open case", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, paid(30, { website_account_id: "one" }));
  await set(tenant, 6);
  expect(await draw(tenant)).toBe(1);
});

test("random checks: an account that is active all day takes one of the checks, and its check stands for itself alone", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, [...paid(2_000, { website_account_id: "loud" }), ...paid(40)]);
  await set(tenant, 6);
  expect(await draw(tenant)).toBe(6);
  const cases = await casesOf(tenant);
  for (const each of cases) await decide(tenant, each, "FALSE_POSITIVE");
  const weights = (await listed(tenant)).map(({ weight }) => weight).toSorted((a, b) => a - b);
  expect(weights).toEqual([8, 8, 8, 8, 8, 2_000]);
});

test("random checks: the outcome becomes a label that stands for the activities it was chosen from, and reopening removes it", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, paid(40));
  await set(tenant, 4);
  await draw(tenant);
  const [first, second] = await casesOf(tenant);
  if (!first || !second) throw new Error("four cases are needed");
  const closed = await decide(tenant, first, "CONFIRMED_FRAUD");
  await decide(tenant, second, "FALSE_POSITIVE");
  expect(await listed(tenant)).toMatchObject([
    { source: "case", weight: 10 },
    { source: "case", weight: 10 },
  ]);
  expect(await recallOf(tenant)).toMatchObject({ checks: 4, decided: 2, frauds: 1, found: 0, missed: 20, recall: 0 });
  const asOf = new Date(Date.now() + 60_000).toISOString();
  const learned: string[] = [];
  const span = { from: noonBefore(3), until: asOf, asOf };
  for await (const rows of readTrainingRows(service.current.database, tenant.tenantId, "value", span))
    learned.push(...rows.map(({ y, weight }) => `y ${y}, weight ${weight}`));
  expect(learned.toSorted()).toEqual(["y 0, weight 1", "y 1, weight 10"]);
  await decide(tenant, closed);
  expect(await recallOf(tenant)).toMatchObject({ decided: 1, frauds: 0 });
});

test("random checks: the recall is the estimated share of frauds that were found", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, [...paid(200), ...paid(60, { score: 4 })]);
  await set(tenant, 10);
  await draw(tenant);
  const [fraud, ...honest] = (await casesOf(tenant)).filter(({ details }) => details.random_check === true);
  if (!fraud) throw new Error("ten cases are needed");
  await decide(tenant, fraud, "CONFIRMED_FRAUD");
  for (const each of honest) await decide(tenant, each, "FALSE_POSITIVE");
  const text = `
    insert into labels (tenant_id, id_key, source, case_id, received_at, y, weight, event_at, labelled_at, known_at, actor)
    select tenant_id, id_key, 'api', '00000000-0000-0000-0000-000000000000', received_at, 1, 1, received_at, now(), now(), 'shop'
    from activities
    where tenant_id = $1 and score = 4`;
  await service.current.database.query(statement(text, [tenant.tenantId]));
  expect(await recallOf(tenant)).toMatchObject({ checks: 10, decided: 10, frauds: 1, found: 60, missed: 20, recall: 0.75 });
  const since = noonBefore(3);
  const counted = await countChecks(service.current.database, tenant.tenantId, { moment: "value", since, max: 11 });
  expect(counted.found).toBe(11);
});

test("random checks: imported frauds, and frauds that an investigator cleared, do not count as found", async () => {
  const tenant = await TestTenant.create(service.current);
  const score = 4;
  await insertDecided(tenant, [
    ...paid(20),
    ...paid(1, { score, activity_id: "live" }),
    ...paid(1, { score, activity_id: "cleared" }),
    ...paid(1, { score, activity_id: "past", isImported: true }),
    ...paid(1, { score, activity_id: "entry", type: "login_succeeded" }),
  ]);
  await set(tenant, 1);
  expect(await draw(tenant)).toBe(1);
  await labelAs(tenant, [
    ...["live", "cleared", "past", "entry"].map((activity_id) => ({ activity_id, y: 1 as const })),
    { activity_id: "cleared", y: 0, source: "case", case_id: randomUUID() },
  ]);
  expect(await recallOf(tenant)).toMatchObject({ checks: 1, found: 1 });
});

test("random checks: erasing an account removes its checks", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertDecided(tenant, paid(5));
  await set(tenant, 5);
  await draw(tenant);
  const [first] = await casesOf(tenant);
  const account = first?.website_account_id ?? "";
  // Now the account itself is known too.
  await sendScored(tenant, [paymentOf({ website_account_id: account })]);
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  expect(await recallOf(tenant)).toMatchObject({ checks: 4 });
});
