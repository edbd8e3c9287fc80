import type { Due, DueTimes } from "../domain/due.ts";
import { askTenantIds } from "./citus/nodes.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

type DueRow = Row & { due_times: Omit<DueTimes, "due_times_version"> | null; due_times_version: number };

export async function findDueTimes(database: Queryable, tenantId: string): Promise<DueRow | undefined> {
  const [row] = await database.query<DueRow>(sql`
    select due_times, due_times_version
    from detection_settings
    where tenant_id = ${tenantId}`);
  return row;
}

// The caller holds the lock on the settings.
export async function saveDueTimes(tx: Queryable, tenantId: string, { due_times_version, ...times }: DueTimes): Promise<void> {
  const stored = times.targets.length === 0 ? null : JSON.stringify(times);
  await tx.query(sql`
    update detection_settings
    set due_times = ${stored}::json, due_times_version = ${due_times_version}
    where tenant_id = ${tenantId}`);
}

// Undefined if the tenant has no due times.
export async function findDue(database: Queryable, tenantId: string): Promise<Due | undefined> {
  const [row] = await database.query<DueRow & { time_zone: string }>(sql`
    select s.due_times, s.due_times_version, t.time_zone
    from detection_settings as s
    join tenants as t using (tenant_id)
    where s.tenant_id = ${tenantId} and s.due_times is not null`);
  if (!row?.due_times) return undefined;
  return { times: { ...row.due_times, due_times_version: row.due_times_version }, zone: row.time_zone };
}

// Reads an index that holds only cases whose event is still to come. It is empty if no tenant has due times.
export async function listTenantsWithOverdue(database: Queryable): Promise<string[]> {
  return askTenantIds(
    database,
    sql`
    select distinct tenant_id
    from cases
    where status = 'OPEN' and due_at is not null and due_at <= now() and overdue_for is distinct from due_at`,
  );
}

// Counts over all tenants.
export async function countOverdue(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql`
    select count(*) as count
    from cases
    where status = 'OPEN' and due_at is not null and due_at <= now()`);
  return row?.count ?? 0;
}
