import { addressesShownMax, sessionActivitiesMax } from "../domain/session.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import type { DecidedActivity } from "./decisions.ts";
import { sql, statement, type Statement } from "./postgres/sql.ts";
import type { StoredSession } from "./states.ts";

export type TimelineRow = DecidedActivity & { prediction_id: string | null; user_agent: string | null };
export type LogPosition = { received_at: string; id_key: string };
type Page<P> = { after: P | null; limit: number };

const columns =
  "received_at, id_key, occurred_at, score, origin, type, activity_id, website_account_id, claimed_account_id, session_id, device_id, ip, agent_key, prediction_id, case_id, document, decision";

// The page's rows with their user agents. The rows are selected before their user agents are looked up.
function withAgents(inner: Statement, order: string): Statement {
  const shown = columns
    .split(", ")
    .filter((column) => column !== "agent_key")
    .map((column) => `a.${column}`);
  const text = `
    select ${shown.join(", ")}, u.user_agent
    from (${inner.text}) as a
    left join user_agents as u on u.tenant_id = $1 and u.agent_key = a.agent_key
    order by ${order}`;
  return statement(text, inner.values);
}

// Newest first, within a part of the log.
export async function listActivitiesOfAccount(
  database: Queryable,
  tenantId: string,
  page: Page<LogPosition> & { website_account_id: string; from: string; until: string },
): Promise<TimelineRow[]> {
  const text = `
    select ${columns}
    from activities
    where tenant_id = $1
      and website_account_id = $2
      and received_at >= $3::timestamptz
      and received_at <= $4::timestamptz
      and (received_at, id_key) < ($4::timestamptz, $5::uuid)
    order by received_at desc, id_key desc
    limit $6`;
  const until = page.after?.received_at ?? page.until;
  const values = [tenantId, page.website_account_id, page.from, until, page.after?.id_key ?? lastKey, page.limit];
  return database.query<Row & TimelineRow>(withAgents({ name: "", text, values }, "a.received_at desc, a.id_key desc"));
}

// All activity of the tenant, newest first, in the log's own order.
export async function listLatestActivities(
  database: Queryable,
  tenantId: string,
  page: Page<LogPosition>,
): Promise<TimelineRow[]> {
  const text = `
    select ${columns}
    from activities
    where tenant_id = $1
      and received_at <= $2::timestamptz
      and (received_at, id_key) < ($2::timestamptz, $3::uuid)
    order by received_at desc, id_key desc
    limit $4`;
  const values = [tenantId, page.after?.received_at ?? "infinity", page.after?.id_key ?? lastKey, page.limit];
  return database.query<Row & TimelineRow>(withAgents({ name: "", text, values }, "a.received_at desc, a.id_key desc"));
}

const lastKey = "ffffffff-ffff-ffff-ffff-ffffffffffff";

// The activities behind these decisions, newest first.
export async function listActivitiesOfDecisions(
  database: Queryable,
  tenantId: string,
  page: Page<LogPosition> & { prediction_ids: string[]; from: string; until: string },
): Promise<TimelineRow[]> {
  const text = `
    select ${columns}
    from activities
    where tenant_id = $1
      and prediction_id = any($2::uuid[])
      and received_at >= $3::timestamptz
      and received_at <= $4::timestamptz
      and (received_at, id_key) < ($4::timestamptz, $5::uuid)
    order by received_at desc, id_key desc
    limit $6`;
  const until = page.after?.received_at ?? page.until;
  const values = [tenantId, page.prediction_ids, page.from, until, page.after?.id_key ?? lastKey, page.limit];
  return database.query<Row & TimelineRow>(withAgents({ name: "", text, values }, "a.received_at desc, a.id_key desc"));
}

export type SessionPosition = { occurred_at: string; id_key: string };

// Ordered by `occurred_at`, because all activities of one request have the same time of receipt. No index has that order, so a
// page reads the whole session. The inner limit bounds the cost, and keeps the activities that came first.
export async function listActivitiesOfSession(
  database: Queryable,
  tenantId: string,
  page: Page<SessionPosition> & { session_id: string; from: string },
): Promise<TimelineRow[]> {
  const text = `
    select ${columns}
    from (
      select ${columns}
      from activities
      where tenant_id = $1 and session_id = $2 and received_at >= $3::timestamptz
      limit ${sessionActivitiesMax}
    ) as session
    where (occurred_at, id_key) > ($4::timestamptz, $5::uuid)
    order by occurred_at, id_key
    limit $6`;
  const after = page.after ?? { occurred_at: "-infinity", id_key: "00000000-0000-0000-0000-000000000000" };
  const values = [tenantId, page.session_id, page.from, after.occurred_at, after.id_key, page.limit];
  return database.query<Row & TimelineRow>(withAgents({ name: "", text, values }, "a.occurred_at, a.id_key"));
}

type SessionTraces = { session_id: string; ips: string[] | null; user_agent: string | null };

// The addresses and the user agent of each session, from its first events.
export async function findSessionTraces(
  database: Queryable,
  tenantId: string,
  sessions: Pick<StoredSession, "session_id" | "started_at">[],
): Promise<Map<string, SessionTraces>> {
  if (sessions.length === 0) return new Map();
  const rows = await database.query<Row & SessionTraces>(sql`
    select s.session_id, (array_agg(distinct a.ip) filter (where a.ip is not null))[1:${addressesShownMax}::int] as ips, max(u.user_agent) as user_agent
    from unnest(${sessions.map((each) => each.session_id)}::text[], ${sessions.map((each) => each.started_at)}::timestamptz[]) as s (session_id, started_at)
    cross join lateral (
      select ip, agent_key
      from activities
      where tenant_id = ${tenantId} and session_id = s.session_id and received_at >= s.started_at - interval '10 minutes'
      limit 200
    ) as a
    left join user_agents as u on u.tenant_id = ${tenantId} and u.agent_key = a.agent_key
    group by s.session_id`);
  return new Map(rows.map((row) => [row.session_id, row]));
}

// Newest first.
export async function listSessionsOfAccount(
  database: Queryable,
  tenantId: string,
  page: Page<{ started_at: string; session_id: string }> & { website_account_id: string },
): Promise<StoredSession[]> {
  return database.query<Row & StoredSession>(sql`
    select session_id, website_account_id, device_id, started_at, last_at, facts
    from sessions
    where tenant_id = ${tenantId}
      and website_account_id = ${page.website_account_id}
      and (started_at, session_id) < (${page.after?.started_at ?? "infinity"}::timestamptz, ${page.after?.session_id ?? ""}::text)
    order by started_at desc, session_id desc
    limit ${page.limit}`);
}

// When the latest scored activity was received.
export async function findLastReceived(database: Queryable, tenantId: string): Promise<string | null> {
  const [row] = await database.query<Row & { received_at: string }>(sql`
    select received_at
    from activities
    where tenant_id = ${tenantId}
    order by received_at desc
    limit 1`);
  return row?.received_at ?? null;
}
