import { randomUUID } from "node:crypto";
import { beforeAll } from "vitest";
import type { Service } from "../src/service.ts";
import { ended, startBacktest } from "./backtest-lab.ts";
import { insertDecided, makeRule, makeTraces } from "./decided.ts";
import { TestTenant } from "./harness.ts";
import { makeList } from "./lists-lab.ts";
import { insertTestModel } from "./models-lab.ts";
import { makeOthers } from "./people.ts";
import { storeApproval } from "./stored-approval.ts";
import { storeSnooze } from "./stored-snooze.ts";

// A tenant with one open case, and everything a request needs to be valid, or invalid in exactly one way.
export type World = {
  tenant: TestTenant;
  other: TestTenant;
  caseId: string;
  spareCaseId: string;
  account: string;
  // The other ids a path may contain: a rule, a list, a role, an issuer, a SCIM token and group, a finished backtest, a model, a decision, a webhook, a user, a client, a
  // session, a device, an address, a snooze, a view, an approval request.
  ids: Record<
    | "rule_id"
    | "list_name"
    | "role_name"
    | "issuer_key"
    | "scim_token_id"
    | "scim_group_id"
    | "backtest_id"
    | "model_id"
    | "prediction_id"
    | "user_id"
    | "webhook_id"
    | "client_id"
    | "session_id"
    | "device_id"
    | "ip"
    | "snooze_id"
    | "view_id"
    | "approval_id",
    string
  >;
  expiredToken: string;
  // An idempotency key that was already used for another request.
  knownKey: string;
};

export async function createWorld(service: Service): Promise<World> {
  const [tenant, other] = await Promise.all([TestTenant.create(service), TestTenant.create(service)]);
  const account = `account-${randomUUID()}`;
  const opened = await tenant.openCase(account);
  const { case_id: spareCaseId } = await tenant.openCase();
  const knownKey = randomUUID();
  // A stale version is rejected and changes nothing, but the rejection is bound to the key.
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1_000_000 }, knownKey);
  const expiredToken = await tenant.mint(undefined, -60);
  return { tenant, other, caseId: opened.case_id, spareCaseId, account, ids: await makeIds(tenant), expiredToken, knownKey };
}

async function makeIds(tenant: TestTenant): Promise<World["ids"]> {
  const { rule_id } = await makeRule(tenant, newRuleId());
  const list_name = newRuleId();
  await makeList(tenant, { name: list_name, type: "ip", kind: "block" }, ["203.0.113.7"]);
  const { backtest_id } = await startBacktest(tenant, { expression: "device.accounts_1h >= 8" });
  await ended(tenant, backtest_id);
  // Without an account, because one of the operations erases an account.
  const prediction_id = randomUUID();
  await insertDecided(tenant, [{ prediction_id }]);
  const webhook_id = await makeWebhook(tenant);
  const model_id = await insertTestModel(tenant, { state: "RETIRED" });
  const snooze_id = await storeSnooze(tenant.service.database, tenant.tenantId, `account-${randomUUID()}`);
  const view = await tenant.call("POST", "/views", { body: { name: "A view" } });
  return {
    rule_id,
    list_name,
    backtest_id,
    model_id,
    prediction_id,
    webhook_id,
    snooze_id,
    approval_id: await storeApproval(tenant.service.database, tenant.tenantId, "x"),
    view_id: (view.json.data as { view_id: string }).view_id,
    ...(await makeOthers(tenant)),
    ...(await makeTraces(tenant)),
  };
}

// Disabled, so that nothing is sent.
async function makeWebhook(tenant: TestTenant): Promise<string> {
  const made = await tenant.call("POST", "/webhooks", { body: { url: "https://crm.example/hook" } });
  const { webhook }: { webhook: { webhook_id: string } } = made.json.data;
  await tenant.call("PUT", `/webhooks/${webhook.webhook_id}`, { body: { is_enabled: false } });
  return webhook.webhook_id;
}

// Ids that do not exist.
export function absentParams(): Record<string, string> {
  const [case_id, backtest_id, prediction_id] = [randomUUID(), randomUUID(), randomUUID()];
  const people = { user_id: randomUUID(), client_id: `t-${randomUUID()}-${randomUUID().slice(24)}` };
  const [session_id, device_id, ip] = [randomUUID(), randomUUID(), randomUUID()];
  return {
    ...people,
    case_id,
    backtest_id,
    prediction_id,
    session_id,
    device_id,
    ip,
    website_account_id: `account-${randomUUID()}`,
    rule_id: newRuleId(),
    list_name: newRuleId(),
    role_name: `role-${randomUUID().slice(0, 8)}`,
    issuer_key: `issuer-${randomUUID().slice(0, 8)}`,
    model_id: randomUUID().replaceAll("-", "").repeat(2),
    webhook_id: randomUUID(),
    snooze_id: randomUUID(),
    view_id: randomUUID(),
    scim_token_id: randomUUID(),
    scim_group_id: randomUUID(),
    approval_id: randomUUID(),
  };
}

function newRuleId(): string {
  return `rule_${randomUUID().replaceAll("-", "")}`;
}

// All rejections of a file share one world, because they change nothing. The tests check that.
export function useWorld(service: { current: Service }): { current: World } {
  const holder: { current: World } = { current: undefined as never };
  beforeAll(async () => {
    holder.current = await createWorld(service.current);
  });
  return holder;
}
