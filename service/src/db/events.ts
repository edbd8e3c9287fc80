import type { DomainEvent, LoggedEvent } from "../domain/event.ts";
import { databasePattern } from "../domain/erasure.ts";
import { talliesOf } from "../domain/tally.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// Must be the last statement of its transaction: the counter's row stays locked until the commit, so that event numbers follow
// commit order.
export async function appendEvents(tx: Queryable, tenantId: string, events: DomainEvent[]): Promise<void> {
  if (events.length === 0) return;
  await (tx.isCluster === true ? appendOnNode(tx, tenantId, events) : appendAtOnce(tx, tenantId, events));
}

async function appendAtOnce(tx: Queryable, tenantId: string, events: DomainEvent[]): Promise<void> {
  const tallies = talliesOf(events);
  await tx.query(sql`
    with counter as (
      update event_counters
      set last_event_id = last_event_id + ${events.length}::int
      where tenant_id = ${tenantId}
      returning last_event_id - ${events.length}::int as base
    ),
    tallied as (
      insert into case_tallies (tenant_id, day, what, bucket, cases)
      select ${tenantId}::uuid, t.day, t.what, t.bucket, t.cases
      from counter,
        unnest(
          ${tallies.map((tally) => tally.day)}::date[],
          ${tallies.map((tally) => tally.what)}::text[],
          ${tallies.map((tally) => tally.bucket)}::smallint[],
          ${tallies.map((tally) => tally.cases)}::bigint[]
        ) as t (day, what, bucket, cases)
      on conflict (tenant_id, day, what, bucket) do update
      set cases = case_tallies.cases + excluded.cases
    )
    insert into events (tenant_id, event_id, type, occurred_at, actor, resource_type, resource_id, resource_version, data)
    select ${tenantId}::uuid, counter.base + e.position, e.type, e.occurred_at, e.actor, e.resource_type, e.resource_id, e.resource_version, e.data
    from counter,
      unnest(
        ${events.map((event) => event.type)}::text[],
        ${events.map((event) => event.occurred_at)}::timestamptz[],
        ${events.map((event) => event.actor)}::text[],
        ${events.map((event) => event.resource.type)}::text[],
        ${events.map((event) => event.resource.id)}::text[],
        ${events.map((event) => event.resource.version ?? null)}::int[],
        ${events.map((event) => (event.data ? JSON.stringify(event.data) : null))}::jsonb[]
      ) with ordinality as e (type, occurred_at, actor, resource_type, resource_id, resource_version, data, position)`);
}

// A cluster would run a statement with several changes on all of its nodes, so these are three that are sent together. The others
// read the counter, which is the tenant's own row.
async function appendOnNode(tx: Queryable, tenantId: string, events: DomainEvent[]): Promise<void> {
  const tallies = talliesOf(events);
  const counting = tx.query(sql`
    update event_counters
    set last_event_id = last_event_id + ${events.length}::int
    where tenant_id = ${tenantId}`);
  const tallying =
    tallies.length === 0
      ? null
      : tx.query(sql`
    insert into case_tallies (tenant_id, day, what, bucket, cases)
    select c.tenant_id, t.day, t.what, t.bucket, t.cases
    from event_counters as c
    cross join unnest(
      ${tallies.map((tally) => tally.day)}::date[],
      ${tallies.map((tally) => tally.what)}::text[],
      ${tallies.map((tally) => tally.bucket)}::smallint[],
      ${tallies.map((tally) => tally.cases)}::bigint[]
    ) as t (day, what, bucket, cases)
    where c.tenant_id = ${tenantId}
    on conflict (tenant_id, day, what, bucket) do update
    set cases = case_tallies.cases + excluded.cases`);
  const appending = tx.query(sql`
    insert into events (tenant_id, event_id, type, occurred_at, actor, resource_type, resource_id, resource_version, data)
    select c.tenant_id, c.last_event_id - ${events.length}::int + e.position, e.type, e.occurred_at, e.actor, e.resource_type,
      e.resource_id, e.resource_version, e.data
    from event_counters as c
    cross join unnest(
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.occurred_at)}::timestamptz[],
      ${events.map((event) => event.actor)}::text[],
      ${events.map((event) => event.resource.type)}::text[],
      ${events.map((event) => event.resource.id)}::text[],
      ${events.map((event) => event.resource.version ?? null)}::int[],
      ${events.map((event) => (event.data ? JSON.stringify(event.data) : null))}::jsonb[]
    ) with ordinality as e (type, occurred_at, actor, resource_type, resource_id, resource_version, data, position)
    where c.tenant_id = ${tenantId}`);
  await Promise.all([counting, tallying, appending]);
}

export async function eraseAccountFromEvents(
  tx: Queryable,
  tenantId: string,
  erased: { id: string; pseudonym: string },
): Promise<void> {
  await tx.query(sql`
    update events
    set resource_id = ${erased.pseudonym}
    where tenant_id = ${tenantId}
      and resource_type = 'end_user_account'
      and resource_id = ${erased.id}`);
  // A tenant may name an activity after its account.
  const pattern = databasePattern(erased.id, { isJson: false });
  await tx.query(sql`
    update events
    set resource_id = regexp_replace(resource_id, ${pattern}, ${erased.pseudonym}, 'g')
    where tenant_id = ${tenantId} and resource_type = 'activity' and resource_id ~ ${pattern}`);
  // Deliveries are ordered by a hash of the resource's name. The new name keeps the erasure event behind the earlier deliveries.
  await tx.query(sql`
    update webhook_deliveries
    set resource = hashtextextended('end_user_account ' || ${erased.pseudonym}, 0)
    where tenant_id = ${tenantId} and resource = hashtextextended('end_user_account ' || ${erased.id}, 0)`);
}

type EventRow = Row & {
  event_id: number;
  type: string;
  occurred_at: string;
  actor: string;
  resource_type: string;
  resource_id: string;
  resource_version: number | null;
  data: Record<string, unknown> | null;
};

function toEvent({ resource_type, resource_id, resource_version, data, ...row }: EventRow): LoggedEvent {
  const resource = { type: resource_type, id: resource_id, ...(resource_version !== null && { version: resource_version }) };
  return { ...row, resource, ...(data !== null && { data }) };
}

// The latest event number of each tenant. All open streams share this poll, so one statement asks for all of their tenants.
export async function findLastEventIds(database: Queryable, tenantIds: string[]): Promise<Map<string, number>> {
  const rows = await database.query<Row & { tenant_id: string; last_event_id: number }>(sql`
    select tenant_id, last_event_id
    from event_counters
    where tenant_id = any(${tenantIds}::uuid[])`);
  return new Map(rows.map((row) => [row.tenant_id, row.last_event_id]));
}

// In order. A reader that sees an event number also sees every lower one, because the counter's row was locked until those were
// committed.
export async function listEventsAfter(
  database: Queryable,
  tenantId: string,
  page: { after: number; limit: number },
): Promise<LoggedEvent[]> {
  const rows = await database.query<EventRow>(sql`
    select event_id, type, occurred_at, actor, resource_type, resource_id, resource_version, data
    from events
    where tenant_id = ${tenantId} and event_id > ${page.after}
    order by event_id
    limit ${page.limit}`);
  return rows.map(toEvent);
}

// Events of one resource, newest first.
export async function listEventsOf(
  database: Queryable,
  tenantId: string,
  page: { resource: { type: DomainEvent["resource"]["type"]; id: string }; before: number | null; limit: number },
): Promise<LoggedEvent[]> {
  const rows = await database.query<EventRow>(sql`
    select event_id, type, occurred_at, actor, resource_type, resource_id, resource_version, data
    from events
    where tenant_id = ${tenantId}
      and resource_type = ${page.resource.type}
      and resource_id = ${page.resource.id}
      and event_id < ${page.before ?? Number.MAX_SAFE_INTEGER}
    order by event_id desc
    limit ${page.limit}`);
  return rows.map(toEvent);
}
