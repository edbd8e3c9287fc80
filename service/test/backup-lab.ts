import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { readDump, type DumpHeader } from "../src/db/backup/dump-file.ts";
import { connectTo } from "./launch.ts";
import { send } from "./send.ts";

export async function within<T>(databaseUrl: string, look: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectTo({ connectionString: databaseUrl, options: "-c timezone=UTC" });
  try {
    return await look(client);
  } finally {
    await client.end();
  }
}

// Returns a row count and an order-independent hash for every table. Two things are ignored: when migrations ran, which a backup
// does not hold, and the service's URL, which a restore drops.
export async function digestTables(client: Client): Promise<Record<string, string>> {
  const { rows: tables } = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1",
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const row = name === "migrations" ? "row(t.version, t.name, t.hash)::text" : "t::text";
    const { rows } = await client.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(${row}), '' order by md5(${row}))), '') as digest from "${name}" as t ${name === "service_settings" ? "where t.name <> 'public_url'" : ""}`,
    );
    digests[name] = rows[0]?.digest ?? "";
  }
  return digests;
}

// Lists the columns, indexes, constraints and partitions of every table.
export async function describeTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `select attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod) || ' ' || attnotnull as line
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
     union all
     select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated
     from pg_constraint where connamespace = 'public'::regnamespace and conrelid <> 0
     union all
     select indexdef from pg_indexes where schemaname = 'public'
     union all
     select relname || ' ' || pg_get_expr(relpartbound, oid) || ' ' || reloptions::text
     from pg_class where relispartition and relkind = 'r'
     order by 1`,
  );
  return rows.map(({ line }) => line);
}

const whole: [claim: string, text: string][] = [
  [
    "a tenant's events have no gaps, and the last one has the number of the counter",
    `select c.tenant_id || ': ' || c.last_event_id || ' counted, ' || count(e.event_id) || ' there' as seen
     from event_counters as c left join events as e using (tenant_id)
     group by c.tenant_id, c.last_event_id
     having count(e.event_id) <> c.last_event_id or coalesce(max(e.event_id), 0) <> c.last_event_id`,
  ],
  [
    "a case's last event has the version of the case",
    `select c.case_id || ': version ' || c.case_version || ', events up to ' || coalesce(max(e.resource_version), 0) as seen
     from cases as c
     left join events as e on e.tenant_id = c.tenant_id and e.resource_type = 'case' and e.resource_id = c.case_id::text
     group by c.tenant_id, c.case_id, c.case_version
     having coalesce(max(e.resource_version), 0) <> c.case_version`,
  ],
  [
    "accepted activity is either waiting or scored",
    `select t.tenant_id || ': ' || a.known || ' accepted, ' || i.waiting || ' wait, ' || s.scored || ' scored' as seen
     from tenants as t
     cross join lateral (select count(*) as known from activity_ids where tenant_id = t.tenant_id) as a
     cross join lateral (select coalesce(sum(events), 0) as waiting from inbox where tenant_id = t.tenant_id) as i
     cross join lateral (select count(*) as scored from activities where tenant_id = t.tenant_id) as s
     where a.known <> i.waiting + s.scored`,
  ],
  [
    "no stored reply has a later version than its case",
    `select k.key || ': ' || k.reply as seen
     from idempotency_keys as k
     left join cases as c on c.tenant_id = k.tenant_id and c.case_id = k.case_id
     where k.status = 200 and k.case_id is not null
       and (k.reply::jsonb -> 'data' ->> 'case_version')::int > coalesce(c.case_version, 0)`,
  ],
];

// Returns inconsistencies that no committed state shows, so no snapshot may show them either.
export async function findTorn(client: Client): Promise<string[]> {
  const torn: string[] = [];
  for (const [claim, text] of whole) {
    const { rows } = await client.query<{ seen: string }>(text);
    torn.push(...rows.map(({ seen }) => `${claim}: ${seen}`));
  }
  return torn;
}

// Hashes each tenant's log up to the last event that the copy holds.
export async function digestLog(client: Client, ends: Record<string, string>): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const [tenantId, end] of Object.entries(ends)) {
    const { rows } = await client.query<{ digest: string }>(
      "select coalesce(md5(string_agg(e::text, '' order by event_id)), '') as digest from events as e where tenant_id = $1 and event_id <= $2",
      [tenantId, end],
    );
    digests[tenantId] = rows[0]?.digest ?? "";
  }
  return digests;
}

export async function readLogEnds(client: Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ tenant_id: string; last: string }>(
    "select tenant_id, last_event_id::text as last from event_counters",
  );
  return Object.fromEntries(rows.map(({ tenant_id, last }) => [tenant_id, last]));
}

type Target = { port: number; tenant: string; token: string };

// Reports fraud and closes the resulting cases until the signal aborts. Appends the keys of the answered closes to `closed`.
export async function writeOn({ port, tenant, token }: Target, signal: AbortSignal, closed: string[]): Promise<void> {
  const call = (method: string, path: string, body?: unknown, key?: string) =>
    send(port, method, `/v2/${tenant}${path}`, { token, ...(body !== undefined && { body }), ...(key !== undefined && { key }) });
  while (!signal.aborted) {
    const occurred_at = new Date().toISOString();
    const activities = Array.from({ length: 5 }, () => ({
      activity_id: randomUUID(),
      type: "fraud_report",
      occurred_at,
      website_account_id: `account-${randomUUID()}`,
    }));
    await call("POST", "/activities", { activities });
    const listed = await call("GET", "/cases?status=OPEN&limit=5");
    if (listed.status !== 200) continue;
    const { cases } = listed.json.data as { cases: { case_id: string; case_version: number }[] };
    for (const { case_id, case_version } of cases) {
      const key = randomUUID();
      const answer = await call("PUT", `/cases/${case_id}`, { status: "CLOSED", case_version }, key);
      if (answer.status === 200) closed.push(key);
    }
  }
}

export async function listKeys(client: Client): Promise<Set<string>> {
  const { rows } = await client.query<{ key: string }>("select key from idempotency_keys");
  return new Set(rows.map(({ key }) => key));
}

// Reads the whole file and throws if it is incomplete.
export async function checkFile(path: string): Promise<DumpHeader> {
  let header: DumpHeader | null = null;
  for await (const piece of readDump(path, () => {})) if (piece.kind === "header") ({ header } = piece);
  if (!header) throw new Error("there was no header");
  return header;
}
