import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { scopes } from "../../service/src/domain/scope.ts";
import { send, type Options } from "../../service/test/send.ts";
import type { Credentials } from "../../service/test/launch.ts";

const readScopes = ["read:cases", "read:case", "read:enduseraccount", "read:enduseraccounts", "read:rules", "read:events"];
const accounts = ["account-1", "account-2", "account-3", "account-4"];

// A tenant with one of everything that an operation can name.
export type World = {
  port: number;
  tenantId: string;
  slug: string;
  token: string;
  // A token of a client that may change nothing.
  readToken: string;
  appKey: string;
  origin: string;
  credentials: Credentials;
  ids: Record<string, string>;
  caseIds: string[];
};

export type Tenant = Credentials & { tenant_id: string };

export async function buildWorld(port: number, tenant: Tenant): Promise<World> {
  // The token does not belong to the tenant's first client, because that client's secret is revoked during the run.
  const first = await tokenOf(port, tenant);
  const made = await send(port, "POST", `/v2/${tenant.tenant}/clients`, { token: first, body: { scopes } });
  const own = made.json.data as { client: { client_id: string }; client_secret: string };
  const token = await tokenOf(port, { ...own.client, client_secret: own.client_secret });
  const call = async (method: string, path: string, options: Options = {}) => {
    const answer = await send(port, method, `/v2/${tenant.tenant}${path}`, { token, ...options });
    assert(answer.status < 300, `${method} ${path}: ${answer.text}`);
    // SCIM puts nothing around its resources.
    return path.startsWith("/scim/v2/") ? (answer.json as never) : answer.json.data;
  };
  const origin = "https://shop.example";
  await call("PUT", "/tenants", { body: { allowed_origins: [origin] } });
  // Without a secret, verification cannot be switched on.
  await call("POST", "/tenants/identity/secrets", { body: {} });
  await call("POST", "/activities", { body: { activities: [...accounts.map(reportOf), ...accounts.flatMap(visitOf)] } });
  const cases = await waitForCases(() => call("GET", "/cases"));
  const whole: { fraud_occurrences: Record<string, { prediction_id: string }> } = await call("GET", `/cases/${cases[0]}`);
  const { user }: { user: { user_id: string } } = await call("POST", "/users", {
    body: { email: `${tenant.tenant}@shop.example`, name: "Ada", role: "investigator" },
  });
  type Made = { client: { client_id: string }; client_secret: string };
  const reader: Made = await call("POST", "/clients", { body: { scopes: readScopes } });
  const { client }: { client: { client_id: string } } = await call("POST", "/clients", { body: { scopes: readScopes } });
  const backtest: { backtest_id: string } = await call("POST", "/backtests", {
    body: { expression: 'event.type == "login_failed"', days: 1 },
  });
  const [directory] = await Promise.all([makeDirectory(call), makeLists(call), makeAccess(call)]);
  const { view_id }: { view_id: string } = await call("POST", "/views", { body: { name: "Open cases", is_shared: true } });
  const { webhook }: { webhook: { webhook_id: string } } = await call("POST", "/webhooks", {
    body: { url: "https://crm.example/" },
  });
  // Switched off, so that nothing is sent.
  await call("PUT", `/webhooks/${webhook.webhook_id}`, { body: { is_enabled: false } });
  const { clickstream_app_id }: { clickstream_app_id: string } = await call("GET", "/tenants");
  const { rules }: { rules: { rule_id: string }[] } = await call("GET", "/rules");
  await fillQuarantine(port, clickstream_app_id);
  return {
    port,
    tenantId: tenant.tenant_id,
    slug: tenant.tenant,
    token,
    readToken: await tokenOf(port, { ...reader.client, client_secret: reader.client_secret }),
    appKey: clickstream_app_id,
    origin,
    credentials: tenant,
    caseIds: cases,
    ids: {
      tenant_slug: tenant.tenant,
      case_id: cases[0] ?? "",
      website_account_id: accounts[0] ?? "",
      session_id: `session-${accounts[0]}`,
      device_id: "device-1",
      ip: "203.0.113.7",
      rule_id: rules[0]?.rule_id ?? "",
      list_name: "bad_addresses",
      role_name: "auditors",
      issuer_key: "company",
      ...directory,
      backtest_id: backtest.backtest_id,
      prediction_id: Object.values(whole.fraud_occurrences)[0]?.prediction_id ?? "",
      client_id: client.client_id,
      user_id: user.user_id,
      webhook_id: webhook.webhook_id,
      view_id,
      app_key: clickstream_app_id,
    },
  };
}

// Policies use the second list, so that the first one can be deleted.
async function makeAccess(call: (method: string, path: string, options?: Options) => Promise<unknown>): Promise<void> {
  await call("POST", "/roles", { body: { role: "auditors", scopes: ["read:cases"] } });
  const secret = { client_id: "casehound", client_secret: "secret" };
  const issuer = { issuer_key: "company", name: "Company", issuer: "https://id.example", ...secret };
  await call("POST", "/issuers", { body: issuer });
}

// So that its list has several pages.
async function fillQuarantine(port: number, appKey: string): Promise<void> {
  for (const text of ["{", "[", "7"]) await send(port, "POST", `/collect/${appKey}`, { rawBody: text });
}

async function makeDirectory(
  call: (method: string, path: string, options?: Options) => Promise<unknown>,
): Promise<{ scim_token_id: string; scim_group_id: string }> {
  const { scim_token } = (await call("POST", "/scim/tokens", { body: { name: "company" } })) as {
    scim_token: { scim_token_id: string };
  };
  const group = (await call("POST", "/scim/v2/Groups", { body: { displayName: "Company" } })) as { id: string };
  return { scim_token_id: scim_token.scim_token_id, scim_group_id: group.id };
}

async function makeLists(call: (method: string, path: string, options?: Options) => Promise<unknown>): Promise<void> {
  await call("POST", "/lists", { body: { name: "bad_addresses", type: "ip", kind: "watch" } });
  await call("POST", "/lists", { body: { name: "in_policies", type: "account", kind: "watch" } });
  await call("POST", "/lists/bad_addresses/entries", {
    body: { entries: ["203.0.113.7", "203.0.113.8"].map((value) => ({ value })) },
  });
}

async function tokenOf(port: number, { client_id, client_secret }: Omit<Credentials, "tenant">): Promise<string> {
  const rawBody = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const answer = await send(port, "POST", "/v2/oauth/token", { rawBody, headers });
  assert.equal(answer.status, 200, answer.text);
  return (JSON.parse(answer.text) as { access_token: string }).access_token;
}

function reportOf(account: string): unknown {
  return { activity_id: `report-${account}`, type: "fraud_report", occurred_at: now(), website_account_id: account };
}

function visitOf(account: string): unknown[] {
  return ["login_failed", "login_succeeded", "payment"].map((type) => ({
    activity_id: `${type}-${account}`,
    type,
    occurred_at: now(),
    website_account_id: account,
    session_id: `session-${account}`,
    device_id: "device-1",
    ip: "203.0.113.7",
  }));
}

function now(): string {
  return new Date().toISOString();
}

async function waitForCases(list: () => Promise<{ cases: { case_id: string }[] }>): Promise<string[]> {
  for (;;) {
    const { cases } = await list();
    if (cases.length >= accounts.length) return cases.map(({ case_id }) => case_id);
    await sleep(50);
  }
}
