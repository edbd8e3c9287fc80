import type { Rule, RuleChange } from "@casehound/client";
import { expect } from "vitest";
import { insertDecided, noonBefore } from "../../service/test/decided.ts";
import { insertQuarantine } from "../../service/src/db/quarantine.ts";
import { clock } from "../../service/src/clock.ts";
import { quarantineMeanings, type QuarantineReason } from "../../service/src/domain/quarantine.ts";
import { definitionOf } from "../src/changes/rules.ts";
import type { TestTenant } from "../../service/test/harness.ts";

export const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

// Quarantines entries as a collector would.
export async function quarantine(tenant: TestTenant, put: { reason: QuarantineReason; excerpt: string }[]): Promise<void> {
  const now = clock.now();
  const entries = put.map(({ reason, excerpt }) => ({
    quarantine_id: clock.newId(now),
    reason,
    detail: quarantineMeanings[reason],
    excerpt,
    received_at: now,
    count: 1,
  }));
  await tenant.service.database.transaction((tx) => insertQuarantine(tx, tenant.tenantId, entries));
}

export const id = "stuffing_device";
export const name = "Credential stuffing from one device";
export const expression = "device.accounts_1h >= 8";
export const made: RuleChange = {
  name: "Many at once",
  expression,
  sentence: "{device.accounts_1h} accounts.",
  label: "Bot",
  weight: 3,
  about: "account",
  state: "off",
  rule_version: 0,
};

export async function readRule(tenant: TestTenant, ruleId = id): Promise<Rule> {
  return (await tenant.call("GET", `/rules/${ruleId}`)).json.data;
}

export async function putRule(tenant: TestTenant, ruleId: string, body: RuleChange): Promise<void> {
  const answer = await tenant.call("PUT", `/rules/${ruleId}`, { body });
  expect(answer.status, answer.text).toBe(200);
}

export async function changeRule(tenant: TestTenant, change: Partial<RuleChange>): Promise<void> {
  const rule = await readRule(tenant);
  await putRule(tenant, id, { ...definitionOf(rule), rule_version: rule.rule_version, ...change });
}

function decision(count: number) {
  return {
    v: 1,
    l: 0,
    f: { "event.type": "page_view", "device.accounts_1h": count },
    r: { [id]: 1 },
  };
}

// Three hits of the expression above on two accounts. One of the accounts already had a score of 3.
export async function fill(tenant: TestTenant, account = "ann"): Promise<void> {
  await insertDecided(tenant, [
    { received_at: noonBefore(1), website_account_id: account, score: 3, decision: decision(8) },
    { received_at: noonBefore(2), website_account_id: account, decision: decision(9) },
    { received_at: noonBefore(2), website_account_id: "bob", decision: decision(12) },
    { received_at: noonBefore(3), website_account_id: "cid", decision: decision(2) },
  ]);
}
