import type { Webhook, WebhookFormat } from "../domain/webhook.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

export type StoredWebhook = {
  webhook_id: string;
  url: string;
  types: string[];
  is_enabled: boolean;
  format: WebhookFormat;
  details: "none" | "ids";
  view_id: string | null;
  disabled_reason: string | null;
  secret: string;
  previous_secret: string | null;
  previous_secret_until: string | null;
  created_at: string;
  updated_at: string;
};

type ListedRow = Row & Omit<StoredWebhook, "secret" | "previous_secret"> & { waiting: number; dead: number };

function toWebhook({ disabled_reason: reason, previous_secret_until: until, view_id, ...row }: ListedRow): Webhook {
  return {
    ...row,
    ...(view_id !== null && { view_id }),
    ...(reason !== null && { disabled_reason: reason }),
    ...(until !== null && { previous_secret_expires_at: until }),
  };
}

// In order of creation, or only the named one.
export async function listWebhooks(
  database: Queryable,
  tenantId: string,
  { now, only = null }: { now: string; only?: string | null },
): Promise<Webhook[]> {
  const rows = await database.query<ListedRow>(sql`
    select w.webhook_id, w.url, w.types, w.is_enabled, w.format, w.details, w.view_id, w.disabled_reason,
      case when w.previous_secret_until > ${now}::timestamptz then w.previous_secret_until end as previous_secret_until,
      w.created_at, w.updated_at, d.waiting, d.dead
    from webhooks as w
    cross join lateral (
      select count(*) filter (where state = 'WAITING') as waiting, count(*) filter (where state = 'DEAD') as dead
      from webhook_deliveries
      where tenant_id = ${tenantId} and webhook_id = w.webhook_id and state in ('WAITING', 'DEAD')
    ) as d
    where w.tenant_id = ${tenantId} and (${only}::uuid is null or w.webhook_id = ${only}::uuid)
    order by w.created_at, w.webhook_id`);
  return rows.map(toWebhook);
}

export async function countWebhooks(database: Queryable, tenantId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from webhooks
    where tenant_id = ${tenantId}`);
  return row?.count ?? 0;
}

// Includes the secrets, for signing.
export async function findWebhook(database: Queryable, tenantId: string, webhookId: string): Promise<StoredWebhook | undefined> {
  const [row] = await database.query<StoredWebhook & Row>(sql`
    select webhook_id, url, types, is_enabled, format, details, view_id, disabled_reason, secret, previous_secret, previous_secret_until, created_at, updated_at
    from webhooks
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}::uuid`);
  return row;
}

type NewRow = Pick<StoredWebhook, "webhook_id" | "url" | "types" | "format" | "details" | "view_id" | "secret"> & { now: string };

// The webhook starts after the event that records its creation, and receives every later event. That event's transaction holds
// the tenant's counter.
export async function insertWebhook(
  tx: Queryable,
  tenantId: string,
  { webhook_id, url, types, format, details, view_id, secret, now }: NewRow,
): Promise<void> {
  await tx.query(sql`
    insert into webhooks (
      tenant_id, webhook_id, url, types, is_enabled, format, details, view_id, secret, position, chat_next_at, created_at, updated_at
    )
    select tenant_id, ${webhook_id}::uuid, ${url}::text, ${types}::text[], true, ${format}::text, ${details}::text,
      ${view_id}::uuid, ${secret}, last_event_id, ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz
    from event_counters
    where tenant_id = ${tenantId}`);
}

type Changed = {
  url: string | null;
  types: string[] | null;
  is_enabled: boolean | null;
  details?: "none" | "ids" | null;
  // Undefined stays unchanged, null removes the view.
  view_id?: string | null | undefined;
  disabled_reason?: string | null;
  now: string;
};

// Null members stay unchanged. A webhook that is enabled again resumes at its position: it receives the waiting deliveries and
// all events since.
export async function saveWebhook(tx: Queryable, tenantId: string, webhookId: string, changed: Changed): Promise<boolean> {
  const rows = await tx.query(sql`
    update webhooks
    set url = coalesce(${changed.url}, url),
      types = coalesce(${changed.types}::text[], types),
      is_enabled = coalesce(${changed.is_enabled}::boolean, is_enabled),
      details = coalesce(${changed.details ?? null}, details),
      view_id = case when ${changed.view_id === undefined}::boolean then view_id else ${changed.view_id ?? null}::uuid end,
      disabled_reason = case when ${changed.is_enabled}::boolean is null then disabled_reason else ${changed.disabled_reason ?? null} end,
      updated_at = ${changed.now}
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}::uuid
    returning 1 as saved`);
  return rows.length > 0;
}

type Rotated = { secret: string; previous_until: string; now: string };

export async function saveWebhookSecret(tx: Queryable, tenantId: string, webhookId: string, rotated: Rotated): Promise<boolean> {
  const rows = await tx.query(sql`
    update webhooks
    set previous_secret = secret, previous_secret_until = ${rotated.previous_until}, secret = ${rotated.secret}, updated_at = ${rotated.now}
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}::uuid
    returning 1 as saved`);
  return rows.length > 0;
}

// Also deletes its deliveries.
export async function deleteWebhook(tx: Queryable, tenantId: string, webhookId: string): Promise<boolean> {
  const rows = await tx.query(sql`
    delete from webhooks
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}::uuid
    returning 1 as gone`);
  return rows.length > 0;
}
