import { hash } from "node:crypto";
import type { Queryable } from "./postgres/database.ts";
import { uuidOf } from "./inbox.ts";
import { linkKinds } from "./links.ts";
import { joinJson, plainArray, sql, textArray } from "./postgres/sql.ts";

export const entityKinds = [
  "account",
  "device",
  "ip",
  "network",
  "value",
  "payee",
  "instrument",
  "mailbox",
  "look",
  "block",
] as const;
export type EntityKind = (typeof entityKinds)[number];
export type EntityNames = Partial<Record<EntityKind, ReadonlySet<string>>>;
export type EntityId = { kind: EntityKind; key: string };
export type StoredState = EntityId & { ring: Uint8Array; facts: string };

// Hashes a name of any length to 16 bytes.
export function entityKey(kind: EntityKind, name: string): string {
  return uuidOf(hash("sha256", `${kind}:${name}`, "hex"));
}

// Looks up one id after the other by the primary key. The limit keeps the planner to that: with the statistics of a fresh table,
// it would read all rows of the tenant and join them.
export async function findStates(tx: Queryable, tenantId: string, ids: EntityId[]): Promise<StoredState[]> {
  const sorted = ids.toSorted(byKey);
  return tx.query<StoredState>(sql`
    select i.kind, i.key, s.ring, s.facts
    from unnest(${plainArray(sorted.map((id) => id.kind))}::text[], ${plainArray(sorted.map((id) => id.key))}::uuid[]) as i (kind, key)
    cross join lateral (
      select ring, facts
      from entity_states
      where tenant_id = ${tenantId} and kind = i.kind and key = i.key
      limit 1
    ) as s`);
}

// Sends all rings as one byte string, which the server splits. An array of them would be sent as text, at twice the length.
export async function saveStates(tx: Queryable, tenantId: string, saved: { states: StoredState[]; day: string }): Promise<void> {
  const sorted = saved.states.toSorted(byKey);
  let end = 1;
  const starts = sorted.map(({ ring }) => {
    const start = end;
    end += ring.byteLength;
    return start;
  });
  await tx.query(sql`
    insert into entity_states (tenant_id, kind, key, touched_on, ring, facts)
    select ${tenantId}::uuid, s.kind, s.key, ${saved.day}::date, substring(${Buffer.concat(sorted.map((each) => each.ring))}::bytea from s.start for s.length), s.facts
    from unnest(
      ${plainArray(sorted.map((each) => each.kind))}::text[],
      ${plainArray(sorted.map((each) => each.key))}::uuid[],
      ${plainArray(starts)}::int[],
      ${plainArray(sorted.map((each) => each.ring.byteLength))}::int[],
      string_to_array(${joinJson(sorted.map((each) => each.facts))}, chr(1))
    ) as s (kind, key, start, length, facts)
    on conflict (tenant_id, kind, key) do update
    set touched_on = excluded.touched_on, ring = excluded.ring, facts = excluded.facts`);
}

function byKey(a: EntityId, b: EntityId): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : a.kind < b.kind ? -1 : 1;
}

export type StoredSession = {
  session_id: string;
  website_account_id: string | null;
  device_id: string | null;
  started_at: string;
  last_at: string;
  facts: string;
};

export async function findSessions(tx: Queryable, tenantId: string, ids: string[]): Promise<StoredSession[]> {
  return tx.query<StoredSession>(sql`
    select s.session_id, s.website_account_id, s.device_id, s.started_at, s.last_at, s.facts
    from unnest(${textArray(ids.toSorted())}::text[]) as i (session_id)
    cross join lateral (
      select session_id, website_account_id, device_id, started_at, last_at, facts
      from sessions
      where tenant_id = ${tenantId} and session_id = i.session_id
      limit 1
    ) as s`);
}

export async function saveSessions(tx: Queryable, tenantId: string, saved: StoredSession[]): Promise<void> {
  const sorted = saved.toSorted((a, b) => (a.session_id < b.session_id ? -1 : 1));
  await tx.query(sql`
    insert into sessions (tenant_id, session_id, website_account_id, device_id, started_at, last_at, facts)
    select ${tenantId}::uuid, s.*
    from unnest(
      ${textArray(sorted.map((each) => each.session_id))}::text[],
      ${textArray(sorted.map((each) => each.website_account_id))}::text[],
      ${textArray(sorted.map((each) => each.device_id))}::text[],
      ${plainArray(sorted.map((each) => each.started_at))}::timestamptz[],
      ${plainArray(sorted.map((each) => each.last_at))}::timestamptz[],
      string_to_array(${joinJson(sorted.map((each) => each.facts))}, chr(1))
    ) as s
    on conflict (tenant_id, session_id) do update
    set website_account_id = excluded.website_account_id,
      device_id = excluded.device_id,
      started_at = excluded.started_at,
      last_at = excluded.last_at,
      facts = excluded.facts`);
}

// Deletes everything that was learned about these accounts.
export async function deleteLearned(tx: Queryable, tenantId: string, accounts: string[]): Promise<void> {
  await tx.query(sql`
    delete from entity_states
    where tenant_id = ${tenantId} and kind = 'account' and key = any(${accounts.map((id) => entityKey("account", id))}::uuid[])`);
  await tx.query(sql`
    delete from links
    where tenant_id = ${tenantId} and kind = any(${linkKinds}::text[]) and a = any(${accounts}::text[])`);
  await tx.query(sql`
    update sessions
    set website_account_id = null
    where tenant_id = ${tenantId} and website_account_id = any(${accounts}::text[])`);
}
