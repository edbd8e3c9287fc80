import { expect, test } from "vitest";
import { insertRuleVersion, lockSettings, raiseRevision } from "../src/db/rules.ts";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { deleteEntries } from "../src/db/value-lists.ts";
import { readDecision } from "../src/detection/model/dataset.ts";
import { explain } from "../src/detection/explanation.ts";
import type { StoredDecision } from "../src/domain/decision.ts";
import type { NewList } from "../src/domain/list.ts";
import { draftRule } from "./decided.ts";
import { newDetector } from "./harness.ts";
import { storeList } from "./lists-lab.ts";
import { addressIn, Stage, withCountries, type Step } from "./stage.ts";
import { detectBatch } from "../src/engine/detect.ts";

const list = (more: Partial<NewList> = {}): NewList => ({ name: "listed", type: "ip", kind: "block", ...more });

async function decisionOf(
  { tenant }: Stage,
  activityId: string,
): Promise<{ score: number; stored: StoredDecision; text: string }> {
  const text = "select score, decision from activities where tenant_id = $1 and activity_id = $2";
  const [row] = await tenant.database.query<{ score: number; decision: string }>(statement(text, [tenant.tenantId, activityId]));
  if (!row) throw new Error(`${activityId} was not stored`);
  return { score: row.score, stored: JSON.parse(row.decision), text: row.decision };
}

// What GET /decisions shows of it, apart from rules.
function explained({ stored }: { stored: StoredDecision }, type: string) {
  return explain({ decision: stored, attributes: {}, type, versions: [] });
}

async function saveRule({ tenant: { database, tenantId } }: Stage, expression: string): Promise<void> {
  const { rule_version: _version, ...rule } = { ...draftRule, expression };
  const now = new Date().toISOString();
  await database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, now);
    await insertRuleVersion(tx, tenantId, { ...rule, rule_id: "own", rule_version: 1, updated_at: now, updated_by: "somebody" });
    await raiseRevision(tx, tenantId);
  });
}

const pay: Step = {
  minute: 1,
  type: "payment",
  website_account_id: "ann",
  device_id: "phone",
  ip: "203.0.113.9",
  amount: 20,
  currency: "EUR",
};
const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const email = { attributes: { email: "Ann@Mail.Example.com" } };

const hits: [NewList["type"], string, Partial<Step>][] = [
  ["account", "ann", {}],
  ["device", "phone", {}],
  ["ip", "203.0.113.9", {}],
  ["ip", "203.0.113.0/24", {}],
  ["ip", "2001:db8::/32", { ip: "2001:db8:1::5" }],
  ["ip", "203.0.113.9", { ip: "::ffff:203.0.113.9" }],
  ["email", "ann@mail.example.com", email],
  ["email_domain", "example.com", email],
  ["email_domain", "mail.example.com", email],
  ["payee", "mule", { payee_id: "mule" }],
  ["instrument", "fp_1", { instrument: { fingerprint: "fp_1" } }],
  ["instrument", "424242 4242", { instrument: { bin: "424242", last4: "4242" } }],
  ["user_agent", "partnerapp", { user_agent: `${chrome} PartnerApp/7` }],
];

test.each(hits)("block: a %s list with %s gives score 5 and opens a case that says why", async (type, value, more) => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ type, label: "Synthetic" }), [value]);
  const [played] = await stage.play([{ ...pay, ...more }]);
  expect(played?.score).toBe(5);
  const found = await stage.onlyCase();
  expect(found.details).toMatchObject({ overall_risk_score: 5, primary_fraud_label: "Synthetic", recommended_action: "BLOCK" });
  expect(found.details.highlights[0]).toContain("is on the block list listed.");
  const decision = await decisionOf(stage, played?.activity_id ?? "");
  expect(decision.stored.b).toEqual([2, "listed"]);
  const { log_odds, recomputed, contributions, lists, lists_revision } = explained(decision, "payment");
  expect({ lists, lists_revision }).toEqual({ lists: ["listed"], lists_revision: 2 });
  expect(contributions).toContainEqual({ name: "list.listed", plain_name: "On the block list listed", log_odds: 8 });
  expect(recomputed).toEqual({ log_odds, score: 5 });
  // A model must not learn from somebody's list.
  expect(readDecision(decision.text).rules).toBe(0);
});

const misses: [NewList["type"], string, Partial<Step>][] = [
  ["account", "Ann", {}],
  ["ip", "203.0.112.0/24", {}],
  ["email_domain", "ample.com", email],
  ["email_domain", "other.mail.example.com", email],
  ["email", "ann@mail.example.com", { attributes: { email: 7 } }],
  ["payee", "mule", { attributes: { payee_id: "mule" } }],
  ["user_agent", "partnerapp", { user_agent: chrome }],
];

test.each(misses)("block: a %s list with %s does not hit %j", async (type, value, more) => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ type }), [value]);
  const [played] = await stage.play([{ ...pay, ...more }]);
  expect(played?.score).toBe(1);
  expect(await stage.cases()).toEqual([]);
  expect((await decisionOf(stage, played?.activity_id ?? "")).stored.b).toBeUndefined();
});

test("block: countries and networks come from the address", async () => {
  const stage = await Stage.open(withCountries());
  const [first] = await stage.play([{ ...pay, ip: addressIn("Berlin") }]);
  const { country, asn } = { country: String(first?.features["event.country"]), asn: String(first?.features["event.asn"]) };
  await storeList(stage.tenant, list({ name: "lands", type: "country", kind: "watch" }), [country]);
  await storeList(stage.tenant, list({ name: "nets", type: "asn", kind: "block" }), [asn]);
  const played = await stage.playLast([{ ...pay, minute: 2, ip: addressIn("Berlin", 2) }]);
  expect((await decisionOf(stage, played.activity_id)).stored.b?.slice(1)).toEqual(["lands", "nets"]);
  expect(played.score).toBe(5);
});

test("block: a failed log-in from a listed address is a case about the address, not about the account that somebody tried", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list(), ["203.0.113.9"]);
  await stage.play([{ ...pay, type: "login_failed" }]);
  expect(await stage.onlyCase()).toMatchObject({ subject: "ip:203.0.113.9", website_account_id: "UNKNOWN" });
});

test("block: false positives do not weaken a list", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ type: "device" }), ["phone"]);
  await stage.play([pay]);
  await stage.decide((await stage.onlyCase()).case_id, { status: "CLOSED", disposition: "FALSE_POSITIVE" });
  expect(await stage.playLast([{ ...pay, minute: 2 }])).toMatchObject({ score: 5 });
});

// Log-ins of one device to 12 accounts, which the default rules find.
const stuffing = (more: Partial<Step> = {}): Step[] =>
  Array.from({ length: 12 }, (_, index) => ({
    minute: 1 + index / 10,
    type: "login_failed",
    website_account_id: `account-${index}`,
    device_id: "burner",
    ip: "198.51.100.7",
    ...more,
  }));

test.each([
  ["ip", "198.51.100.7"],
  ["ip", "198.51.100.0/24"],
  ["device", "burner"],
] as const)("allow: a %s list with %s lowers the score to 1, and the decision says so", async (type, value) => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ name: "own", type, kind: "allow" }), [value]);
  const played = await stage.playLast(stuffing());
  expect(played.rules.length).toBeGreaterThan(0);
  expect(played.score).toBe(1);
  expect(await stage.cases()).toEqual([]);
  const decision = await decisionOf(stage, played.activity_id);
  const { contributions, lists, log_odds } = explained(decision, "login_failed");
  expect(lists).toEqual(["own"]);
  expect(contributions).toMatchObject([{ name: "list.own", plain_name: "On the allow list own" }]);
  expect(contributions[0]?.log_odds).toBeLessThan(-2.5);
  expect(log_odds).toBe(0);
});

test("allow: an allowed account does not hide the source that attacks it and others", async () => {
  const stage = await Stage.open();
  await storeList(
    stage.tenant,
    list({ name: "vip", type: "account", kind: "allow" }),
    stuffing().map((step) => step.website_account_id ?? ""),
  );
  await stage.play(stuffing());
  expect(await stage.onlyCase()).toMatchObject({ subject: "device:burner" });
});

test("allow: never hides a fraud report, whose case says that the account is listed", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ name: "vip", type: "account", kind: "allow" }), ["ann"]);
  const played = await stage.playLast([{ ...pay, type: "fraud_report" }]);
  expect(played.score).toBe(5);
  const { details } = await stage.onlyCase();
  expect(details).toMatchObject({ overall_risk_score: 5, recommended_action: "ESCALATE" });
  expect(details.highlights).toContain("The account is on the allow list vip.");
  const { recomputed, contributions } = explained(await decisionOf(stage, played.activity_id), "fraud_report");
  expect([recomputed.score, contributions]).toEqual([5, []]);
});

test("allow: a block list is stronger", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ name: "vip", type: "account", kind: "allow" }), ["ann"]);
  await storeList(stage.tenant, list({ name: "stolen", type: "device" }), ["phone"]);
  const played = await stage.playLast([pay]);
  expect(played.score).toBe(5);
  expect((await decisionOf(stage, played.activity_id)).stored.b?.slice(1)).toEqual(["stolen", "vip"]);
});

test("watch and custom: change no score; a case mentions a watch list only", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ name: "seen", type: "device", kind: "watch" }), ["burner"]);
  await storeList(stage.tenant, list({ name: "mine", type: "device", kind: "custom" }), ["burner", "phone"]);
  expect(await stage.playLast([pay])).toMatchObject({ score: 1 });
  const played = await stage.playLast(stuffing());
  const { details } = await stage.onlyCase();
  expect(details.highlights).toContain("The device is on the watch list seen.");
  expect(details.highlights.join(" ")).not.toContain("mine");
  expect((await decisionOf(stage, played.activity_id)).stored.b?.slice(1)).toEqual(["mine", "seen"]);
});

test("expiry: an entry has no effect from its time on", async () => {
  const stage = await Stage.open();
  const past = new Date(Date.now() - 1_000).toISOString();
  await storeList(stage.tenant, list({ type: "device" }), [{ value: "phone", expires_at: past }]);
  await storeList(stage.tenant, list({ name: "range" }), [{ value: "203.0.113.0/24", expires_at: past }]);
  await storeList(stage.tenant, list({ name: "bots", type: "user_agent" }), [{ value: "partnerapp", expires_at: past }]);
  expect(await stage.playLast([{ ...pay, user_agent: `${chrome} PartnerApp/7` }])).toMatchObject({ score: 1 });
});

test("changes: what is added or removed counts in the next batch of every engine", async () => {
  const stage = await Stage.open();
  const { tenant } = stage;
  const other = newDetector(tenant.database);
  const scoreBy = async (detector: typeof other, minute: number) => {
    await tenant.send({ ...pay, activity_id: `by-${minute}`, occurred_at: stage.at(minute) });
    await detectBatch(detector, tenant.tenantId);
    return (await decisionOf(stage, `by-${minute}`)).score;
  };
  const engines = [tenant.detector, other];
  await storeList(tenant, list({ type: "device" }), ["tablet"]);
  for (const [index, engine] of engines.entries()) expect(await scoreBy(engine, index)).toBe(1);
  await storeList(tenant, list({ name: "second", type: "device" }), ["phone"]);
  for (const [index, engine] of engines.entries()) expect(await scoreBy(engine, 10 + index)).toBe(5);
  await tenant.database.transaction(async (tx) => {
    await lockSettings(tx, tenant.tenantId, new Date().toISOString());
    expect(await deleteEntries(tx, tenant.tenantId, { list_name: "second", keys: ["phone"] })).toBe(1);
  });
  for (const [index, engine] of engines.entries()) expect(await scoreBy(engine, 20 + index)).toBe(1);
});

test("rules: a rule reads a list, and its finding and its explanation show that", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ name: "risky", type: "email_domain", kind: "custom" }), ["example.com"]);
  await saveRule(stage, 'event.type == "payment" && lists.risky.has(event.email)');
  const [miss, hit] = await stage.play([
    { ...pay, attributes: { email: "ann@example.org" } },
    { ...pay, minute: 2, ...email },
  ]);
  expect([miss?.rules, hit?.rules]).toEqual([[], ["own"]]);
  const [occurrence] = Object.values((await stage.onlyCase()).fraud_occurrences);
  const behaviour = occurrence?.explanation.model_behaviour?.find(({ model_name }) => model_name === "own");
  expect(behaviour?.top_contributors).toMatchObject([
    { feature: "lists.risky", plain_name: "On the list risky", feature_value: true },
  ]);
});

test("rules: an attribute can be looked up, and without a value a lookup is false", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ name: "plans", type: "text", kind: "custom" }), ["gold", "7"]);
  await saveRule(stage, '!lists.plans.has(event.attributes.plan) && event.type == "payment"');
  const played = await stage.play([
    { ...pay, attributes: { plan: "gold" } },
    { ...pay, minute: 2, attributes: { plan: 7 } },
    { ...pay, minute: 3, attributes: { plan: "tin" } },
    { ...pay, minute: 4, attributes: {} },
    { ...pay, minute: 5, attributes: { plan: true } },
  ]);
  expect(played.map(({ rules }) => rules.length)).toEqual([0, 0, 1, 1, 1]);
});

test("hits: are counted by day, once for each activity", async () => {
  const stage = await Stage.open();
  await storeList(stage.tenant, list({ type: "device", kind: "watch" }), ["phone"]);
  await stage.play([pay, { ...pay, minute: 2 }, { ...pay, minute: 3, device_id: "other" }]);
  const rows = await stage.tenant.database.query(sql`
    select rule_id, sum(hits)::int as hits
    from rule_hits
    where tenant_id = ${stage.tenant.tenantId}
    group by rule_id`);
  expect(rows).toEqual([{ rule_id: "list.listed", hits: 2 }]);
});

test("ip_policy: an address that is stored as a hash is found in that form too", async () => {
  const stage = await Stage.open();
  const { database, tenantId } = stage.tenant;
  await database.query(sql`update tenants set ip_policy = 'hash' where tenant_id = ${tenantId}`);
  const [first] = await stage.play([pay]);
  const [row] = await database.query<{ ip: string }>(
    sql`select ip from activities where tenant_id = ${tenantId} and activity_id = ${first?.activity_id}`,
  );
  await storeList(stage.tenant, list(), [row?.ip ?? ""]);
  expect(await stage.playLast([{ ...pay, minute: 2 }])).toMatchObject({ score: 5 });
  expect(await stage.playLast([{ ...pay, minute: 3, ip: "203.0.113.10" }])).toMatchObject({ score: 1 });
});
