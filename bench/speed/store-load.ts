// Loads millions of cases into one database: without indexes, over two connections, and then creates the indexes.
import type { Client } from "pg";
import { itemOfColumns } from "../../service/src/db/lists.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";
import type { Database } from "../../service/src/db/postgres/database.ts";
import { kinds, labelShares, scoreShares, variants, type Template } from "./store-templates.ts";

const connections = 2;
const stepRows = 40_000;
const dayMs = 86_400_000;
const spanMs = 365 * dayMs;
const isoFormat = `YYYY-MM-DD"T"HH24:MI:SS.MS"Z"`;
// The measured share of the indexes in the whole work, to estimate the remaining time.
const indexShare = 0.25;

export type Load = { tenantIds: string[]; cases: number; untilMs: number };
type Progress = (share: number) => void;

// Settings of a loading connection. Foreign keys are not checked, because what they refer to exists.
const loading = `
  set synchronous_commit = off;
  set session_replication_role = replica;
  set maintenance_work_mem = '1GB';
  set max_parallel_maintenance_workers = 0;
  set work_mem = '64MB';
  set jit = off;
  set timezone = 'UTC'`;

const makeTemplates = `
  create unlogged table bench_templates as
  select place, status, case_version, overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence,
    is_changed, document
  from jsonb_to_recordset($1::jsonb) as t (
    place int, status text, case_version int, overall_risk_score smallint, primary_fraud_label text,
    recommended_action text, has_new_evidence boolean, is_changed boolean, document text
  )`;

// A number from 0 to 1 from four digits of the hash, and the share that it falls into.
function chance(digit: number): string {
  return `(('x' || substr(hash, ${digit}, 4))::bit(16)::int / 65536.0::float8)`;
}

function bucket(digit: number, shares: [unknown, number][]): string {
  let sum = 0;
  const bounds = shares.slice(0, -1).map(([, share]) => (sum += share).toFixed(4));
  return `width_bucket(${chance(digit)}, array[${bounds.join(", ")}]::float8[])`;
}

// Case n was opened in the nth part of the year, so rows are stored in the order of their creation, as in reality. An account has
// two cases, one in each half of the year. All older ones are closed, so no account has two open cases. Every tenth case has no
// account. The last change came between a minute and 30 days later, log-uniformly distributed, and before the end. Twenty people
// closed the cases, each case with its own reason.
const insertCases = `
  with templates as materialized (
    select place, status, case_version, overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence,
      is_changed, document || '' as document
    from bench_templates
  ),
  numbered as (
    select n, 1 + (n - 1) % $5::bigint as number, md5(n::text) as hash,
      to_timestamp(($6::float8 - ${spanMs} + (n - 1) * ${spanMs}::float8 / $4::bigint) / 1000)::timestamptz(3) as at
    from generate_series($2::bigint, $3::bigint) as n
  ),
  placed as (
    select *, ${chance(1)} as delay,
      ((case when n <= $5::bigint then 0 else ${bucket(5, kinds)} end * ${labelShares.length} + ${bucket(9, labelShares)})
        * ${scoreShares.length} + ${bucket(13, scoreShares)}) * ${variants} + n % ${variants} as place,
      ($1::uuid[])[1 + number % cardinality($1::uuid[])] as tenant_id,
      case when n % 10 = 0 then 'UNKNOWN' else 'member-' || number end as account,
      (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(hash, 8, 3) || '8' || substr(hash, 12, 15))::uuid as id
    from numbered
  ),
  made as (
    select *, n % 10 <> 0 and number % 11 = 0 as is_blocked,
      case
        when is_changed then (
          at + least(
            60000 * power(2, 15.4 * delay),
            ($6::float8 - extract(epoch from at) * 1000) * ${chance(28)}
          ) * interval '1 millisecond'
        )::timestamptz(3)
      end as changed
    from placed as p
    join templates as t using (place)
  )
  insert into cases (
    tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at,
    overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence, document,
    reasons, closed_at, closer, disposition, judged, item, item_version
  )
  select tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at,
    overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence, document,
    reasons, closed_at, closer, disposition, judged, ${itemOfColumns}, case_version
  from (
    select tenant_id, id as case_id, case account when 'UNKNOWN' then 'device:' || hash else 'account:' || account end as subject,
      account as website_account_id, is_blocked as end_user_is_blocked, status, case_version, at as created_at,
      changed as updated_at, overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence,
      null::timestamptz as due_at,
      format(document, id, tenant_id, account, to_char(at, '${isoFormat}'), to_char(changed, '${isoFormat}')) as document,
      'The customer was called, and confirmed order ' || substr(closed_hash, 1, 8) || '.' as reasons,
      case when closed_hash is not null then coalesce(changed, at) end as closed_at,
      'person-' || ('x' || substr(closed_hash, 9, 4))::bit(16)::int % 20 as closer,
      (array['CONFIRMED_FRAUD', 'FALSE_POSITIVE'])[1 + ('x' || substr(closed_hash, 13, 2))::bit(8)::int % 2] as disposition,
      'new_device login.ratio model.payment rule_' || ('x' || substr(closed_hash, 15, 2))::bit(8)::int % 15 as judged
    from made
    cross join lateral (select case when status = 'CLOSED' then hash end) as c (closed_hash)
  ) as loaded`;

const insertAccounts = `
  insert into accounts (tenant_id, website_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at)
  select ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'member-' || n, n % 11 = 0, n % 29 = 0, n % 17 = 0, at, at
  from generate_series($2::bigint, $3::bigint) as n
  cross join to_timestamp(($4::float8 - ${spanMs}) / 1000) as at`;

export async function loadCases(database: Database, templates: Template[], load: Load, progress: Progress): Promise<void> {
  await fillTables(database, { tables: ["cases", "accounts"], progress }, async (clients, told) => {
    await clients[0]?.query(makeTemplates, [JSON.stringify(templates)]);
    await insertAll(clients, load, told);
    await clients[0]?.query("drop table bench_templates");
  });
}

type Filled = { tables: string[]; progress: Progress };

// Fills tables that have no indexes meanwhile, because building an index at the end takes much less time.
export async function fillTables(
  database: Database,
  { tables, progress }: Filled,
  fill: (clients: Client[], progress: Progress) => Promise<void>,
): Promise<void> {
  const clients = await Promise.all(Array.from({ length: connections }, () => database.connect()));
  try {
    const [first] = clients;
    if (!first) throw new Error("no connection");
    for (const client of clients) await client.query(loading);
    const indexes = await dropIndexes(first, tables);
    await fill(clients, (share) => progress(share * (1 - indexShare)));
    await makeIndexes(clients, indexes, (share) => progress(1 - indexShare + share * indexShare));
    await Promise.all(tables.map(async (table, index) => clients[index % connections]?.query(`vacuum (analyze) ${table}`)));
    progress(1);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function insertAll(clients: Client[], { tenantIds, cases, untilMs }: Load, progress: Progress): Promise<void> {
  const accounts = Math.ceil(cases / 2);
  let next = 1;
  let done = 0;
  const work = async (client: Client) => {
    while (next <= cases) {
      const [from, to] = [next, Math.min(next + stepRows - 1, cases)];
      next = to + 1;
      await client.query(statement(insertCases, [tenantIds, from, to, cases, accounts, untilMs]));
      if (from <= accounts) await client.query(statement(insertAccounts, [tenantIds, from, Math.min(to, accounts), untilMs]));
      done += to - from + 1;
      progress(done / cases);
    }
  };
  await Promise.all(clients.map(work));
}

type Index = { table: string; name: string; definition: string; isPrimary: boolean };

async function dropIndexes(client: Client, tables: string[]): Promise<Index[]> {
  const { rows } = await client.query<Index>(
    `select i.indrelid::regclass::text as table, c.relname as name, pg_get_indexdef(c.oid) as definition, i.indisprimary as "isPrimary"
     from pg_index as i
     join pg_class as c on c.oid = i.indexrelid
     where i.indrelid = any($1::regclass[])
     order by i.indpred is not null, c.relname`,
    [tables],
  );
  for (const { table, name, isPrimary } of rows)
    await client.query(isPrimary ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`);
  return rows;
}

// A primary key is made from an index at the end. Adding it to the table directly would block the other connections.
async function makeIndexes(clients: Client[], indexes: Index[], progress: Progress): Promise<void> {
  const waiting = [...indexes];
  const work = async (client: Client) => {
    for (let each = waiting.shift(); each; each = waiting.shift()) {
      await client.query(each.definition);
      progress((indexes.length - waiting.length) / indexes.length);
    }
  };
  await Promise.all(clients.map(work));
  for (const { table, name, isPrimary } of indexes)
    if (isPrimary) await clients[0]?.query(`alter table ${table} add constraint ${name} primary key using index ${name}`);
}
