// A tenant with many cases, and filters for its lists.
import { createPageFunction } from "../src/db/citus/node-pages.ts";
import { statement, unprepared } from "../src/db/postgres/sql.ts";
import type { Database } from "../src/db/postgres/database.ts";
import type { CaseFilter } from "../src/db/case-filters.ts";

export const caseCount = 20_000;
const minuteMs = 60_000;
export const baseMs = Date.parse("2026-01-01T00:00:00.000Z");
export const atShare = (share: number) => baseMs + share * caseCount * minuteMs;

// One case per minute. Ten in eleven share one status, label, score and flag, so a plan that reads rows it does not need stands
// out. One in two hundred was changed after the last one was created.
export async function seedCases(database: Database, tenantId: string): Promise<void> {
  const text = `
    insert into cases (
      tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at,
      overall_risk_score, primary_fraud_label, recommended_action, document, closer, disposition, own_disposition
    )
    select $1::uuid,
      (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
      'seed:' || n,
      case when n % 10 = 1 then 'UNKNOWN' else 'user-' || n % 2000 end,
      is_rare and n % 10 <> 1 and n % 7 = 0,
      case when is_rare and n % 3 = 0 then 'OPEN' else 'CLOSED' end,
      1, to_timestamp(ms / 1000.0),
      case when n % 200 = 0 then to_timestamp(($2::bigint + $3::int * $4::bigint + n) / 1000.0) end,
      case when is_rare then 1 + n % 5 else 3 end,
      case when is_rare then (array['Account Takeover', 'Bot', 'Synthetic', 'Organic'])[1 + n % 4] else 'Bot' end,
      'MONITOR',
      '{}',
      case when is_rare and n % 3 = 0 then null when n % 50 = 0 then 'Ada <ada@example.org>' else 'shop' end,
      case when is_rare and n % 3 = 0 then null when n % 60 = 0 then 'INCONCLUSIVE' else 'FALSE_POSITIVE' end,
      case when is_rare and n % 3 = 0 then null when n % 70 = 0 then 'Family member' end
    from generate_series(1, $3::int) as n
    cross join lateral (select $2::bigint + n * $4::bigint as ms, n % 11 = 0 as is_rare) as made`;
  const values = [tenantId, baseMs, caseCount, minuteMs];
  await database.transaction((tx) => tx.query(statement(text, values)));
  await database.query(statement("analyze cases", []));
}

export const iso = (ms: number) => new Date(ms).toISOString();
const facets = { status: "CLOSED", user_is_blocked: false, label: "Bot", min_score: 5 };
export const filters: Record<string, CaseFilter> = {
  "no filter": {},
  "status OPEN": { status: "OPEN" },
  "status CLOSED": { status: "CLOSED" },
  "account UNKNOWN": { website_account_id: "UNKNOWN" },
  "account UNKNOWN, status and label": { website_account_id: "UNKNOWN", status: "OPEN", label: "Bot" },
  "blocked accounts": { user_is_blocked: true },
  "accounts not blocked": { user_is_blocked: false },
  label: { label: "Synthetic" },
  "the lowest score or more": { min_score: 1 },
  "the highest score": { min_score: 5 },
  "every facet": facets,
};

export const byCreation: Record<string, CaseFilter> = {
  "created_after late": { created_after_ms: atShare(0.9) },
  "created_before early": { created_before_ms: atShare(0.1) },
  "created within a span": { created_after_ms: atShare(0.4), created_before_ms: atShare(0.6) },
  "created_before early, every facet": { ...facets, min_score: 3, created_before_ms: atShare(0.1) },
};
export const byChange: Record<string, CaseFilter> = {
  "updated_since late": { updated_since: iso(atShare(1)) },
  "updated_since early": { updated_since: iso(atShare(0.1)) },
  "updated_since late, status CLOSED": { status: "CLOSED", updated_since: iso(atShare(1)) },
};

// Creates the function that answers for lists on the nodes of a cluster, and what it asks of Citus. On one server, no table has
// shards, so it runs the statement as it is.
export async function createNodeFunctions(database: Database): Promise<void> {
  const stands = [
    "create table pg_dist_partition (logicalrelid regclass, partmethod char)",
    "create function get_shard_id_for_distribution_column(regclass, uuid) returns bigint language sql as 'select 102008'",
    "create function shard_name(regclass, bigint) returns text language sql as 'select $1::text'",
  ];
  for (const text of [...stands, createPageFunction]) await database.query(unprepared(text));
}
