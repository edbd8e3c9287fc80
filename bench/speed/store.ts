// Stores of many cases, each a separate database in the benchmark's PostgreSQL, so their indexes differ in depth as on separate
// machines.
import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CasehoundClient } from "@casehound/client";
import { Issuer } from "../../service/src/api/tokens/issuer.ts";
import { clock } from "../../service/src/clock.ts";
import { Database } from "../../service/src/db/postgres/database.ts";
import { countUnscored } from "../../service/src/db/inbox.ts";
import { migrate } from "../../service/src/db/postgres/migrate.ts";
import { sql, statement } from "../../service/src/db/postgres/sql.ts";
import { insertClient, insertTenant } from "../../service/src/db/tenants.ts";
import { unknownAccount } from "../../service/src/domain/account.ts";
import type { CaseDocument } from "../../service/src/domain/case.ts";
import { scopes } from "../../service/src/domain/scope.ts";
import { clientTokens } from "@casehound/simulator/courier";
import { createTenant } from "../../service/src/tenancy.ts";
import { startProcess, type Bench, type ServiceUnderTest } from "../machine.ts";
import { openDemoCases } from "../many-cases.ts";
import type { Context } from "./part.ts";
import { loadCases } from "./store-load.ts";
import { makeTemplates, type Template } from "./store-templates.ts";

type StoreTenant = { tenant_id: string; slug: string; client_id: string; app_key: string };
export type Store = {
  cases: number;
  database: Database;
  url: string;
  tenants: StoreTenant[];
  // When the last case was opened. The first one was opened a year before.
  untilMs: number;
  loadSeconds: number;
};

export const origin = "https://shop.example";
// One public URL for all processes on a store, so a token is valid for each of them.
const publicUrl = "http://bench.example";
const reported = 6;
const templatesOf = new WeakMap<Bench, Promise<Template[]>>();
const storesOf = new WeakMap<Bench, Map<string, Promise<Store>>>();

type Wanted = { cases: number; tenants?: number };

// Loaded once for all callers. It ends with the benchmark's PostgreSQL.
export function openStore(context: Pick<Context, "bench" | "progress">, wanted: Wanted): Promise<Store> {
  const { bench } = context;
  const stores = storesOf.get(bench) ?? new Map<string, Promise<Store>>();
  storesOf.set(bench, stores);
  const name = `store_${wanted.cases}_${wanted.tenants ?? 1}`;
  const store = stores.get(name) ?? makeStore(context, name, wanted);
  stores.set(name, store);
  return store;
}

async function makeStore(context: Pick<Context, "bench" | "progress">, name: string, wanted: Wanted): Promise<Store> {
  const { bench } = context;
  await bench.database.query(statement(`create database ${name}`, []));
  const { host, user } = bench.postgres.address;
  const url = `postgresql://${user}@/${name}?host=${encodeURIComponent(host)}`;
  return fillStore(context, url, wanted);
}

// Fills an empty database, which may be on a server other than the benchmark's own.
export async function fillStore(
  { bench, progress }: Pick<Context, "bench" | "progress">,
  url: string,
  { cases, tenants: tenantCount = 1 }: Wanted,
): Promise<Store> {
  const templates = cases === 0 ? [] : await templatesFor(bench);
  const startMs = performance.now();
  const database = new Database({ connectionString: url });
  await migrate(database);
  const tenants: StoreTenant[] = [];
  while (tenants.length < tenantCount) tenants.push(await addTenant(database, `bench-${tenants.length}`));
  const untilMs = Date.now();
  const load = { tenantIds: spread(tenants.map((each) => each.tenant_id)), cases, untilMs };
  const told = (share: number) => {
    const leftSeconds = ((performance.now() - startMs) / 1000) * (1 / Math.max(share, 0.001) - 1);
    progress(Math.round(share * cases), cases, `cases loaded, ${leftSeconds.toFixed(0)} s left`);
  };
  if (cases > 0) await whileLoading(bench, () => loadCases(database, templates, load, told));
  return { cases, database, url, tenants, untilMs, loadSeconds: (performance.now() - startMs) / 1000 };
}

// Gives an equal share of the cases to the first tenant alone, to the first ten, to the first hundred, and so on. So each number
// of tenants can be measured alone.
function spread(tenantIds: string[]): string[] {
  const found: string[] = [];
  for (let few = 1; few <= tenantIds.length; few *= 10) {
    const each = Math.ceil(tenantIds.length / few);
    found.push(...tenantIds.slice(0, few).flatMap((id) => Array.from({ length: each }, () => id)));
  }
  return found;
}

function templatesFor(bench: Bench): Promise<Template[]> {
  const templates = templatesOf.get(bench) ?? detectCases(bench);
  templatesOf.set(bench, templates);
  return templates;
}

// The cases of the demo's shop after a minute, as detection opened them.
async function detectCases(bench: Bench): Promise<Template[]> {
  const service = await startProcess(bench);
  try {
    const slug = "templates";
    const made = await createTenant(bench.database, { slug, allowedOrigins: [origin] }, clock);
    const token = clientTokens({ baseUrl: service.url, clientId: made.client_id, clientSecret: made.client_secret });
    await openDemoCases(bench, { target: { baseUrl: service.url, tenant: slug, token }, appKey: made.app_key, origin });
    await reportSome(
      bench,
      new CasehoundClient({ baseUrl: service.url, tenant: slug, credentials: { token: await token(false) } }),
    );
    const rows = await bench.database.query<{ document: string }>(
      sql`select document from cases where tenant_id = ${made.tenant_id} and subject like 'account:%' order by case_id`,
    );
    // Only the engine writes this.
    return makeTemplates(rows.map((row) => JSON.parse(row.document) as CaseDocument));
  } finally {
    await service.stop();
  }
}

// Ensures that some cases have new evidence, whatever happened in the shop's last minute.
async function reportSome(bench: Bench, client: CasehoundClient): Promise<void> {
  const { cases } = await client.listCases({ status: "OPEN", limit: 100 });
  const known = cases.map((each) => each.website_account_id).filter((account) => account !== unknownAccount);
  // At least half of the cases stay without it. In a quiet minute there are too few to copy, so reports open some more.
  const again = known.slice(0, Math.min(reported, Math.ceil(known.length / 2)));
  const more = Array.from({ length: Math.max(0, reported - known.length) }, (_, index) => `reported-${index}`);
  const activities = [...again, ...more, ...more.slice(1, 2)].map((website_account_id) => ({
    activity_id: randomUUID(),
    type: "fraud_report" as const,
    occurred_at: clock.now(),
    website_account_id,
  }));
  await client.createActivities({ activities });
  while ((await countUnscored(bench.database)) > 0) await sleep(100);
}

// Nobody needs its secret, because tokens are created without it.
async function addTenant(database: Database, slug: string): Promise<StoreTenant> {
  const tenant = { tenant_id: randomUUID(), slug, client_id: `${slug}-client`, app_key: randomBytes(12).toString("hex") };
  const created_at = clock.now();
  await database.transaction(async (tx) => {
    await insertTenant(tx, { ...tenant, allowed_origins: [origin], created_at });
    await insertClient(tx, { ...tenant, scopes: [...scopes], is_primary: true, secret_hash: "none", created_at });
  });
  return tenant;
}

// Crash safety is not needed while loading a temporary store. Before anything is measured, all of it is on again and the data is
// on disk.
async function whileLoading(bench: Bench, load: () => Promise<void>): Promise<void> {
  const client = await bench.database.connect();
  const settings = { fsync: "off", full_page_writes: "off", autovacuum: "off", checkpoint_timeout: "'1h'" };
  try {
    for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = ${value}`);
    await client.query("select pg_reload_conf()");
    await load();
    await client.query("checkpoint");
  } finally {
    for (const name of Object.keys(settings)) await client.query(`alter system reset ${name}`);
    await client.query("select pg_reload_conf()");
    await client.end();
  }
  spawnSync("sync");
}

export type StoreService = ServiceUnderTest & { tokens: string[] };

// A service on that store, with a token for each of its tenants.
export async function startOn(
  bench: Bench,
  store: Store,
  { env = {}, flags = [] }: { env?: Record<string, string>; flags?: string[] } = {},
): Promise<StoreService> {
  const unlimited = { RATE_LIMIT_CLIENT: "off", RATE_LIMIT_TENANT: "off", RATE_LIMIT_COLLECTOR: "off" };
  const port = await freePort();
  const all = { ROLES: "api", DATABASE_URL: store.url, PORT: String(port), PUBLIC_URL: publicUrl, ...unlimited, ...env };
  const service = await startProcess(bench, all, flags);
  const issuer = await Issuer.open(store.database, publicUrl);
  const tokens = await Promise.all(
    store.tenants.map(({ tenant_id, slug, client_id }) =>
      issuer.mint({ clientId: client_id, tenantId: tenant_id, slug, scope: scopes.join(" "), expiresInSeconds: 3_600 }),
    ),
  );
  return { ...service, url: `http://127.0.0.1:${port}`, tokens };
}

// The service reports its public URL and not its port, so choose the port here.
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("the system assigned no port");
  return address.port;
}
