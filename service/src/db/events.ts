import type { DomainEvent } from "../domain/event.ts";
import type { Queryable } from "./database.ts";
import { sql } from "./sql.ts";

// Last in its transaction: the counter's row stays locked until the commit, so that numbers follow commit order.
export async function appendEvents(tx: Queryable, tenantId: string, events: DomainEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(sql`
    with counter as (
      update event_counters
      set last_event_id = last_event_id + ${events.length}::int
      where tenant_id = ${tenantId}
      returning last_event_id - ${events.length}::int as base
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
}
