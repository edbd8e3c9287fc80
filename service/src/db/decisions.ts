import type { ExampleKey } from "../domain/backtest.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// A scored activity with its stored decision. The document holds the members that have no column.
export type DecidedActivity = {
  received_at: string;
  id_key: string;
  occurred_at: string;
  score: number;
  origin: string;
  type: string;
  activity_id: string;
  website_account_id: string | null;
  claimed_account_id: string | null;
  session_id: string | null;
  device_id: string | null;
  ip: string | null;
  case_id: string | null;
  document: string;
  decision: string;
};

export async function findDecision(
  database: Queryable,
  tenantId: string,
  predictionId: string,
): Promise<DecidedActivity | undefined> {
  if (!isCanonicalUuid(predictionId)) return undefined;
  const [row] = await database.query<Row & DecidedActivity>(sql`
    select received_at, id_key, occurred_at, score, origin, type, activity_id, website_account_id,
      claimed_account_id, session_id, device_id, ip, case_id, document, decision
    from activities
    where tenant_id = ${tenantId} and prediction_id = ${predictionId}`);
  return row;
}

// In the order of the keys. Activities that no longer exist are omitted.
export async function findDecided(database: Queryable, tenantId: string, keys: ExampleKey[]): Promise<DecidedActivity[]> {
  if (keys.length === 0) return [];
  return database.query<Row & DecidedActivity>(sql`
    select a.received_at, a.id_key, a.occurred_at, a.score, a.origin, a.type, a.activity_id, a.website_account_id,
      a.claimed_account_id, a.session_id, a.device_id, a.ip, a.case_id, a.document, a.decision
    from unnest(${keys.map((each) => each.received_at)}::timestamptz[], ${keys.map((each) => each.id_key)}::uuid[])
      with ordinality as k (received_at, id_key, position)
    join activities as a on a.tenant_id = ${tenantId} and a.received_at = k.received_at and a.id_key = k.id_key
    order by k.position`);
}

// A part of the log, read backwards from `until` or from where the previous chunk ended.
type Span = { from: string; until: string; before: ExampleKey };

// A position before every row of that moment.
export function endOf(moment: string): ExampleKey {
  return { received_at: moment, id_key: "00000000-0000-0000-0000-000000000000" };
}

const keyCharacters = 36;

// A chunk of the log in columns, newest first. Texts and keys are concatenated, because one long value is cheaper to send and to
// read than thousands of rows.
export type Chunk = {
  count: number;
  decisions: string[];
  documents: string[];
  // What lists look up, as JSON arrays: origin, account, device, address, user agent.
  names: string[];
  scoreOf: (index: number) => number;
  keyOf: (index: number) => string;
  // Where the next chunk begins, or null at the end.
  next: ExampleKey | null;
};

type ChunkRow = Row & {
  count: number;
  decisions: string | null;
  documents: string | null;
  names: string | null;
  scores: string | null;
  keys: string | null;
  last_at: string | null;
};

// Planned for its values each time, because a generic plan would sort the whole span for every chunk.
export async function readDecisions(
  reader: Queryable,
  tenantId: string,
  span: Span & { limit: number; hasDocuments: boolean; hasNames?: boolean },
): Promise<Chunk> {
  const { hasNames = false } = span;
  const { text, values } = sql`
    select count(*) as count,
      string_agg(decision, E'\n') as decisions,
      string_agg(document, E'\n') as documents,
      string_agg(
        case
          when ${hasNames} then jsonb_build_array(origin, website_account_id, device_id, ip, (
            select user_agent
            from user_agents as u
            where u.tenant_id = ${tenantId} and u.agent_key = stretch.agent_key
          ))::text
        end, E'\n') as names,
      string_agg(score::text, '') as scores,
      string_agg(id_key::text, '') as keys,
      min(received_at) as last_at
    from (
      select received_at, id_key, score, decision, case when ${span.hasDocuments} then document end as document,
        origin, website_account_id, device_id, ip, agent_key
      from activities
      where tenant_id = ${tenantId}
        and received_at >= ${span.from}
        and received_at < ${span.until}
        and (received_at, id_key) < (${span.before.received_at}::timestamptz, ${span.before.id_key}::uuid)
      order by received_at desc, id_key desc
      limit ${span.limit}
    ) as stretch`;
  const [row] = await reader.query<ChunkRow>({ name: "", text, values });
  if (!row || row.count === 0) return { ...noChunk };
  const { count, scores, keys, last_at } = row;
  // JSON escapes line breaks, so a line break always separates two texts.
  const decisions = row.decisions?.split("\n") ?? [];
  const documents = row.documents?.split("\n") ?? [];
  const names = row.names?.split("\n") ?? [];
  if (decisions.length !== count || (span.hasDocuments && documents.length !== count) || (hasNames && names.length !== count))
    throw new Error("a stored decision contains a line break");
  const keyOf = (index: number) => keys?.slice(index * keyCharacters, (index + 1) * keyCharacters) ?? "";
  const next = count < span.limit || last_at === null ? null : { received_at: last_at, id_key: keyOf(count - 1) };
  return { count, decisions, documents, names, scoreOf: (index) => Number(scores?.[index]), keyOf, next };
}

const noChunk: Chunk = { count: 0, decisions: [], documents: [], names: [], scoreOf: () => 0, keyOf: () => "", next: null };

export type HitRow = Pick<
  DecidedActivity,
  "received_at" | "id_key" | "occurred_at" | "type" | "activity_id" | "website_account_id" | "session_id" | "device_id" | "ip"
>;

// The subjects of these activities of a chunk. They are looked up by key, because an erasure may have deleted rows since the
// chunk was read.
export async function listSubjects(
  reader: Queryable,
  tenantId: string,
  span: Span & { last: ExampleKey | null; keys: string[] },
): Promise<HitRow[]> {
  if (span.keys.length === 0) return [];
  const { text, values } = sql`
    select received_at, id_key, occurred_at, type, activity_id, website_account_id, session_id, device_id, ip
    from activities
    where tenant_id = ${tenantId}
      and received_at >= ${span.last?.received_at ?? span.from}
      and received_at <= ${span.before.received_at}
      and id_key = any(${span.keys}::uuid[])
    order by received_at desc, id_key desc`;
  return reader.query<Row & HitRow>({ name: "", text, values });
}

type Plan = { Plan: { "Plan Rows": number } };

// Estimated from the planner's statistics, because counting millions of rows takes as long as reading them.
export async function estimateDecisions(
  reader: Queryable,
  tenantId: string,
  span: { from: string; until: string },
): Promise<number> {
  const { text, values } = sql`
    explain (format json)
    select 1
    from activities
    where tenant_id = ${tenantId} and received_at >= ${span.from} and received_at < ${span.until}`;
  const [row] = await reader.query<{ "QUERY PLAN": Plan[] }>({ name: "", text, values });
  return Math.round(row?.["QUERY PLAN"][0]?.Plan["Plan Rows"] ?? 0);
}
