import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { insertAccount } from "../src/db/accounts.ts";
import { saveLinks } from "../src/db/links.ts";
import { insertOutcomes, type Outcome } from "../src/db/outcomes.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { accountSubject } from "../src/domain/activity.ts";
import { shownValues, Stage, type Step } from "./stage.ts";

type Flag = "is_blocked" | "is_quarantined" | "is_fraudulent";

async function flagged(stage: Stage, website_account_id: string, flag: Flag): Promise<void> {
  const { database, tenantId } = stage.tenant;
  const now = stage.at(0);
  const flags = { is_blocked: false, is_quarantined: false, is_fraudulent: false, [flag]: true };
  const account = { tenant_id: tenantId, website_account_id, ...flags, created_at: now, updated_at: now };
  await database.transaction((tx) => insertAccount(tx, account));
}

test("rule flagged_account_active: a log-in, payment or change on a fraudulent account opens an Organic case to escalate", async () => {
  const stage = await Stage.open();
  const types = ["login_succeeded", "payment", "transfer", "password_changed", "email_changed", "mfa_changed", "payee_added"];
  for (const type of types) await flagged(stage, `owner-${type}`, "is_fraudulent");
  const played = await stage.play(types.map((type): Step => ({ minute: 1, type, website_account_id: `owner-${type}` })));
  expect(played.map(({ rules }) => rules)).toEqual(types.map(() => ["flagged_account_active"]));
  const found = (await stage.cases()).find(({ subject }) => subject === "account:owner-payment");
  expect(found).toMatchObject({
    website_account_id: "owner-payment",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Organic",
      recommended_action: "ESCALATE",
      summary: "The account is flagged but active (payment). Blocked: no. Fraudulent: yes.",
    },
  });
});

test("rule flagged_account_active: activity on a blocked account is to be monitored, because no fraud is known", async () => {
  const stage = await Stage.open();
  await flagged(stage, "owner", "is_blocked");
  const last = await stage.playLast([{ minute: 1, type: "login_succeeded", website_account_id: "owner" }]);
  expect(last.rules).toEqual(["flagged_account_active"]);
  const found = await stage.onlyCase();
  expect(found.details).toMatchObject({ overall_risk_score: 3, primary_fraud_label: "Organic", recommended_action: "MONITOR" });
  expect(shownValues(found, "flagged_account_active")).toEqual({ "account.is_blocked": true, "account.is_fraudulent": false });
});

test("rule flagged_account_active: a failed log-in, a page view, or a quarantined account is not enough", async () => {
  const stage = await Stage.open();
  await flagged(stage, "blocked", "is_blocked");
  await flagged(stage, "quarantined", "is_quarantined");
  const played = await stage.play([
    { minute: 1, type: "login_failed", website_account_id: "blocked" },
    { minute: 2, type: "page_view", website_account_id: "blocked" },
    { minute: 3, type: "logout", website_account_id: "blocked" },
    { minute: 4, type: "payment", website_account_id: "quarantined" },
  ]);
  expect(played.flatMap(({ rules }) => rules)).toEqual([]);
});

async function decided(stage: Stage, website_account_id: string, ...dispositions: string[]): Promise<void> {
  await decidedAt(stage, 10, website_account_id, ...dispositions);
}

async function decidedAt(stage: Stage, minute: number, website_account_id: string, ...dispositions: string[]): Promise<void> {
  const case_id = randomUUID();
  const outcomes = dispositions.map((disposition, index): Outcome => ({
    case_id,
    case_version: index + 2,
    subject: accountSubject(website_account_id),
    website_account_id,
    disposition,
    decided_at: stage.at(minute + index),
    decided_by: "somebody",
  }));
  const { database, tenantId } = stage.tenant;
  await database.transaction((tx) => insertOutcomes(tx, tenantId, outcomes));
}

const shared = { device_id: "shared" };
const used: Step = { minute: 0, type: "login_succeeded", website_account_id: "fraudster", ...shared };
const other: Step = { minute: 60, type: "signup", website_account_id: "other", ...shared };

test("rule linked_fraud: an account on the device of a confirmed fraud opens a Synthetic case to escalate", async () => {
  const stage = await Stage.open();
  await stage.play([used]);
  await decided(stage, "fraudster", "CONFIRMED_FRAUD");
  const last = await stage.playLast([other]);
  expect(last.rules).toEqual(["linked_fraud"]);
  const found = await stage.onlyCase();
  expect(found).toMatchObject({
    subject: "account:other",
    website_account_id: "other",
    details: {
      overall_risk_score: 3,
      primary_fraud_label: "Synthetic",
      recommended_action: "ESCALATE",
      summary: "Other accounts on this device with a fraud confirmed in the last 90 days: 1. All accounts on the device: 2.",
    },
  });
  expect(shownValues(found, "linked_fraud")).toEqual({ "device.confirmed_frauds_90d": 1, "device.accounts_total": 2 });
});

const minutesPerDay = 24 * 60;
const stageEnd = 20 * minutesPerDay;

function login(minute: number, website_account_id: string, device_id: string): Step {
  return { minute, type: "login_succeeded", website_account_id, device_id };
}

// Two accounts use a device for weeks. Then a stranger uses one of them on another device, and the fraud is reported with the
// given label and confirmed.
async function playHousehold(label: string, stranger = login(stageEnd - 60, "victim", "stranger's")): Promise<Stage> {
  const stage = await Stage.open();
  await stage.play([login(0, "victim", "home"), login(1, "spouse", "home"), stranger]);
  await stage.play([{ minute: stageEnd - 30, type: "fraud_report", website_account_id: "victim", attributes: { label } }]);
  const { case_id: id, details } = await stage.onlyCase();
  expect(details.primary_fraud_label).toBe(label);
  await stage.decide(id, { status: "CLOSED", disposition: "CONFIRMED_FRAUD" });
  return stage;
}

const spouse = login(stageEnd + 1, "spouse", "home");
const newcomer: Step = { minute: stageEnd + 1, type: "signup", website_account_id: "newcomer", device_id: "home" };
const next = login(stageEnd + 1, "next", "stranger's");

test("rule linked_fraud: if an account was taken over or a script used it, the stranger's device accuses, and the victim's own does not", async () => {
  for (const label of ["Account Takeover", "Bot"]) {
    const stage = await playHousehold(label);
    const played = await stage.play([spouse, newcomer, next]);
    expect(played.map(({ rules }) => rules)).toEqual([[], [], ["linked_fraud"]]);
  }
});

test("rule linked_fraud: after any other fraud, only accounts that come to the device later are suspicious", async () => {
  const stage = await playHousehold("Organic");
  const played = await stage.play([spouse, newcomer]);
  expect(played.map(({ rules }) => rules)).toEqual([[], ["linked_fraud"]]);
});

const onPage = { origin: "browser", identity: "signed", session_id: "page" } as const;

test("rule linked_fraud: a signed page that backdates its log-in does not make its account older on the device than the fraud", async () => {
  const stage = await playHousehold("Organic");
  const played = await stage.play([0, 10, stageEnd - 60].map((minute) => ({ ...newcomer, ...onPage, minute })));
  expect(played.map(({ rules }) => rules)).toEqual([["linked_fraud"], ["linked_fraud"], ["linked_fraud"]]);
});

test("rule linked_fraud: a thief in a verified session cannot hide their device with the time of the log-in", async () => {
  for (const minute of [-1, 10, stageEnd - 2 * minutesPerDay, stageEnd + 2]) {
    const stage = await playHousehold("Account Takeover", { ...login(minute, "victim", "stranger's"), ...onPage });
    expect((await stage.playLast([next])).rules).toEqual(["linked_fraud"]);
  }
});

test("rule linked_fraud: all accounts on the device of an account that was made for fraud are suspicious", async () => {
  const stage = await playHousehold("Synthetic");
  expect((await stage.playLast([spouse])).rules).toEqual(["linked_fraud"]);
});

test("rule linked_fraud: a fraud confirmed 90 days ago counts, and one from 91 days ago does not", async () => {
  const stage = await Stage.open();
  await stage.play([used, { ...used, website_account_id: "earlier", device_id: "d2" }]);
  await decidedAt(stage, 60 - 90 * minutesPerDay, "fraudster", "CONFIRMED_FRAUD");
  await decidedAt(stage, 59 - 90 * minutesPerDay, "earlier", "CONFIRMED_FRAUD");
  const played = await stage.play([other, { ...other, device_id: "d2" }]);
  expect(played.map(({ rules }) => rules)).toEqual([["linked_fraud"], []]);
  expect(played[1]?.features).toMatchObject({ "device.confirmed_frauds": 1 });
  expect(played[1]?.features).not.toHaveProperty("device.confirmed_frauds_90d");
});

test("rule linked_fraud: on a shared device one fraud accuses nobody, but frauds on a third of its accounts do", async () => {
  const stage = await Stage.open();
  const users = ["fraudster", "a", "b", "c", "d"];
  await stage.play(users.map((website_account_id): Step => ({ ...used, website_account_id })));
  await decided(stage, "fraudster", "CONFIRMED_FRAUD");
  const shared = await stage.playLast([other]);
  expect(shared.features).toMatchObject({ "device.confirmed_frauds_90d": 1, "device.accounts_total": 6 });
  expect(shared.rules).toEqual([]);
  await decided(stage, "a", "CONFIRMED_FRAUD");
  expect((await stage.playLast([{ ...other, minute: 70, type: "login_succeeded" }])).rules).toEqual(["linked_fraud"]);
});

test("rule linked_fraud: a shared device whose state was removed after a quiet period is still known to be shared", async () => {
  const stage = await Stage.open();
  const users = ["fraudster", "a", "b", "c", "d"];
  await stage.play(users.map((website_account_id): Step => ({ ...used, website_account_id })));
  await decided(stage, "fraudster", "CONFIRMED_FRAUD");
  const { database, tenantId } = stage.tenant;
  await database.query(statement("delete from entity_states where tenant_id = $1 and kind = 'device'", [tenantId]));
  const last = await stage.playLast([{ ...other, website_account_id: "a", type: "login_succeeded" }]);
  expect(last.features).toMatchObject({ "device.confirmed_frauds_90d": 1, "device.accounts_total": 5 });
  expect(last.rules).toEqual([]);
});

test("rule linked_fraud: a kiosk with a thousand users is not guilty, however many of them committed fraud", async () => {
  const stage = await Stage.open();
  const { database, tenantId } = stage.tenant;
  const users = Array.from({ length: 1_000 }, (_, n) => `user-${n}`);
  const seen = { kind: "account-device" as const, b: "shared", first_seen: stage.at(0), last_seen: stage.at(1) };
  await database.transaction((tx) =>
    saveLinks(
      tx,
      tenantId,
      users.map((a) => ({ ...seen, a })),
    ),
  );
  await decided(stage, "user-0", "CONFIRMED_FRAUD");
  const one = await stage.playLast([other]);
  expect(one.features).toMatchObject({ "device.confirmed_frauds_90d": 1, "device.accounts_total": 1_000 });
  expect(one.features).not.toHaveProperty("device.fraud_share_90d");
  const outcomes = users.slice(1, 340).map((website_account_id): Outcome => {
    const verdict = { case_version: 2, disposition: "CONFIRMED_FRAUD", decided_at: stage.at(10), decided_by: "somebody" };
    return { ...verdict, case_id: randomUUID(), subject: accountSubject(website_account_id), website_account_id };
  });
  await database.transaction((tx) => insertOutcomes(tx, tenantId, outcomes));
  const many = await stage.playLast([{ ...other, website_account_id: "another", minute: 70 }]);
  expect(many.features).toMatchObject({ "device.confirmed_frauds_90d": 340, "device.accounts_total": 1_000 });
  expect([one.rules, many.rules]).toEqual([[], []]);
});

test("rule linked_fraud: the account's own fraud, a false alarm, or a page view is not enough", async () => {
  const stage = await Stage.open();
  await stage.play([used, { ...used, website_account_id: "accused", device_id: "d2" }]);
  await decided(stage, "fraudster", "CONFIRMED_FRAUD");
  await decided(stage, "accused", "CONFIRMED_FRAUD", "FALSE_POSITIVE");
  const played = await stage.play([
    { ...used, minute: 60 },
    { ...other, device_id: "d2" },
    { ...other, type: "page_view" },
    { ...other, type: "login_failed" },
  ]);
  expect(played.map(({ rules }) => rules)).toEqual([[], [], [], []]);
  expect(await stage.cases()).toEqual([]);
});

test("rule linked_fraud: a device on which the fraudster only failed to log in is not linked to the fraud", async () => {
  const stage = await Stage.open();
  await stage.play([{ ...used, type: "login_failed" }]);
  await decided(stage, "fraudster", "CONFIRMED_FRAUD");
  expect((await stage.playLast([other])).rules).toEqual([]);
});

test("rule reported_fraud: a report opens an Organic case of score 5 to escalate", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([{ minute: 0, type: "fraud_report", website_account_id: "owner" }]);
  expect(last).toMatchObject({ rules: ["reported_fraud"], score: 5 });
  expect(await stage.onlyCase()).toMatchObject({
    subject: "account:owner",
    website_account_id: "owner",
    details: {
      overall_risk_score: 5,
      primary_fraud_label: "Organic",
      recommended_action: "ESCALATE",
      summary: "Fraud was reported for this account (Organic).",
    },
  });
});

test("rule reported_fraud: a custom activity with that name is not a report", async () => {
  const stage = await Stage.open();
  const last = await stage.playLast([{ minute: 0, type: "custom:fraud_report", website_account_id: "owner" }]);
  expect(last).toMatchObject({ rules: [], score: 1 });
  expect(await stage.cases()).toEqual([]);
});
