import { hash } from "node:crypto";
import { paymentOf, type BrowserFacts } from "../domain/activity.ts";
import type { StoredCampaigns } from "../domain/campaign.ts";
import type { Source } from "../domain/source.ts";
import { advisoryLocks } from "./postgres/advisory-locks.ts";
import type { Queryable } from "./postgres/database.ts";
import { codeOf } from "./postgres/faults.ts";
import { deleteAssessmentsOf } from "./assessments.ts";
import type { ClaimedActivity } from "./inbox.ts";
import { deleteLabelsOf } from "./labels.ts";
import { joinJson, plainArray, sql, statement, textArray } from "./postgres/sql.ts";

export type Turn = {
  ip_policy: "full" | "truncate" | "hash";
  ip_key: Uint8Array;
  identity_verification: "off" | "observe" | "required";
  time_zone: string;
  // The kinds of activity that the tenant's servers report, each with the last day it was reported.
  told: Record<string, string>;
  // Of the latest sessions reported by servers: how many there are, in how many a browser sent events, and when one last did.
  tied_sessions: number;
  heard_sessions: number;
  browser_at: string | null;
  campaigns: StoredCampaigns;
  // When an assessment was last scored. Not updated for every assessment, so it may be a few seconds too early.
  assessed_at: string | null;
};

const turnText = `
    select t.ip_policy, t.ip_key, t.identity_verification, t.time_zone, e.told, e.tied_sessions, e.heard_sessions, e.browser_at,
      e.campaigns, e.assessed_at
    from engine_turns as e
    join tenants as t using (tenant_id)
    where e.tenant_id = $1`;

// If another engine has the tenant's turn, waits for it if `isPatient`, and otherwise returns null. The turn is held until the
// transaction ends.
export async function claimTurn(tx: Queryable, tenantId: string, isPatient = false): Promise<Turn | null> {
  const lock = isPatient ? "for update of e" : "for update of e skip locked";
  const [row] = await tx.query<Turn>({ ...statement(`${turnText} ${lock}`, [tenantId]), changesNothing: true });
  return row ?? null;
}

// Reads the turn without taking it.
export async function findTurn(database: Queryable, tenantId: string): Promise<Turn | null> {
  const [row] = await database.query<Turn>(statement(turnText, [tenantId]));
  return row ?? null;
}

export async function saveAssessedAt(tx: Queryable, tenantId: string, now: string): Promise<void> {
  await tx.query(sql`
    update engine_turns
    set assessed_at = ${now}
    where tenant_id = ${tenantId}`);
}

// Waits for the engine. While it has the turn, it holds the tenant's states in memory and would write deleted data back.
export async function lockTurn(tx: Queryable, tenantId: string): Promise<void> {
  await tx.query(sql`
    select 1 as locked
    from engine_turns
    where tenant_id = ${tenantId}
    for update`);
}

export async function saveTurn(
  tx: Queryable,
  tenantId: string,
  turn: Pick<Turn, "told" | "tied_sessions" | "heard_sessions" | "browser_at">,
): Promise<void> {
  await tx.query(sql`
    update engine_turns
    set told = ${JSON.stringify(turn.told)}::jsonb,
      tied_sessions = ${turn.tied_sessions},
      heard_sessions = ${turn.heard_sessions},
      browser_at = ${turn.browser_at}
    where tenant_id = ${tenantId}`);
}

export async function saveCampaigns(tx: Queryable, tenantId: string, campaigns: StoredCampaigns): Promise<void> {
  await tx.query(sql`
    update engine_turns
    set campaigns = ${JSON.stringify(campaigns)}::jsonb
    where tenant_id = ${tenantId}`);
}

// Refreshes the statistics early. Autovacuum checks only once a minute, and until then the planner assumes that the tables are
// empty.
export async function analyzeActivity(tx: Queryable): Promise<void> {
  await tx.query(
    statement("analyze accounts, activity_ids, assessments, inbox, entity_states, sessions, links, metric_buckets", []),
  );
}

export type ScoredActivity = ClaimedActivity & {
  source?: Source;
  // The account that an unverified page named.
  claimed_account_id?: string | null;
  ip: string | null;
  score: number;
  prediction_id: string | null;
  case_id: string | null;
  decision: string;
  // Whether it is imported history. Nobody acted on its score.
  isImported?: boolean;
};

// Appends activities to the log together with their decisions. The day's partition must exist.
export async function appendScored(tx: Queryable, tenantId: string, given: ScoredActivity[]): Promise<void> {
  // Insert in key order, so that the index grows at its end and its pages stay full.
  const scored = given.toSorted(byKey);
  const column = <T>(pick: (each: ScoredActivity) => T) => scored.map(pick);
  const seenOn = scored.at(-1)?.activity.received_at.slice(0, 10) ?? "";
  const agents = agentKeys(scored);
  const inserting = insertAgents(tx, tenantId, { agents, seenOn });
  const appending = tx.query(sql`
    insert into activities (
      tenant_id, received_at, id_key, occurred_at, score, origin, type, activity_id, website_account_id, session_id, device_id,
      ip, agent_key, prediction_id, case_id, claimed_account_id, order_id, document, decision
    )
    select ${tenantId}::uuid, s.*
    from unnest(
      ${plainArray(column((each) => each.activity.received_at))}::timestamptz[],
      ${plainArray(column((each) => each.id_key))}::uuid[],
      ${plainArray(column((each) => each.activity.occurred_at))}::timestamptz[],
      ${plainArray(column((each) => each.score))}::smallint[],
      ${plainArray(column((each) => each.activity.origin))}::text[],
      ${textArray(column((each) => each.activity.type))}::text[],
      ${textArray(column((each) => each.activity.activity_id))}::text[],
      ${textArray(column((each) => each.activity.website_account_id ?? null))}::text[],
      ${textArray(column((each) => each.activity.session_id ?? null))}::text[],
      ${textArray(column((each) => each.activity.device_id ?? null))}::text[],
      ${textArray(column((each) => each.ip))}::text[],
      ${plainArray(column((each) => agents.get(each.activity.user_agent ?? "") ?? null))}::bigint[],
      ${plainArray(column((each) => each.prediction_id))}::uuid[],
      ${plainArray(column((each) => each.case_id))}::uuid[],
      ${textArray(column((each) => each.claimed_account_id ?? null))}::text[],
      ${textArray(column((each) => each.activity.order_id ?? null))}::text[],
      string_to_array(${joinJson(column((each) => documentOf(each)))}, chr(1)),
      string_to_array(${joinJson(column((each) => each.decision))}, chr(1))
    ) as s`);
  await Promise.all([inserting, appending]);
}

function byKey(a: ScoredActivity, b: ScoredActivity): number {
  const [at, other] = [a.activity.received_at, b.activity.received_at];
  return at === other ? (a.id_key < b.id_key ? -1 : 1) : at < other ? -1 : 1;
}

function agentKeys(scored: ScoredActivity[]): Map<string, string> {
  const agents = new Set(scored.flatMap(({ activity }) => activity.user_agent ?? []));
  return new Map(
    [...agents].map((agent) => [agent, BigInt.asIntN(64, BigInt(`0x${hash("sha256", agent, "hex").slice(0, 16)}`)).toString()]),
  );
}

// Inserts unknown user agents, and marks all of them as seen on that day. A row is written at most once a day: user agents that
// were already seen today are not even locked.
async function insertAgents(
  tx: Queryable,
  tenantId: string,
  { agents, seenOn }: { agents: Map<string, string>; seenOn: string },
): Promise<void> {
  if (agents.size === 0) return;
  const sorted = [...agents].toSorted(([, a], [, b]) => (a < b ? -1 : 1));
  await tx.query(sql`
    insert into user_agents (tenant_id, agent_key, user_agent, last_seen)
    select c.tenant_id, a.agent_key, a.user_agent, ${seenOn}::date
    from event_counters as c
    cross join unnest(
      ${plainArray(sorted.map(([, key]) => key))}::bigint[],
      ${sorted.map(([agent]) => agent)}::text[]
    ) as a (agent_key, user_agent)
    where c.tenant_id = ${tenantId} and not exists (
      select 1
      from user_agents as known
      where known.tenant_id = ${tenantId} and known.agent_key = a.agent_key and known.last_seen >= ${seenOn}::date
    )
    on conflict (tenant_id, agent_key) do update
    set last_seen = greatest(user_agents.last_seen, excluded.last_seen)`);
}

// The members that have no column. Facts that stay the same for a whole session are stored with the session.
function documentOf({ activity, source, isImported }: ScoredActivity): string {
  const { session_id, attributes, claimed_at, browser, place } = activity;
  return JSON.stringify({
    attributes,
    payment: paymentOf(activity),
    claimed_at,
    browser: session_id === undefined ? browser : browser && changing(browser),
    place,
    ...(source === "verified_session" && { source }),
    ...(isImported === true && { imported: true }),
  });
}

function changing({
  page_title,
  page_url,
  engagement_ms,
  inputs,
  input_spread,
  is_webdriver,
  signs,
}: BrowserFacts): BrowserFacts {
  const facts = { page_title, page_url, engagement_ms, inputs, input_spread, is_webdriver, signs };
  // JSON.stringify omits undefined members.
  return facts as BrowserFacts;
}

// Whether an activity is imported history, in SQL. The text is searched first, because reading every document would take too long.
export const isImported = `case when document like '%"imported"%' then coalesce(document::jsonb ->> 'imported' = 'true', false) else false end`;

const dayMs = 24 * 60 * 60 * 1000;

export function partitionOf(day: string): string {
  return `activities_${day.replaceAll("-", "")}`;
}

// Creates the partition of a UTC day, `YYYY-MM-DD`. Processes that do this at the same time wait for the first one, and then find
// the partition.
export async function makePartition(tx: Queryable, day: string): Promise<void> {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new Error(`${day} is not a day`);
  const next = new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);
  await tx.query(sql`select pg_advisory_xact_lock(${advisoryLocks.partitions})`);
  await tx.query(
    statement(
      // The rows are dropped with their partition, so inserts need no vacuum. Vacuuming after inserts took a tenth of the machine
      // under load.
      `create table if not exists ${partitionOf(day)} partition of activities for values from ('${day} 00:00+00') to ('${next} 00:00+00') with (autovacuum_vacuum_insert_threshold = -1)`,
      [],
    ),
  );
}

const checkViolation = "23514";

// PostgreSQL reports a missing partition as a check violation without a constraint name.
export function isDayMissing(error: unknown): boolean {
  return codeOf(error) === checkViolation && error instanceof Error && !("constraint" in error && error.constraint !== undefined);
}

export async function listPartitions(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ day: string }>(sql`
    select to_char(to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
    from pg_inherits
    where inhparent = 'activities'::regclass
    order by 1`);
  return rows.map((row) => row.day);
}

export type DeletedActivity = { id_key: string; type: string };

export async function deleteActivitiesOfAccount(tx: Queryable, tenantId: string, websiteAccountId: string): Promise<void> {
  const aside = await tx.query<{ id_key: string }>(sql`
    delete from unscorable
    where tenant_id = ${tenantId} and website_account_id = ${websiteAccountId}
    returning id_key`);
  const own = await tx.query<DeletedActivity>(sql`
    delete from activities
    where tenant_id = ${tenantId} and website_account_id = ${websiteAccountId}
    returning id_key, type`);
  const claimed = await tx.query<DeletedActivity>(sql`
    delete from activities
    where tenant_id = ${tenantId} and claimed_account_id = ${websiteAccountId}
    returning id_key, type`);
  await deleteLabelsOf(tx, tenantId, [...own, ...claimed]);
  await deleteAssessmentsOf(tx, tenantId, [...own, ...aside]);
}

// Events in which a page named an account before its session was tied to that account now belong to the account.
export async function proveClaims(
  tx: Queryable,
  tenantId: string,
  proved: { session_id: string; account: string; heard: number }[],
): Promise<void> {
  if (proved.length === 0) return;
  const since = new Date(Math.min(...proved.map(({ heard }) => heard))).toISOString();
  await tx.query(sql`
    update activities as a
    set website_account_id = p.account, claimed_account_id = null
    from unnest(${proved.map((each) => each.session_id)}::text[], ${proved.map((each) => each.account)}::text[]) as p (session_id, account)
    where a.tenant_id = ${tenantId}
      and a.received_at >= ${since}::timestamptz
      and a.session_id = p.session_id
      and a.claimed_account_id = p.account`);
}
