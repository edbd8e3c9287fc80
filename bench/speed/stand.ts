// Shared by the parts that measure requests: a tenant with cases and accounts, the service, the plain implementation and the bare
// server.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { clock } from "../../service/src/clock.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";
import { clientTokens } from "@casehound/simulator/courier";
import { createTenant } from "../../service/src/tenancy.ts";
import { databaseUrl, startProcess, type Bench } from "../machine.ts";
import { multiplyCases, openDemoCases } from "../many-cases.ts";
import { startContender, type Contender } from "./contender.ts";
import type { Context } from "./part.ts";

export type Tenant = { tenant_id: string; slug: string; client_id: string };
// An open case that a run may close, with the version that closes it.
export type Closable = { case_id: string; case_version: number };

export type Stand = {
  bench: Bench;
  tenant: Tenant;
  headers: Record<string, string>;
  ours: Contender;
  plain: Contender;
  bare: Contender;
  // Some of each, for reads.
  cases: string[];
  accounts: string[];
  // For changes. None of them is among the cases above.
  closable: Closable[];
  // Restores the state before the last changes, so every contender starts from the same.
  reset: () => Promise<void>;
  // The number of cases closed since the reset.
  countClosed: () => Promise<number>;
  // Called by the last part that uses it, so its processes do not affect later measurements.
  stop: () => Promise<void>;
};

const casesMade = 20_000;
const readMax = 2_000;
const fetchedAtOnce = 50;
const days = 90;
const origin = "https://shop.example";
const slug = "speed";
// Without these settings, one client could not send as much as one process can serve.
export const unlimited = { RATE_LIMIT_CLIENT: "off", RATE_LIMIT_TENANT: "off", RATE_LIMIT_COLLECTOR: "off" };
const plainProgram = new URL("../plain/server.ts", import.meta.url);
const bareProgram = new URL("bare.ts", import.meta.url);

const stands = new WeakMap<Bench, Promise<Stand>>();

// One stand for all parts of a run, created when the first part needs it.
export function standOf(context: Context): Promise<Stand> {
  const known = stands.get(context.bench);
  if (known) return known;
  const opening = openStand(context);
  stands.set(context.bench, opening);
  return opening;
}

async function openStand({ bench, atEnd, progress }: Context): Promise<Stand> {
  progress(0, 1, "store of the requests");
  const service = await startProcess(bench, unlimited);
  const ours: Contender = { ...service, name: "ours" };
  atEnd(ours.stop);
  const made = await createTenant(bench.database, { slug, allowedOrigins: [origin] }, clock);
  const token = clientTokens({ baseUrl: ours.url, clientId: made.client_id, clientSecret: made.client_secret });
  await openDemoCases(bench, { target: { baseUrl: ours.url, tenant: slug, token }, appKey: made.app_key, origin });
  await multiplyCases(bench, { tenantId: made.tenant_id, cases: casesMade, days });
  const headers = { authorization: `Bearer ${await token(false)}` };
  const plain = await startContender("plain", plainProgram, { env: { DATABASE_URL: databaseUrl(bench), ISSUER: ours.url } });
  atEnd(plain.stop);
  const tenant: Tenant = { tenant_id: made.tenant_id, slug, client_id: made.client_id };
  const { cases, accounts, closable } = await choose(bench, tenant.tenant_id);
  await checkSame([ours.url, plain.url], headers, [`cases/${cases[0]}`, `enduseraccounts/${accounts[0]}`, "cases?limit=50"]);
  const bare = await startBare(bench, ours.url, headers, cases);
  atEnd(bare.stop);
  const reset = await keepState(bench, tenant.tenant_id);
  const stop = async () => {
    await Promise.all([ours, plain, bare].map((each) => each.stop()));
  };
  const countClosed = () => countChanged(bench, tenant.tenant_id);
  return { bench, tenant, headers, ours, plain, bare, cases, accounts, closable, reset, countClosed, stop };
}

type Chosen = Pick<Stand, "cases" | "accounts" | "closable">;

// The copied cases. Each account has only this one case, and nobody else changes it.
async function choose({ database }: Bench, tenantId: string): Promise<Chosen> {
  const rows = await database.query<Closable & { website_account_id: string }>(
    statement(
      `select case_id, case_version, website_account_id
       from cases
       where tenant_id = $1 and status = 'OPEN' and website_account_id like 'many-%'
       order by md5(website_account_id)`,
      [tenantId],
    ),
  );
  const read = rows.slice(0, readMax);
  return {
    cases: read.map((row) => row.case_id),
    accounts: read.map((row) => row.website_account_id),
    closable: rows.slice(readMax),
  };
}

// A contender with other responses would do other work. Cursors are ignored, because each contender makes its own.
async function checkSame(urls: string[], headers: Record<string, string>, paths: string[]): Promise<void> {
  for (const path of paths) {
    const answers = urls.map(async (url) => {
      const text = await (await fetch(`${url}/v2/${slug}/${path}`, { headers })).text();
      return text.replace(/"next_cursor":"[^"]*"/, '"next_cursor":""');
    });
    const [ours, plain] = await Promise.all(answers);
    if (ours !== plain)
      throw new Error(`the plain implementation returns something else for ${path}: ${plain} instead of ${ours}`);
  }
}

// Returns what our service has returned, byte for byte.
async function startBare(bench: Bench, url: string, headers: Record<string, string>, cases: string[]): Promise<Contender> {
  const read = async (id: string) => {
    const path = `/v2/${slug}/cases/${id}`;
    const answer = await fetch(`${url}${path}`, { headers });
    if (!answer.ok) throw new Error(`${path} returned ${answer.status}`);
    return [path, await answer.text()] as const;
  };
  const answers: Record<string, string> = {};
  for (let from = 0; from < cases.length; from += fetchedAtOnce)
    Object.assign(answers, Object.fromEntries(await Promise.all(cases.slice(from, from + fetchedAtOnce).map(read))));
  const file = join(bench.folder, "answers.json");
  writeFileSync(file, JSON.stringify(answers));
  return startContender("bare", bareProgram, { args: [file] });
}

const ofRuns = ["idempotency_keys", "outcomes", "events", "case_tallies"];

// Reopens closed cases from a copy and removes what was written about them. Then it vacuums the tables, so that no contender
// measures the dead rows of another.
async function keepState({ database }: Bench, tenantId: string): Promise<() => Promise<void>> {
  await database.query(statement("create schema if not exists bench", []));
  await database.query(
    statement(
      `create unlogged table bench.kept_cases as
       select case_id, case_version, updated_at, status, has_new_evidence, document, item, item_version
       from cases
       where tenant_id = '${tenantId}' and status = 'OPEN'`,
      [],
    ),
  );
  await database.query(statement("create unique index on bench.kept_cases (case_id)", []));
  await database.query(statement("analyze bench.kept_cases", []));
  return async () => {
    await database.query(
      statement(
        `update cases as c
         set status = k.status, case_version = k.case_version, updated_at = k.updated_at,
           has_new_evidence = k.has_new_evidence, document = k.document, item = k.item, item_version = k.item_version
         from bench.kept_cases as k
         where c.tenant_id = $1 and c.case_id = k.case_id and c.case_version <> k.case_version`,
        [tenantId],
      ),
    );
    for (const table of ofRuns) await database.query(statement(`delete from ${table} where tenant_id = $1`, [tenantId]));
    await database.query(statement(`vacuum analyze cases, accounts, ${ofRuns.join(", ")}`, []));
  };
}

async function countChanged({ database }: Bench, tenantId: string): Promise<number> {
  const [row] = await database.query<{ closed: number }>(
    statement(
      `select count(*) as closed
       from bench.kept_cases as k
       join cases as c on c.tenant_id = $1 and c.case_id = k.case_id
       where c.status = 'CLOSED'`,
      [tenantId],
    ),
  );
  return row?.closed ?? 0;
}
