import type { WebhookKey } from "./deliveries.ts";
import { askTenants } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

// Webhooks of chats whose oldest waiting delivery is due, and whose last message is long enough ago. Only the oldest counts:
// otherwise each new event would repeat a message that is waiting for a later attempt.
export async function listChatsDue(database: Queryable, now: string): Promise<WebhookKey[]> {
  return askTenants<WebhookKey & Row>(
    database,
    sql`
    select w.tenant_id, w.webhook_id
    from webhooks as w
    cross join lateral (
      select d.next_at
      from webhook_deliveries as d
      where d.tenant_id = w.tenant_id and d.webhook_id = w.webhook_id and d.state = 'WAITING'
      order by d.event_id
      limit 1
    ) as oldest
    where w.is_enabled and w.format <> 'standard' and w.chat_next_at <= ${now}::timestamptz
      and oldest.next_at <= ${now}::timestamptz
    order by w.chat_next_at`,
  );
}

export type ChatClaim = { event_ids: number[]; attempts: number; first_at: string; last_at: string };
type Claiming = { now: string; chatNextAt: string; leaseUntil: string; limit: number };

// Claims everything that waits, oldest first, as one message. The next message cannot be claimed before chatNextAt, which is later
// than any attempt ends, so one message is under way at a time.
export async function claimChat(
  tx: Queryable,
  { tenant_id, webhook_id }: WebhookKey,
  { now, chatNextAt, leaseUntil, limit }: Claiming,
): Promise<ChatClaim | undefined> {
  const held = await tx.query(sql`
    update webhooks
    set chat_next_at = ${chatNextAt}::timestamptz
    where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and is_enabled and chat_next_at <= ${now}::timestamptz
    returning 1 as held`);
  if (held.length === 0) return undefined;
  const [row] = await tx.query<ChatClaim & Row & { event_ids: number[] | null }>(sql`
    with waiting as (
      select event_id
      from webhook_deliveries
      where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and state = 'WAITING'
      order by event_id
      limit ${limit}::int
      for update
    ),
    claimed as (
      update webhook_deliveries as d
      set attempts = d.attempts + 1,
        next_at = ${leaseUntil}::timestamptz,
        first_at = coalesce(d.first_at, ${now}::timestamptz),
        last_at = ${now}::timestamptz
      from waiting
      where d.tenant_id = ${tenant_id} and d.webhook_id = ${webhook_id} and d.event_id = waiting.event_id
      returning d.event_id, d.attempts, d.first_at
    )
    select array_agg(event_id order by event_id) as event_ids, max(attempts) as attempts, min(first_at) as first_at,
      ${now}::timestamptz as last_at
    from claimed`);
  return row?.event_ids ? row : undefined;
}

type ChatEnd = { state: "DELIVERED" | "WAITING" | "DEAD"; next_at: string; status: number | null; error: string | null };

export async function saveChatEnd(
  database: Queryable,
  { tenant_id, webhook_id }: WebhookKey,
  { event_ids, last_at }: ChatClaim,
  { state, next_at, status, error }: ChatEnd,
): Promise<void> {
  await database.query(sql`
    update webhook_deliveries
    set state = ${state}, next_at = ${next_at}, last_status = ${status}::smallint, last_error = ${error}
    where tenant_id = ${tenant_id} and webhook_id = ${webhook_id} and event_id = any(${plainArray(event_ids)}::bigint[])
      and state = 'WAITING' and (last_at = ${last_at}::timestamptz or ${state} = 'DELIVERED')`);
}

type ChatEventRow = { event_id: number; type: string; actor: string; case_id: string; mentions: number };

// In order. Only events of cases.
export async function readChatEvents(database: Queryable, tenantId: string, eventIds: number[]): Promise<ChatEventRow[]> {
  return database.query<ChatEventRow & Row>(sql`
    select event_id, type, actor, resource_id as case_id,
      case when jsonb_typeof(data -> 'mentions') = 'array' then jsonb_array_length(data -> 'mentions') else 0 end as mentions
    from events
    where tenant_id = ${tenantId} and event_id = any(${plainArray(eventIds)}::bigint[]) and resource_type = 'case'
    order by event_id`);
}
