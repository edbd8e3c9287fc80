import { insertRuleVersion, listRules, raiseRevision } from "../src/db/rules.ts";
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { insertCase } from "../src/db/cases.ts";
import { insertOutcomes } from "../src/db/outcomes.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { accountSubject } from "../src/domain/activity.ts";
import { openCase } from "../src/domain/case.ts";
import type { Label } from "../src/domain/finding.ts";
import { Stage, type Step } from "./stage.ts";

function tries(count: number, make: (index: number) => Partial<Step>): Step[] {
  return Array.from({ length: count }, (_, index): Step => ({ minute: index / 10, type: "login_failed", ...make(index) }));
}

test("decisions: if a sign-up opens a case for its account and one for its device, both lead to one decision with their score", async () => {
  const stage = await Stage.open();
  const { database, tenantId } = stage.tenant;
  // By default the rule is about the device. This tenant's is about the account.
  await database.transaction(async (tx) => {
    const rule = (await listRules(tx, tenantId)).find(({ rule_id }) => rule_id === "signups_disposable");
    if (!rule) throw new Error("the default rule signups_disposable is missing");
    await insertRuleVersion(tx, tenantId, { ...rule, about: "account", rule_version: rule.rule_version + 1 });
    await raiseRevision(tx, tenantId);
  });
  const signups = Array.from({ length: 4 }, (_, minute): Step => ({
    minute,
    type: "signup",
    website_account_id: `new-${minute}`,
    device_id: "tablet",
    attributes: { email: minute === 3 ? "a@mailinator.com" : "a@example.com" },
  }));
  const last = await stage.playLast(signups);
  expect(last.rules.toSorted()).toEqual(["signups_device", "signups_disposable"]);
  const cases = await stage.cases();
  expect(cases.map(({ subject }) => subject).toSorted()).toEqual(["account:new-3", "device:tablet"]);
  expect([last.score, ...cases.map(({ details }) => details.overall_risk_score)]).toEqual([3, 3, 3]);
  const predictions = cases.map(({ fraud_occurrences: occurrences }) =>
    Object.values(occurrences).map((each) => each.prediction_id),
  );
  const text = "select prediction_id from activities where tenant_id = $1 and prediction_id is not null";
  const stored = await database.query<{ prediction_id: string }>(statement(text, [tenantId]));
  const [one] = stored.map((row) => row.prediction_id);
  expect({ stored: stored.length, predictions }).toEqual({ stored: 1, predictions: [[one], [one]] });
});

test("addresses: a host that uses a new IPv6 address of its /64 for every try counts as one address and one case", async () => {
  const stage = await Stage.open();
  await stage.play(tries(12, (index) => ({ website_account_id: `user-${index}`, ip: `2001:db8:1:2::${index + 1}` })));
  const found = await stage.onlyCase();
  expect(found).toMatchObject({ subject: "network:2001:db8:1::/48", website_account_id: "UNKNOWN" });
  const apart = await Stage.open();
  await apart.play(tries(12, (index) => ({ website_account_id: `user-${index}`, ip: `2001:db8:${index + 1}:2::1` })));
  expect(await apart.cases()).toEqual([]);
});

async function confirmed(stage: Stage, account: string, label: Label): Promise<void> {
  const { database, tenantId } = stage.tenant;
  const explanation = { fraud_reason: "x", fraud_reason_description: "x", fraud_types: [], model_behaviour: null };
  const finding = { score: 5 as const, label, action: "BLOCK" as const, summary: "x", highlights: [], explanation };
  const now = stage.at(10);
  const case_id = stage.tenant.detector.clock.newId(now);
  const ids = { case_id, state_id: randomUUID(), occurrence_id: randomUUID(), prediction_id: randomUUID() };
  const owner = { tenant_id: tenantId, website_account_id: account };
  const { document } = openCase(
    owner,
    { ...finding, source: "server", session_id: undefined, session_status: "FINISHED" },
    ids,
    now,
  );
  const outcome = { case_id, case_version: 2, subject: accountSubject(account), website_account_id: account };
  await database.transaction(async (tx) => {
    await insertCase(tx, { document, subject: accountSubject(account), end_user_is_blocked: false });
    await insertOutcomes(tx, tenantId, [{ ...outcome, disposition: "CONFIRMED_FRAUD", decided_at: now, decided_by: "x" }]);
  });
}

test.each<[Label, string[]]>([
  ["Synthetic", ["linked_fraud"]],
  ["Account Takeover", []],
])(
  "rule linked_fraud: after a confirmed %s others on the device get %j, because a victim's device is not the fraudster's",
  async (label, rules) => {
    const stage = await Stage.open();
    await stage.play([{ minute: 0, type: "login_succeeded", website_account_id: "first", device_id: "shared" }]);
    await confirmed(stage, "first", label);
    const last = await stage.playLast([{ minute: 60, type: "signup", website_account_id: "second", device_id: "shared" }]);
    expect(last.rules).toEqual(rules);
  },
);

test("rules: a hit is counted on the day it happened, not on the day it was reported", async () => {
  const stage = await Stage.open();
  await stage.play([{ minute: 0, type: "login_succeeded", website_account_id: "robot", user_agent: "curl/8.5.0" }]);
  const text =
    "select to_char(day, 'YYYY-MM-DD') as day, hits from rule_hits where tenant_id = $1 and rule_id = 'bot_past_login'";
  const rows = await stage.tenant.database.query(statement(text, [stage.tenant.tenantId]));
  expect(rows).toEqual([{ day: stage.at(0).slice(0, 10), hits: 1 }]);
});
