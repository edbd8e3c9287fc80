import type { ListedRow, ListType } from "../domain/list.ts";
import type { ExampleKey } from "../domain/backtest.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray } from "./postgres/sql.ts";

export type PreviewRow = ListedRow & { id_key: string; score: number; case_id: string | null };
// The part of the log to search, backwards from `before`.
export type PreviewSpan = { from: string; before: ExampleKey; limit: number };
// What rows must contain to be worth looking at: the values themselves, or a part of the stored text.
export type Candidates = { type: ListType; needles: string[]; agentKeys: string[] };

const conditions: Record<ListType, string> = {
  account: "a.website_account_id = any($6::text[])",
  device: "a.device_id = any($6::text[])",
  ip: "a.ip is not null",
  country: "exists (select 1 from unnest($6::text[]) as n (needle) where strpos(a.decision, n.needle) > 0)",
  asn: "exists (select 1 from unnest($6::text[]) as n (needle) where strpos(a.decision, n.needle) > 0)",
  email: `strpos(a.document, '"email"') > 0`,
  email_domain: `strpos(a.document, '"email"') > 0`,
  payee: `strpos(a.document, '"payee_id"') > 0`,
  instrument: `strpos(a.document, '"instrument"') > 0`,
  user_agent: "a.agent_key = any($6::bigint[])",
  text: "false",
};

type Searched = { rows: PreviewRow[]; next: ExampleKey | null };

// Reads the next part of the log, newest first, and returns the rows that may contain a value. Accounts have an index, so only
// their rows are read. Planned for its values each time, because a generic plan would sort the whole span.
export async function searchLog(
  database: Queryable,
  tenantId: string,
  { from, before, limit }: PreviewSpan,
  { type, needles, agentKeys }: Candidates,
): Promise<Searched> {
  const isIndexed = type === "account";
  const text = `
    with part as materialized (
      select received_at, id_key, score, case_id, origin, website_account_id, device_id, ip, agent_key, document, decision
      from activities as a
      where tenant_id = $1
        and received_at >= $2::timestamptz
        and received_at <= $3::timestamptz
        and (received_at, id_key) < ($3::timestamptz, $4::uuid)
        ${isIndexed ? `and ${conditions.account}` : ""}
      order by received_at desc, id_key desc
      limit $5
    ), position as (
      select received_at, id_key, count(*) over () as count
      from part
      order by received_at, id_key
      limit 1
    )
    select a.id_key, a.score, a.case_id, a.origin, a.website_account_id, a.device_id, a.ip, u.user_agent, a.document, a.decision,
      p.received_at as last_at, p.id_key as last_key, p.count
    from position as p
    left join part as a on ${conditions[type]}
    left join user_agents as u on u.tenant_id = $1 and u.agent_key = a.agent_key`;
  const searched = type === "user_agent" ? plainArray(agentKeys) : needles;
  const values = [tenantId, from, before.received_at, before.id_key, limit, ...(usesNeedles(type) ? [searched] : [])];
  type Found = Row & { id_key: string | null; last_at: string; last_key: string; count: number };
  const rows = await database.query<Found>({ name: "", text, values });
  const [first] = rows;
  const next = first && first.count >= limit ? { received_at: first.last_at, id_key: first.last_key } : null;
  // The outer join returns one empty row if nothing was found.
  return { rows: rows.filter(({ id_key }) => id_key !== null) as unknown as PreviewRow[], next };
}

function usesNeedles(type: ListType): boolean {
  return conditions[type].includes("$6");
}

// The tenant's user agents that were seen last.
export async function listAgents(
  database: Queryable,
  tenantId: string,
  limit: number,
): Promise<{ agent_key: string; user_agent: string }[]> {
  const text = `
    select agent_key::text as agent_key, user_agent
    from user_agents
    where tenant_id = $1
    order by last_seen desc
    limit $2`;
  return database.query<{ agent_key: string; user_agent: string }>({ name: "", text, values: [tenantId, limit] });
}

export type IpPolicyRow = { ip_policy: "full" | "truncate" | "hash"; ip_key: Uint8Array };

export async function findIpPolicy(database: Queryable, tenantId: string): Promise<IpPolicyRow> {
  const text = "select ip_policy, ip_key from tenants where tenant_id = $1";
  const [row] = await database.query<Row & IpPolicyRow>({ name: "", text, values: [tenantId] });
  if (!row) throw new Error("the tenant of a request cannot be found");
  return row;
}
