import { randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { insertActivities, newActivity } from "../src/db/inbox.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { addIdentityCounts } from "../src/db/identity.ts";
import { clientTokens, deliver } from "@casehound/simulator/courier";
import { demoTimeline } from "@casehound/simulator/demo";
import type { Delivery } from "@casehound/simulator/delivery";
import { startService } from "../src/service.ts";
import { checkFile, describeTables, digestTables, findTorn, readLogEnds, within } from "./backup-lab.ts";
import { runCli } from "./cli.ts";
import { TestTenant, send, testConfig, type Answer } from "./harness.ts";
import { makeSecret } from "./identity.ts";
import { freePort } from "./launch.ts";
import { makeList } from "./lists-lab.ts";
import { invite } from "./people.ts";
import { eventually, useProcesses, useServer } from "./process.ts";

const processes = useProcesses();
const server = useServer(processes.folder);
const publicUrl = "https://casehound.example";
const origin = "https://shop.example";
const start = (databaseUrl: string) => startService(testConfig({ databaseUrl, publicUrl }));

type Known = {
  slug: string;
  token: string;
  paths: string[];
  answers: string[];
  replay: { path: string; body: unknown; key: string };
};

// Requests to a populated database, and their responses, recorded before the backup.
let origins: { url: string; file: string; known: Known; first: Answer };

function* some(deliveries: Iterable<Delivery>, events: number): Generator<Delivery> {
  let left = events;
  for (const delivery of deliveries) {
    if (left-- <= 0) return;
    yield delivery;
  }
}

async function visit(tenant: TestTenant): Promise<void> {
  const allowed = await tenant.call("PUT", "/tenants", { body: { allowed_origins: [origin] } });
  expect(allowed.status, allowed.text).toBe(200);
  const { port, url } = { port: tenant.service.port, url: `http://127.0.0.1:${tenant.service.port}` };
  const { clickstream_app_id: appKey } = (await tenant.call("GET", "/tenants")).json.data as { clickstream_app_id: string };
  const token = clientTokens({ baseUrl: url, clientId: tenant.clientId, clientSecret: tenant.clientSecret });
  const startMs = Date.now() - 60_000;
  const demo = demoTimeline({ seed: "backup", startMs, appKey, origin });
  const target = { baseUrl: url, tenant: tenant.slug, token };
  expect(await deliver(some(demo.backlog(), 4), target)).toMatchObject({ refused: 0 });
  expect(await deliver(some(demo.live(startMs), 150), target)).toMatchObject({ refused: 0 });
  const headers = { origin, "content-type": "application/json" };
  await send(port, "POST", `/collect/${appKey}`, { rawBody: "no JSON", headers });
}

// Whether detection writes these rows depends on what the demo's visitors happen to do.
async function attack({ tenantId, service }: TestTenant, caseId: string): Promise<void> {
  const texts = [
    "insert into case_claims (tenant_id, website_account_id, case_id) values ($1, 'a', $2)",
    "insert into case_members (tenant_id, case_id, website_account_id, state, seen_at) values ($1, $2, 'a', 'entered', now())",
    "insert into case_traits (tenant_id, trait, rule_id, case_id, size, seen_at) values ($1, gen_random_uuid(), 'r', $2, 1, now())",
  ];
  for (const text of texts) await service.database.query(statement(text, [tenantId, caseId]));
}

async function decide(tenant: TestTenant): Promise<{ path: string; body: unknown; key: string; first: Answer }> {
  const [closed, reopened] = [await tenant.openCase(), await tenant.openCase()];
  await tenant.put(reopened.case_id, { status: "CLOSED", case_version: 1 });
  await tenant.put(reopened.case_id, { status: "OPEN", case_version: 2 });
  const flagged = await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "flagged", is_blocked: true } });
  expect(flagged.status, flagged.text).toBe(201);
  // Characters that are special in COPY's text format.
  const { user } = await invite(tenant, "lead");
  const name = "\\N\t\\.\n\\\\ \u001f\r\u2028 \u{1f600} \"'";
  await tenant.service.database.query(statement("update users set name = $1 where user_id = $2", [name, user.user_id]));
  const backtest = await tenant.call("POST", "/backtests", { body: { expression: "device.accounts_1h >= 8", days: 3 } });
  expect(backtest.status, backtest.text).toBe(202);
  const hook = await tenant.call("POST", "/webhooks", { body: { url: "https://crm.example/hook" } });
  expect(hook.status, hook.text).toBe(201);
  await makeSecret(tenant);
  await makeList(tenant, { name: "vip", type: "device", kind: "watch" }, ["phone", "tablet"]);
  const removed = await tenant.call("POST", "/lists/vip/entries/remove", { body: { values: ["tablet"] } });
  expect(removed.json.data).toEqual({ removed: 1 });
  const counts = [{ day: "2026-11-15", source: "signed" as const, count: 1 }];
  await tenant.service.database.transaction((tx) => addIdentityCounts(tx, tenant.tenantId, counts));
  await attack(tenant, closed.case_id);
  const [path, key] = [`/cases/${closed.case_id}`, randomUUID()];
  const body = { status: "CLOSED", case_version: 1, disposition: "CONFIRMED_FRAUD" };
  const first = await tenant.call("PUT", path, { body, key });
  expect(first.status, first.text).toBe(200);
  return { path, body, key, first };
}

async function settle(tenant: TestTenant): Promise<void> {
  await eventually(async () => {
    const waiting = await tenant.service.database.query(statement("select 1 from inbox limit 1", []));
    const running = await tenant.service.database.query(
      statement("select 1 from backtests where status in ('QUEUED', 'RUNNING') limit 1", []),
    );
    const messages = await tenant.service.database.query(statement("select 1 from webhook_deliveries limit 1", []));
    expect([...waiting, ...running]).toEqual([]);
    expect(messages).not.toEqual([]);
  });
}

async function leaveUnscored(url: string, tenantId: string): Promise<void> {
  const database = new Database({ connectionString: url });
  const at = new Date().toISOString();
  const activity = { activity_id: randomUUID(), type: "page_view", origin: "server", received_at: at, occurred_at: at } as const;
  await database.transaction((tx) => insertActivities(tx, tenantId, [newActivity(activity)]));
  await database.end();
}

const asked = [
  "/cases?limit=50",
  "/events?limit=100",
  "/enduseraccounts?limit=50",
  "/rules",
  "/lists",
  "/lists/vip/entries",
  "/users",
  "/quarantine",
  "/backtests",
];

beforeAll(async () => {
  const url = await server.newDatabase();
  const service = await start(url);
  const other = await TestTenant.create(service);
  const tenant = await TestTenant.create(service);
  await visit(tenant);
  const { first, ...replay } = await decide(tenant);
  await settle(tenant);
  const { next_cursor: cursor } = (await tenant.call("GET", "/cases?limit=1")).json.data as { next_cursor: string };
  const paths = [...asked, replay.path, `${replay.path}/events`, `/cases?limit=1&cursor=${cursor}`];
  const answers: string[] = [];
  for (const path of paths) answers.push((await tenant.call("GET", path)).text);
  await service.stop();
  await leaveUnscored(url, other.tenantId);
  const file = join(processes.folder(), "backup");
  const { code, err, out } = await runCli(["backup", file, "--json"], { DATABASE_URL: url });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toMatchObject({ file, bytes: statSync(file).size });
  origins = { url, file, known: { slug: tenant.slug, token: tenant.token, paths, answers, replay }, first };
}, 240_000);

async function expectSame(url: string): Promise<void> {
  const [before, after] = [await within(origins.url, digestTables), await within(url, digestTables)];
  expect(after).toEqual(before);
  const empty = Object.entries(before).filter(([, digest]) => digest === "0 ");
  // The few tables that this scenario leaves empty.
  expect(empty.map(([name]) => name).toSorted()).toEqual([
    "approval_cases",
    "approvals",
    "assessments",
    "case_handovers",
    "case_leases",
    "case_money",
    "case_notes",
    "closing_settings",
    "history",
    "imports",
    "issuer_state",
    "labels",
    "member_closes",
    "model_runs",
    "models",
    "notices",
    "notification_mails",
    "notification_settings",
    "policies",
    "random_checks",
    "rule_limits",
    "saved_views",
    "scim_group_members",
    "scim_groups",
    "scim_people",
    "scim_settings",
    "scim_tokens",
    "sign_in_attempts",
    "sign_in_issuers",
    "snoozes",
    "tenant_roles",
    "unscorable",
    "user_passkeys",
    "user_recovery_codes",
    "user_totp",
    "web_sessions",
  ]);
  expect(await within(url, describeTables)).toEqual(await within(origins.url, describeTables));
}

// The same requests with the same token return the same bytes, and the service accepts changes.
async function expectAlive(url: string): Promise<void> {
  const { slug, token, paths, answers, replay } = origins.known;
  const service = await start(url);
  try {
    const call = (method: string, path: string, more = {}) =>
      send(service.port, method, `/v2/${slug}${path}`, { token, ...more });
    for (const [index, path] of paths.entries()) expect((await call("GET", path)).text, path).toBe(answers[index]);
    const again = await call("PUT", replay.path, { body: replay.body, key: replay.key });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.text).toBe(origins.first.text);
    const last = await within(url, readLogEnds);
    const reopened = await call("PUT", replay.path, { body: { status: "OPEN", case_version: 2 }, key: randomUUID() });
    expect(reopened.status, reopened.text).toBe(200);
    const now = await within(url, readLogEnds);
    const moved = Object.keys(now).filter((id) => now[id] !== last[id]);
    expect(moved.map((id) => Number(now[id]) - Number(last[id]))).toEqual([1]);
    expect(await within(url, findTorn)).toEqual([]);
  } finally {
    await service.stop();
  }
}

test("backup: writes one file that only its owner can read, and nothing beside it", async () => {
  expect(statSync(origins.file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(origins.file))).toEqual(["backup"]);
  const { tables, days } = await checkFile(origins.file);
  expect(tables.length).toBeGreaterThan(30);
  expect(days.length).toBeGreaterThan(0);
});

test("restore: in an empty database, every row and index is restored and the service continues", async () => {
  const url = await server.newDatabase();
  const { code, err, out } = await runCli(["restore", origins.file, "--json"], { DATABASE_URL: url });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const { tables } = await checkFile(origins.file);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  expect(JSON.parse(out)).toMatchObject({ file: origins.file, tables: tables.length, rows, applied: [], left_out: [] });
  await expectSame(url);
  await expectAlive(url);
});

test("restore: creates a data folder that does not exist yet", async () => {
  const dataDir = join(processes.folder(), "new");
  const { code, err, out } = await runCli(["restore", origins.file], { DATA_DIR: dataDir });
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^[\d,]+ rows of \d+ tables, \d+\.\d MB, \d+\.\d s, of 20\S+Z from .*\nStart the service [^\n]*\n$/);
  const port = await freePort();
  await processes.start({ DATA_DIR: dataDir, PUBLIC_URL: publicUrl, PORT: String(port) });
  const url = `postgresql://casehound@/postgres?host=${encodeURIComponent(join(dataDir, "run"))}`;
  const { slug, token, paths, answers } = origins.known;
  for (const [index, path] of paths.entries())
    expect((await send(port, "GET", `/v2/${slug}${path}`, { token })).text, path).toBe(answers[index]);
  expect(await within(url, findTorn)).toEqual([]);
});
