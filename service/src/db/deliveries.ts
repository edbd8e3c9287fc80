import type { Delivery, DeliveryState } from "../domain/webhook.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type WebhookKey = { tenant_id: string; webhook_id: string };

// Webhooks whose tenant has events without deliveries so far.
export async function listWebhooksBehind(database: Queryable): Promise<WebhookKey[]> {
  return askTenants<WebhookKey & Row>(
    database,
    sql`
    select w.tenant_id, w.webhook_id
    from webhooks as w
    join event_counters as c using (tenant_id)
    where w.is_enabled and w.position < c.last_event_id`,
  );
}

type FanOut = {
  types: readonly string[];
  // The types that webhooks of a chat send.
  chatTypes: readonly string[];
  eventsMax: number;
  waitingMax: number;
  now: string;
};

// Creates deliveries for the next events that the webhook subscribes to, and advances its position. Skips a webhook that another
// process holds. Creates none while too many deliveries are waiting; the events remain in the log.
export async function fanOut(tx: Queryable, key: WebhookKey, wanted: FanOut): Promise<void> {
  await (tx.isCluster === true ? fanOutOnNode(tx, key, wanted) : fanOutAtOnce(tx, key, wanted));
}

async function fanOutAtOnce(
  tx: Queryable,
  { tenant_id, webhook_id }: WebhookKey,
  { types, chatTypes, eventsMax, waitingMax, now }: FanOut,
): Promise<void> {
  await tx.query(sql`
    with held as (
      select position, types, format
      from webhooks
      where tenant_id = ${tenant_id} and webhook_id = ${webhook_id}
        and (
          select count(*)
          from webhook_deliveries
          where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and state = 'WAITING'
        ) < ${waitingMax}::int
      for update skip locked
    ),
    next as (
      select e.event_id, e.type, hashtextextended(e.resource_type || ' ' || e.resource_id, 0) as resource
      from held
      join events as e on e.tenant_id = ${tenant_id} and e.event_id > held.position
      order by e.event_id
      limit ${eventsMax}::int
    ),
    moved as (
      update webhooks
      set position = (select max(event_id) from next)
      where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and exists (select from next)
    )
    insert into webhook_deliveries (tenant_id, webhook_id, event_id, resource, state, attempts, next_at, created_at)
    select ${tenant_id}::uuid, ${webhook_id}::uuid, next.event_id, next.resource, 'WAITING', 0, ${now}::timestamptz, ${now}::timestamptz
    from next, held
    where next.type = any(${types}::text[])
      and (held.format = 'standard' or next.type = any(${chatTypes}::text[]))
      and (cardinality(held.types) = 0 or next.type = any(held.types))`);
}

// A cluster would run a statement with several changes on all of its nodes.
async function fanOutOnNode(
  tx: Queryable,
  { tenant_id, webhook_id }: WebhookKey,
  { types, chatTypes, eventsMax, waitingMax, now }: FanOut,
): Promise<void> {
  const [held] = await tx.query<{ position: number; last: number | null }>(sql`
    select w.position,
      (
        select max(e.event_id)
        from (
          select event_id
          from events
          where tenant_id = ${tenant_id} and event_id > w.position
          order by event_id
          limit ${eventsMax}::int
        ) as e
      ) as last
    from webhooks as w
    where w.tenant_id = ${tenant_id} and w.webhook_id = ${webhook_id}
      and (
        select count(*)
        from webhook_deliveries
        where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and state = 'WAITING'
      ) < ${waitingMax}::int
    for update of w skip locked`);
  if (!held || held.last === null) return;
  const inserting = tx.query(sql`
    insert into webhook_deliveries (tenant_id, webhook_id, event_id, resource, state, attempts, next_at, created_at)
    select e.tenant_id, w.webhook_id, e.event_id, hashtextextended(e.resource_type || ' ' || e.resource_id, 0), 'WAITING', 0,
      ${now}::timestamptz, ${now}::timestamptz
    from events as e
    join webhooks as w using (tenant_id)
    where e.tenant_id = ${tenant_id} and e.event_id > ${held.position} and e.event_id <= ${held.last}
      and w.webhook_id = ${webhook_id}
      and e.type = any(${types}::text[])
      and (w.format = 'standard' or e.type = any(${chatTypes}::text[]))
      and (cardinality(w.types) = 0 or e.type = any(w.types))`);
  const moving = tx.query(sql`
    update webhooks
    set position = ${held.last}
    where tenant_id = ${tenant_id} and webhook_id = ${webhook_id}`);
  await Promise.all([inserting, moving]);
}

// Webhooks of the standard format with a delivery that is due.
export async function listWebhooksDue(database: Queryable, now: string): Promise<WebhookKey[]> {
  return askTenants<WebhookKey & Row>(
    database,
    sql`
    select w.tenant_id, w.webhook_id
    from webhooks as w
    where w.is_enabled and w.format = 'standard'
      and exists (
        select
        from webhook_deliveries as d
        where d.tenant_id = w.tenant_id and d.webhook_id = w.webhook_id and d.state = 'WAITING' and d.next_at <= ${now}::timestamptz
      )`,
  );
}

// `last_at`: when the delivery was claimed, which distinguishes this claim from others. A resend starts counting attempts again.
export type Claimed = { event_id: number; attempts: number; first_at: string; last_at: string };

// Claims deliveries that are due, oldest first and only the first of each resource, until the lease ends.
export async function claimDeliveries(
  database: Queryable,
  { tenant_id, webhook_id }: WebhookKey,
  { limit, now, leaseUntil }: { limit: number; now: string; leaseUntil: string },
): Promise<Claimed[]> {
  return database.query<Claimed & Row>(sql`
    with due as (
      select d.event_id
      from webhook_deliveries as d
      where d.tenant_id = ${tenant_id} and d.webhook_id = ${webhook_id} and d.state = 'WAITING' and d.next_at <= ${now}::timestamptz
        and not exists (
          select
          from webhook_deliveries as e
          where e.tenant_id = ${tenant_id} and e.webhook_id = ${webhook_id} and e.state = 'WAITING'
            and e.resource = d.resource and e.event_id < d.event_id
        )
      order by d.event_id
      limit ${limit}::int
      for update skip locked
    )
    update webhook_deliveries as d
    set attempts = d.attempts + 1,
      next_at = ${leaseUntil}::timestamptz,
      first_at = coalesce(d.first_at, ${now}::timestamptz),
      last_at = ${now}::timestamptz
    from due
    where d.tenant_id = ${tenant_id} and d.webhook_id = ${webhook_id} and d.event_id = due.event_id
    returning d.event_id, d.attempts, d.first_at, d.last_at`);
}

export type Ended = { state: DeliveryState; next_at: string; status: number | null; error: string | null };

// If another process has claimed the delivery since, because the lease ran out or it was resent, that process decides its state.
// A successful delivery is recorded in any case.
export async function saveAttempt(
  database: Queryable,
  { tenant_id, webhook_id }: WebhookKey,
  { event_id, last_at }: Claimed,
  { state, next_at, status, error }: Ended,
): Promise<void> {
  await database.query(sql`
    update webhook_deliveries
    set state = ${state}, next_at = ${next_at}, last_status = ${status}::smallint, last_error = ${error}
    where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and event_id = ${event_id}
      and state = 'WAITING' and (last_at = ${last_at}::timestamptz or ${state} = 'DELIVERED')`);
}

// Counts over all tenants.
export async function countGivenUp(database: Queryable): Promise<{ dead: number; disabled: number }> {
  const [row] = await database.query<{ dead: number; disabled: number }>(sql`
    select (select count(*) from webhook_deliveries where state = 'DEAD') as dead,
      (select count(*) from webhooks where disabled_reason is not null) as disabled`);
  return row ?? { dead: 0, disabled: 0 };
}

type DeliveryRow = Row & {
  event_id: number;
  type: string;
  resource_type: string;
  resource_id: string;
  state: DeliveryState;
  attempts: number;
  created_at: string;
  next_at: string | null;
  waits_for: number | null;
  last_at: string | null;
  last_status: number | null;
  last_error: string | null;
};

function toDelivery({
  resource_type,
  resource_id,
  next_at,
  waits_for,
  last_at,
  last_status,
  last_error,
  ...row
}: DeliveryRow): Delivery {
  return {
    ...row,
    resource: { type: resource_type, id: resource_id },
    ...(last_at !== null && { last_attempt_at: last_at }),
    ...(next_at !== null && { next_attempt_at: next_at }),
    ...(waits_for !== null && { waits_for }),
    ...(last_status !== null && { last_status }),
    ...(last_error !== null && { last_error }),
  };
}

type DeliveryPage = { webhook_id: string; state?: DeliveryState; before: number | null; limit: number };

// Newest first. A delivery has a next attempt only if it can be sent: not while it waits for an earlier one or its webhook is
// disabled.
export async function listDeliveries(database: Queryable, tenantId: string, page: DeliveryPage): Promise<Delivery[]> {
  const rows = await database.query<DeliveryRow>(sql`
    select d.event_id, e.type, e.resource_type, e.resource_id, d.state, d.attempts, d.created_at, d.last_at, d.last_status, d.last_error,
      case when d.state = 'WAITING' and w.is_enabled and first.waits_for is null then d.next_at end as next_at, first.waits_for
    from webhook_deliveries as d
    join webhooks as w on w.tenant_id = ${tenantId} and w.webhook_id = d.webhook_id
    join events as e on e.tenant_id = ${tenantId} and e.event_id = d.event_id
    left join lateral (
      select f.event_id as waits_for
      from webhook_deliveries as f
      where f.tenant_id = ${tenantId} and f.webhook_id = d.webhook_id and f.state = 'WAITING'
        and f.resource = d.resource and f.event_id < d.event_id and d.state = 'WAITING'
      order by f.event_id
      limit 1
    ) as first on true
    where d.tenant_id = ${tenantId} and d.webhook_id = ${page.webhook_id}::uuid
      and d.event_id < ${page.before ?? Number.MAX_SAFE_INTEGER}
      and (${page.state ?? null}::text is null or d.state = ${page.state ?? null})
    order by d.event_id desc
    limit ${page.limit}::int`);
  return rows.map(toDelivery);
}

// Resends at once, with a fresh count of attempts and the full retry period: all deliveries that were abandoned or wait for a
// retry, or the named one in any state. Returns how many.
export async function resendDeliveries(
  tx: Queryable,
  tenantId: string,
  { webhook_id, event_id, now }: { webhook_id: string; event_id: number | null; now: string },
): Promise<number> {
  const rows = await tx.query(sql`
    update webhook_deliveries
    set state = 'WAITING', attempts = 0, first_at = null, next_at = ${now}::timestamptz
    where tenant_id = ${tenantId} and webhook_id = ${webhook_id}::uuid
      and (event_id = ${event_id}::bigint or (
        ${event_id}::bigint is null and (state = 'DEAD' or (state = 'WAITING' and next_at > ${now}::timestamptz))
      ))
    returning 1 as sent`);
  return rows.length;
}
