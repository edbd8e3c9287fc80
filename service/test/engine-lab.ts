import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll } from "vitest";
import { clock } from "../src/clock.ts";
import { makePartition } from "../src/db/activities.ts";
import { insertActivities, newActivity } from "../src/db/inbox.ts";
import type { Database } from "../src/db/postgres/database.ts";
import { insertDefaults } from "../src/db/rules.ts";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { insertTenant } from "../src/db/tenants.ts";
import { unpack } from "../src/detection/vector.ts";
import { defaultRules } from "../src/detection/default-rules.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import { detectBatch, type Detector, type Pass } from "../src/engine/detect.ts";
import { Engine } from "../src/engine/loop.ts";
import { mergeAdditions } from "../src/engine/tally.ts";
import { newDatabase, newDetector, openDatabase } from "./harness.ts";

// The default time of receipt and decision, so that two runs of a test give identical results.
export const labNow = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString();
export const labNowMs = Date.parse(labNow);
export const iso = (at: number) => new Date(at).toISOString();
const dayMs = 24 * 60 * 60 * 1000;

export type Lab = { url: string; database: Database };

// A database of this file's own, where no other file's engine runs.
export function useLab(): { current: Lab } {
  const holder: { current: Lab } = { current: undefined as never };
  beforeAll(async () => {
    const url = await newDatabase();
    const database = openDatabase(url);
    for (const days of [-1, 0, 1])
      await database.transaction((tx) => makePartition(tx, iso(Date.now() + days * dayMs).slice(0, 10)));
    holder.current = { url, database };
  });
  afterAll(() => holder.current.database.end());
  return holder;
}

// Creates no API client, because nobody calls it over HTTP.
export async function newTenant({ database }: Lab, tenantId: string = randomUUID()): Promise<string> {
  const tenant = { tenant_id: tenantId, slug: `t-${tenantId}`, app_key: randomUUID(), allowed_origins: [], created_at: labNow };
  await database.transaction(async (tx) => {
    await insertTenant(tx, tenant);
    await insertDefaults(tx, tenantId, defaultRules, labNow);
    // Rings of tenants with the same key can be compared.
    await tx.query(statement("update tenants set ip_key = $2 where tenant_id = $1", [tenantId, Buffer.from("a lab's key")]));
  });
  return tenantId;
}

// An engine's parts, with the clock at the lab's time.
export function labDetector(database: Database, more: Partial<Detector> = {}): Detector {
  return newDetector(database, { clock: { ...clock, now: () => labNow }, ...more });
}

export type Sketched = Partial<RecordedActivity> & { type: string };

let made = 0;

export function activityOf(sketched: Sketched): RecordedActivity {
  return { activity_id: `a-${made++}`, origin: "server", received_at: labNow, occurred_at: labNow, ...sketched };
}

export async function store({ database }: Lab, tenantId: string, activities: RecordedActivity[]): Promise<void> {
  for (let from = 0; from < activities.length; from += 1_000) {
    await database.transaction((tx) => insertActivities(tx, tenantId, activities.slice(from, from + 1_000).map(newActivity)));
  }
}

// Scores until the inbox is empty, and returns how many this engine scored.
export async function drain(detector: Detector, tenantId: string): Promise<number> {
  for (let scored = 0; ;) {
    const pass = await detectBatch(detector, tenantId);
    scored += pass?.scored ?? 0;
    if (pass?.scored === 0) return scored;
  }
}

export async function waiting({ database }: Lab, tenantId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    sql`select coalesce(sum(events), 0) as count from inbox where tenant_id = ${tenantId}`,
  );
  return row?.count ?? 0;
}

// Starts a complete engine with its own connections, as a process has them. `failures` holds only logged batch failures, because
// other work may give way to another engine's.
export function startEngine(
  { url }: Lab,
  more: Partial<Detector> = {},
  onPass: (pass: Pass) => void = () => {},
): { failures: string[]; stop: () => Promise<void> } {
  const database = openDatabase(url);
  const failures: string[] = [];
  const write = (line: string) => void (line.includes('"tenant_id":"') && failures.push(line));
  const log = pino({ level: "error" }, { write });
  const engine = new Engine({ detector: labDetector(database, more), log, onPass });
  engine.start();
  const stop = async () => {
    await engine.stop();
    await database.end();
  };
  return { failures, stop };
}

export type Decided = { id: string; score: number; rules: string[]; features: Record<string, unknown>; subject: string | null };

export async function decisionsOf({ database }: Lab, tenantId: string): Promise<Map<string, Decided>> {
  const rows = await database.query<{ activity_id: string; score: number; decision: string; subject: string | null }>(sql`
    select a.activity_id, a.score, a.decision, c.subject
    from activities as a
    left join cases as c on c.tenant_id = a.tenant_id and c.case_id = a.case_id
    where a.tenant_id = ${tenantId}`);
  return new Map(
    rows.map(({ activity_id: id, score, decision, subject }) => {
      const { r = {}, f = "" } = JSON.parse(decision);
      return [id, { id, score, rules: Object.keys(r), features: unpack(f), subject }];
    }),
  );
}

// These tables hold the tenant itself and its client, which differ in every run.
const left = ["tenants", "clients"];
const madeColumns = ["tenant_id", "prediction_id", "case_id", "own_case_id", "sorted_id", "quarantine_id"];

const madeIds = new Set(["case_id", "campaign_case_id", "state_id", "occurrence_id", "prediction_id", "tenant_id"]);

// Returns everything stored for a tenant, by table and sorted, without the ids that differ in every run and the places in
// requests.
export async function snapshot({ database }: Lab, tenantId: string): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  // When additions are merged depends on the batches.
  await database.transaction((tx) => mergeAdditions(tx, tenantId));
  for (const name of await listTables(database)) {
    const text = `select (to_jsonb(t) - $2::text[])::text as row from ${name} as t where tenant_id = $1`;
    const columns = name === "cases" ? [...madeColumns, "document"] : madeColumns;
    const rows = await database.query<{ row: string }>(statement(text, [tenantId, columns]));
    all[name] = rows
      .map(({ row }) =>
        row
          .replace(/("resource_id": )"[0-9a-f-]{36}"/, '$1"made"')
          .replace(/("item": "\\"case_id\\":\\")[0-9a-f-]{36}/, "$1made")
          .replace(/\\"place\\":\d+,|,?\\"place\\":\d+/, "")
          .replace(/\[\\"[0-9a-f-]{36}\\",/g, "["),
      )
      .toSorted();
  }
  const cases = await database.query<{ document: string }>(sql`select document from cases where tenant_id = ${tenantId}`);
  all["documents"] = cases.map(({ document }) => withoutIds(document)).toSorted();
  const linked = await database.query<{ activity_id: string; subject: string; occurrence: string | null }>(sql`
    select a.activity_id, c.subject, substring(c.document from a.prediction_id::text) as occurrence
    from activities as a
    left join cases as c on c.tenant_id = a.tenant_id and c.case_id = a.case_id
    where a.tenant_id = ${tenantId} and a.prediction_id is not null`);
  all["linked"] = linked.map((row) => `${row.activity_id} ${row.subject} ${row.occurrence !== null}`).toSorted();
  return all;
}

async function listTables(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string }>(sql`
    select c.relname as name
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all(${left})
    order by 1`);
  return rows.map((row) => row.name);
}

// Returns the occurrences in order, without their keys.
function withoutIds(document: string): string {
  const parsed = JSON.parse(document, (name, value: unknown) => (madeIds.has(name) ? "made" : value));
  return JSON.stringify({ ...parsed, fraud_occurrences: Object.values(parsed.fraud_occurrences) });
}
