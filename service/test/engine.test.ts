import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { clock } from "../src/clock.ts";
import { lockAccount } from "../src/db/accounts.ts";
import { insertCase, type LockedCase } from "../src/db/cases.ts";
import type { Queryable, Row } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import type { Account } from "../src/domain/account.ts";
import { accountSubject, activityTypes } from "../src/domain/activity.ts";
import { openCase, type Case } from "../src/domain/case.ts";
import { labels, type Finding } from "../src/domain/finding.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, newDetector, send, testConfig, useService, waitingText } from "./harness.ts";

// Two complete services with one public URL and one database, each with an engine.
const service = useService();
let second: Service;
beforeAll(async () => {
  second = await startService(testConfig({ publicUrl: service.current.url }));
});
afterAll(() => second.stop());

const newTenant = () => TestTenant.create(service.current);
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
type Fields = Record<string, unknown>;

async function settle(tenant: TestTenant): Promise<void> {
  const text = "select count(*) as count from inbox where tenant_id = $1";
  const isDone = async () => {
    const [row] = await tenant.service.database.query<{ count: number }>(statement(text, [tenant.tenantId]));
    expect(row?.count).toBe(0);
  };
  await vi.waitFor(isDone, { timeout: 20_000, interval: 20 });
}

async function report(tenant: TestTenant, account: string | undefined, more: Fields = {}): Promise<void> {
  await tenant.report(account, more);
  await settle(tenant);
}

async function readAll(tenant: TestTenant, query = ""): Promise<Case[]> {
  const items = await tenant.list(`sort=created_at&${query}`);
  return Promise.all(items.map((item) => tenant.read(item.case_id)));
}

async function only(tenant: TestTenant, query = ""): Promise<Case> {
  const [found, ...more] = await readAll(tenant, query);
  expect(more).toEqual([]);
  if (!found) throw new Error("there is no case");
  return found;
}

async function readAccount(tenant: TestTenant, id: string): Promise<Account> {
  const answer = await tenant.call("GET", `/enduseraccounts/${encodeURIComponent(id)}`);
  expect(answer.status === 200 ? "" : answer.text).toBe("");
  return answer.json.data;
}

test("detect: a fraud_report opens a complete case with score 5, changed by system", async () => {
  const tenant = await newTenant();
  await report(tenant, "user-1", { session_id: "s1", device_id: "d1", attributes: { label: "Bot", note: "A call." } });
  const { fraud_occurrences: occurrences, ...opened } = await only(tenant);
  const [occurrence, ...more] = Object.entries(occurrences);
  const changed = { changed_by: "system", reason: expect.any(String) };
  const state = { state_id: uuid, case_status: "OPEN", session_status: "ACTIVE", score: 5, ...changed };
  const scored = { overall_risk_score: 5, primary_fraud_label: "Bot", fraud_labels: ["Bot"], recommended_action: "ESCALATE" };
  expect(opened).toEqual({
    case_id: uuid,
    tenant_id: tenant.tenantId,
    website_account_id: "user-1",
    session_id: "s1",
    end_user_is_blocked: false,
    status: "OPEN",
    case_version: 1,
    created_at: time,
    updated_at: null,
    current_state: { ...state, changed_at: opened.created_at },
    state_history: [],
    details: { ...scored, summary: expect.any(String), highlights: expect.arrayContaining(["Note: A call."]) },
  });
  expect(more).toEqual([]);
  expect(occurrence?.[1]).toMatchObject({ occurrence_id: occurrence?.[0], prediction_id: uuid, session_id: "s1", risk_score: 5 });
  expect(occurrence?.[1].explanation).toMatchObject({ fraud_types: ["Bot Creation"], model_behaviour: [{ type: "rule" }] });
});

test("detect: the case gets the report's label in any letter case, and Organic if the label is unknown", async () => {
  const tenant = await newTenant();
  const given = [...labels, "Nonsense", "bot", 7, true, undefined];
  for (const label of given) await tenant.report(`user-${String(label)}`, label === undefined ? {} : { attributes: { label } });
  await settle(tenant);
  for (const label of given) {
    const { details } = await only(tenant, `website_account_id=user-${String(label)}`);
    const wanted = labels.find((each) => each.toLowerCase() === String(label).toLowerCase()) ?? "Organic";
    expect(details).toMatchObject({ primary_fraud_label: wanted, fraud_labels: [wanted], overall_risk_score: 5 });
  }
});

test("detect: other activity creates its account with no flag set, and opens no case", async () => {
  const tenant = await newTenant();
  const types = [...activityTypes.filter((type) => type !== "fraud_report"), "custom:x"];
  for (const type of types) await tenant.report(`user-${type}`, { type });
  await tenant.report(undefined, { type: "page_view", device_id: "d1" });
  await settle(tenant);
  for (const type of types) {
    const account = await readAccount(tenant, `user-${type}`);
    expect(account).toMatchObject({ is_blocked: false, is_quarantined: false, is_fraudulent: false });
    expect(account).not.toHaveProperty("last_session_updated_on");
  }
  expect(await tenant.list()).toEqual([]);
});

test("detect: a second report joins the OPEN case and adds an occurrence, a state, a version and a label", async () => {
  const tenant = await newTenant();
  await report(tenant, "user-1", { attributes: { label: "Bot" } });
  const before = await only(tenant);
  await report(tenant, "user-1", { attributes: { label: "Synthetic" } });
  const after = await only(tenant);
  expect(after).toMatchObject({ case_id: before.case_id, status: "OPEN", case_version: 2, created_at: before.created_at });
  expect(after.updated_at).toBe(after.current_state.changed_at);
  expect(after.current_state).toMatchObject({ case_status: "OPEN", changed_by: "system", score: 5 });
  expect(after.current_state.state_id).not.toBe(before.current_state.state_id);
  expect(after.state_history).toEqual([before.current_state]);
  expect(after.details.fraud_labels.toSorted()).toEqual(["Bot", "Synthetic"]);
  expect(Object.keys(after.fraud_occurrences)).toHaveLength(2);
  expect(after.fraud_occurrences).toMatchObject(before.fraud_occurrences);
});

function weakCase(tenant: TestTenant, account: string, subject: string): LockedCase {
  const explanation = { fraud_reason: "Weak", fraud_reason_description: "Weak.", fraud_types: [], model_behaviour: null };
  const shown = { summary: "Weak.", highlights: [], explanation, session_id: undefined, session_status: "FINISHED" as const };
  const weak: Finding = { score: 2, label: "Bot", action: "MONITOR", source: "server", ...shown };
  const [now, id] = [clock.now(), randomUUID()];
  const ids = { case_id: clock.newId(now), state_id: id, occurrence_id: id, prediction_id: id };
  const { document } = openCase({ tenant_id: tenant.tenantId, website_account_id: account }, weak, ids, now);
  return { document, subject, end_user_is_blocked: false };
}

test("detect: a report that joins a weaker case raises its score, label and recommendation", async () => {
  const tenant = await newTenant();
  await report(tenant, "user-1", { type: "signup" });
  const added = weakCase(tenant, "user-1", accountSubject("user-1"));
  expect(await tenant.service.database.transaction((tx) => insertCase(tx, added))).toBe(true);
  await report(tenant, "user-1", { attributes: { label: "Synthetic" } });
  const joined = await only(tenant);
  expect(joined).toMatchObject({ case_id: added.document.case_id, case_version: 2, current_state: { score: 5 } });
  const raised = { overall_risk_score: 5, primary_fraud_label: "Synthetic", recommended_action: "ESCALATE" };
  expect(joined.details).toMatchObject({ ...raised, fraud_labels: ["Bot", "Synthetic"] });
  expect(await tenant.list("min_score=5&label=Synthetic")).toMatchObject([raised]);
});

test("detect: a report does not join a closed case, and opens another one", async () => {
  const tenant = await newTenant();
  const closed = await tenant.openCase("user-1");
  expect((await tenant.put(closed.case_id, { status: "CLOSED", case_version: 1 })).status).toBe(200);
  const before = await tenant.read(closed.case_id);
  await report(tenant, "user-1");
  expect(await only(tenant, "status=OPEN")).toMatchObject({ website_account_id: "user-1", case_version: 1 });
  expect(await only(tenant, "status=CLOSED")).toEqual(before);
});

test("detect: without an account there is one UNKNOWN case per device, or else per session, and no account is created", async () => {
  const tenant = await newTenant();
  const byDevice = [...["s1", "s2", "s3"].map((session_id) => ({ device_id: "x", session_id })), { device_id: "y" }];
  const sent: Fields[] = [...byDevice, { session_id: "x" }, { session_id: "x" }, { session_id: "s1" }];
  for (const each of sent) await report(tenant, undefined, each);
  await report(tenant, "user-1", { device_id: "x", session_id: "s1" });
  const unknown = await readAll(tenant, "website_account_id=UNKNOWN");
  expect(unknown.map((each) => each.case_version).toSorted((a, b) => a - b)).toEqual([1, 1, 2, 3]);
  expect(unknown.every((each) => each.status === "OPEN" && !each.end_user_is_blocked)).toBe(true);
  expect(await only(tenant, "website_account_id=user-1")).toMatchObject({ case_version: 1 });
  expect((await tenant.call("GET", "/enduseraccounts")).json.data).toMatchObject({
    end_user_accounts: [{ website_account_id: "user-1" }],
  });
});

const at = (hour: number) => `2026-05-01T${String(hour).padStart(2, "0")}:00:00.000Z`;

test("detect: last_session_updated_on is the time of the latest activity with a session, and never goes back", async () => {
  const tenant = await newTenant();
  const steps: [activity: Fields, wanted: string | undefined][] = [
    [{ occurred_at: at(9) }, undefined],
    [{ occurred_at: at(10), session_id: "s" }, at(10)],
    [{ occurred_at: at(8), session_id: "s" }, at(10)],
    [{ occurred_at: at(12) }, at(10)],
    [{ occurred_at: at(11), session_id: "t" }, at(11)],
  ];
  for (const [activity, wanted] of steps) {
    await report(tenant, "user-1", { type: "page_view", ...activity });
    expect((await readAccount(tenant, "user-1")).last_session_updated_on).toBe(wanted);
  }
  const seen = { type: "page_view", website_account_id: "user-1", session_id: "s" };
  const activities = [15, 14, 17, 13].map((hour) => ({ ...seen, activity_id: randomUUID(), occurred_at: at(hour) }));
  expect((await tenant.call("POST", "/activities", { body: { activities } })).status).toBe(202);
  await settle(tenant);
  expect((await readAccount(tenant, "user-1")).last_session_updated_on).toBe(at(17));
});

test("detect: activity leaves an account's flags unchanged, and a new case shows the block flag", async () => {
  const tenant = await newTenant();
  const body = { website_account_id: "user-1", is_blocked: true, is_quarantined: true, crm_account_id: "CRM" };
  expect((await tenant.call("POST", "/enduseraccounts", { body })).status).toBe(201);
  await report(tenant, "user-1");
  expect(await readAccount(tenant, "user-1")).toMatchObject(body);
  expect(await only(tenant, "user_is_blocked=true")).toMatchObject({ end_user_is_blocked: true, case_version: 1 });
});

async function sendToBoth(tenant: TestTenant, count: number, subject: Fields): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, n) => {
      const activity = { activity_id: randomUUID(), type: "fraud_report", occurred_at: clock.now(), ...subject };
      const { port } = n % 2 === 0 ? service.current : second;
      const options = { token: tenant.token, body: { activities: [activity] } };
      return send(port, "POST", `/v2/${tenant.slug}/activities`, options);
    }),
  );
  expect(answers.filter((each) => each.status !== 202).map((each) => each.text)).toEqual([]);
}

test.each([{ website_account_id: "user-1" }, { device_id: "d1" }, { session_id: "s1" }])(
  "detect: sixty concurrent reports through two services make one OPEN case for %j, and none is lost",
  async (subject) => {
    const tenant = await newTenant();
    await sendToBoth(tenant, 60, subject);
    await settle(tenant);
    const { case_version, state_history, fraud_occurrences } = await only(tenant);
    expect([case_version, state_history.length, Object.keys(fraud_occurrences).length]).toEqual([60, 59, 60]);
  },
);

test("detect: with concurrent reports, closes and block flags there is at most one OPEN case, no report is lost, and the flag agrees", async () => {
  const tenant = await newTenant();
  await report(tenant, "user-1");
  const sending = sendToBoth(tenant, 60, { website_account_id: "user-1" });
  let closes = 0;
  for (let turn = 0; turn < 25; turn++) {
    const open = await tenant.list("status=OPEN");
    expect(open.length).toBeLessThanOrEqual(1);
    const change = { status: "CLOSED", case_version: open[0]?.case_version ?? 1 };
    const [closed] = await Promise.all([
      tenant.put(open[0]?.case_id ?? "none", change),
      tenant.call("PUT", "/enduseraccounts/user-1", { body: { is_blocked: turn % 2 === 0 } }),
    ]);
    if (closed.status === 200) closes++;
  }
  await sending;
  await settle(tenant);
  const cases = await readAll(tenant);
  const versions = cases.reduce((sum, each) => sum + each.case_version, 0);
  const occurrences = cases.reduce((sum, each) => sum + Object.keys(each.fraud_occurrences).length, 0);
  expect([occurrences, versions]).toEqual([61, 61 + closes]);
  const { is_blocked: isBlocked } = await readAccount(tenant, "user-1");
  expect(cases.map((each) => each.end_user_is_blocked)).toEqual(cases.map(() => isBlocked));
});

// Another transaction holds a lock. A report is sent, an engine that scores it waits, and then the other transaction commits.
async function scoreAgainst(
  tenant: TestTenant,
  activity: Fields,
  hold: (tx: Queryable) => Promise<unknown>,
  end = "",
): Promise<void> {
  const { database } = tenant.service;
  const other = await database.connect();
  try {
    await other.query("begin");
    await hold({ query: async <R extends Row>(sent: Statement) => (await other.query<R>(sent)).rows });
    await tenant.report(undefined, activity);
    void detectBatch(newDetector(database), tenant.tenantId).catch(() => {});
    const look = async () => expect((await other.query(waitingText())).rows).not.toEqual([]);
    await vi.waitFor(look, { timeout: 10_000, interval: 10 });
    await other.query(`${end}; commit`);
  } finally {
    await other.end();
  }
  await settle(tenant);
}

test("detect: a case that another engine opens for the device at the same time is joined", async () => {
  const tenant = await newTenant();
  const theirs = weakCase(tenant, "UNKNOWN", "device:d1");
  await scoreAgainst(tenant, { device_id: "d1" }, (tx) => insertCase(tx, theirs));
  expect(await only(tenant)).toMatchObject({ case_id: theirs.document.case_id, case_version: 2 });
});

test("detect: an account erased while its new activity is scored is created again", async () => {
  const tenant = await newTenant();
  await report(tenant, "user-1", { type: "page_view" });
  const erase = `delete from accounts where tenant_id = '${tenant.tenantId}' and website_account_id = 'user-1'`;
  await scoreAgainst(tenant, { website_account_id: "user-1" }, (tx) => lockAccount(tx, tenant.tenantId, "user-1"), erase);
  expect((await only(tenant)).website_account_id).toBe("user-1");
  expect(await readAccount(tenant, "user-1")).toMatchObject({ website_account_id: "user-1", is_blocked: false });
});
