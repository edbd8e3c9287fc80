import { randomUUID } from "node:crypto";
import type { RecordedActivity } from "../domain/activity.ts";
import type { PolicyAction } from "../domain/policy.ts";
import { insertIds, newActivity, type NewActivity } from "./inbox.ts";
import { insertParcel, parcelsOf } from "./parcels.ts";
import type { Queryable, TenantDatabase } from "./postgres/database.ts";
import { joinJson, plainArray, sql } from "./postgres/sql.ts";
import { vouch } from "./vouch.ts";

// Channels for notifications that carry a tenant's id. The first is used when a process without an engine has stored an activity
// that waits for its verdict. The second is used when an engine has answered an assessment that another process received.
export const urgentChannel = "casehound_urgent";
export const answeredChannel = "casehound_answered";

// An activity whose sender waits for the verdict.
export type AssessedActivity = RecordedActivity & { prediction_id: string };
export type NewAssessment = { activity: AssessedActivity; fingerprint: Buffer };
// `otherwise`: the answer if there is no verdict by the deadline.
export type AskedAssessment = NewAssessment & { deadlineMs: number; otherwise: PolicyAction };

// `known`: an assessment of this activity exists. `conflict`: the id was used for a different request.
export type Accepted = { id_key: string; isBlocked: boolean } & (
  | { outcome: "new" }
  | { outcome: "known"; prediction_id: string; received_at: string; reply: string | null }
  | { outcome: "conflict" }
);

// Stores activities that wait for their verdicts, each only once. Requests that are stored together are treated as if they had
// come one after the other. With `mustNotify`, the processes that have engines are notified.
export async function insertAssessments(
  database: TenantDatabase,
  tenantId: string,
  { given, mustNotify }: { given: NewAssessment[]; mustNotify: boolean },
): Promise<Accepted[]> {
  const all = given.map((each) => ({ ...newActivity(each.activity), ...each }));
  const first = new Map(all.toReversed().map((each) => [each.key, each]));
  const insert = database.isCluster === true ? insertOnNode : insertAtOnce;
  const { fresh, blocked } = await insert(database, tenantId, {
    rows: all.filter((each) => first.get(each.key) === each),
    mustNotify,
  });
  const isNew = (each: (typeof all)[number]) => fresh.has(each.key) && first.get(each.key) === each;
  const known = all.every(isNew) ? [] : await findKnown(database, tenantId, [...first.keys()]);
  const rows = new Map(known.map((row) => [row.id_key, row]));
  return all.map((each): Accepted => {
    const { key: id_key, fingerprint } = each;
    const isBlocked = blocked.has(each.activity.website_account_id ?? "");
    if (isNew(each)) return { id_key, isBlocked, outcome: "new" };
    const row = rows.get(id_key);
    if (!row?.fingerprint.equals(fingerprint)) return { id_key, isBlocked, outcome: "conflict" };
    const { prediction_id, received_at, reply } = row;
    return { id_key, isBlocked, outcome: "known", prediction_id, received_at, reply };
  });
}

type First = NewAssessment & NewActivity;
type Inserted = { fresh: Set<string>; blocked: Set<string> };

// Returns the keys that were new, and which of the accounts are blocked. One statement is one round trip. Each of several in a
// transaction would be another one, and the sender waits for all of them.
async function insertAtOnce(
  database: TenantDatabase,
  tenantId: string,
  { rows, mustNotify }: { rows: First[]; mustNotify: boolean },
): Promise<Inserted> {
  // The texts are in the order of the rows.
  const packed = parcelsOf(rows, true).flatMap(({ texts }) => {
    const parcel_id = randomUUID();
    return texts.map((text) => ({ parcel_id, text }));
  });
  // Sorted, so that two senders of the same activities wait for each other instead of deadlocking.
  const sorted = rows.map((row, place) => ({ ...row, place, ...(packed[place] ?? { parcel_id: "", text: "" }) })).toSorted(byKey);
  const column = <T>(pick: (row: (typeof sorted)[number]) => T) => sorted.map(pick);
  const accounts = [...new Set(rows.flatMap(({ activity }) => activity.website_account_id ?? []))];
  const [found] = await database.alone<{ fresh: string[] | null; blocked: string[] }>(sql`
    with given as (
      select *
      from unnest(
        ${plainArray(column((row) => row.key))}::uuid[],
        ${plainArray(column((row) => row.content))}::int[],
        ${plainArray(column((row) => row.activity.received_at))}::timestamptz[],
        ${plainArray(column((row) => row.activity.prediction_id))}::uuid[],
        ${plainArray(column((row) => row.fingerprint.toString("hex")))}::text[],
        ${plainArray(column((row) => row.parcel_id))}::uuid[],
        ${plainArray(column((row) => row.place))}::int[],
        string_to_array(${joinJson(column((row) => row.text))}, chr(1))
      ) as g (id_key, content, received_at, prediction_id, fingerprint, parcel_id, place, text)
    ),
    fresh as (
      insert into activity_ids (tenant_id, id_key, received_on, content)
      select ${tenantId}::uuid, id_key, (received_at at time zone 'UTC')::date, content
      from given
      on conflict (tenant_id, id_key) do nothing
      returning id_key
    ),
    waiting as (
      insert into assessments (tenant_id, id_key, received_at, prediction_id, fingerprint)
      select ${tenantId}::uuid, id_key, received_at, prediction_id, decode(fingerprint, 'hex')
      from given
      where id_key in (select id_key from fresh)
      on conflict (tenant_id, id_key) do nothing
    ),
    parcels as (
      insert into inbox (tenant_id, is_browser, is_urgent, received_at, parcel_id, events, parcel)
      select ${tenantId}::uuid, false, true, min(received_at), parcel_id, count(*),
        convert_to('[' || string_agg(text, ',' order by place) || ']', 'UTF8')
      from given
      where id_key in (select id_key from fresh)
      group by parcel_id
    ),
    woken as (
      select pg_notify(${urgentChannel}, ${tenantId}::text)
      where ${mustNotify}
    )
    select (select case when count(*) < ${sorted.length}::int then coalesce(array_agg(id_key::text), '{}') end from fresh) as fresh,
      array(
        select website_account_id
        from accounts
        where tenant_id = ${tenantId} and website_account_id = any(${accounts}::text[]) and is_blocked
      ) as blocked,
      (select count(*) from woken) as woken`);
  // Usually all keys are new, and then they are not sent back.
  return { fresh: new Set(found?.fresh ?? column((row) => row.key)), blocked: new Set(found?.blocked) };
}

// A cluster would run a statement with several changes on all of its nodes.
function insertOnNode(
  database: TenantDatabase,
  tenantId: string,
  { rows, mustNotify }: { rows: First[]; mustNotify: boolean },
): Promise<Inserted> {
  const accounts = [...new Set(rows.flatMap(({ activity }) => activity.website_account_id ?? []))];
  return database.transaction(async (tx) => {
    const [fresh, blocked] = await Promise.all([insertIds(tx, tenantId, rows), listBlocked(tx, tenantId, accounts)]);
    const kept = rows.filter(({ key }) => fresh.has(key));
    const parcels = parcelsOf(kept, true);
    await Promise.all([
      insertWaiting(tx, tenantId, kept),
      ...parcels.map((parcel) => insertParcel(tx, tenantId, { parcel_id: randomUUID(), ...parcel })),
      mustNotify ? notify(tx, urgentChannel, tenantId) : null,
    ]);
    return { fresh, blocked: new Set(blocked) };
  });
}

async function listBlocked(tx: Queryable, tenantId: string, accounts: string[]): Promise<string[]> {
  if (accounts.length === 0) return [];
  const rows = await tx.query<{ website_account_id: string }>(sql`
    select website_account_id
    from accounts
    where tenant_id = ${tenantId} and website_account_id = any(${accounts}::text[]) and is_blocked`);
  return rows.map((row) => row.website_account_id);
}

async function insertWaiting(tx: Queryable, tenantId: string, rows: First[]): Promise<void> {
  if (rows.length === 0) return;
  const sorted = rows.toSorted(byKey);
  await tx.query(sql`
    insert into assessments (tenant_id, id_key, received_at, prediction_id, fingerprint)
    select c.tenant_id, g.id_key, g.received_at, g.prediction_id, decode(g.fingerprint, 'hex')
    from event_counters as c
    cross join unnest(
      ${plainArray(sorted.map((row) => row.key))}::uuid[],
      ${plainArray(sorted.map((row) => row.activity.received_at))}::timestamptz[],
      ${plainArray(sorted.map((row) => row.activity.prediction_id))}::uuid[],
      ${plainArray(sorted.map((row) => row.fingerprint.toString("hex")))}::text[]
    ) as g (id_key, received_at, prediction_id, fingerprint)
    where c.tenant_id = ${tenantId}
    on conflict (tenant_id, id_key) do nothing`);
}

function byKey(a: First, b: First): number {
  return a.key < b.key ? -1 : 1;
}

type AssessmentRow = {
  id_key: string;
  received_at: string;
  prediction_id: string;
  fingerprint: Buffer;
  reply: string | null;
};

// What is answered again must be as durable as the first answer.
function findKnown(database: TenantDatabase, tenantId: string, keys: string[]): Promise<AssessmentRow[]> {
  return database.transaction(async (tx) => {
    const found = await findAssessments(tx, tenantId, keys);
    await vouch(tx);
    return found;
  });
}

async function findAssessments(database: Queryable, tenantId: string, keys: string[]): Promise<AssessmentRow[]> {
  return database.query<AssessmentRow>(sql`
    select id_key, received_at, prediction_id, fingerprint, reply
    from assessments
    where tenant_id = ${tenantId} and id_key = any(${plainArray(keys)}::uuid[])`);
}

export type Answer = { id_key: string; reply: string };

// Returns the answers that were given to these activities. They will be passed on, so they must be durable.
export async function findAnswers(tx: Queryable, tenantId: string, keys: string[]): Promise<Answer[]> {
  const found = await tx.query<Answer>(sql`
    select id_key, reply
    from assessments
    where tenant_id = ${tenantId} and id_key = any(${plainArray(keys)}::uuid[]) and reply is not null`);
  if (found.length > 0) await vouch(tx);
  return found;
}

// Stores answers, and returns the keys of those that were the first for their activities. An engine and the process that holds
// the request may answer at the same time. Then the second waits for the first, and its answer is not stored.
export async function saveAnswers(tx: Queryable, tenantId: string, answers: Answer[]): Promise<Set<string>> {
  if (answers.length === 0) return new Set();
  const sorted = answers.toSorted((a, b) => (a.id_key < b.id_key ? -1 : 1));
  const rows = await tx.query<{ id_key: string }>(sql`
    update assessments as a
    set reply = n.reply
    from unnest(
      ${plainArray(sorted.map((each) => each.id_key))}::uuid[],
      string_to_array(${joinJson(sorted.map((each) => each.reply))}, chr(1))
    ) as n (id_key, reply)
    where a.tenant_id = ${tenantId} and a.id_key = n.id_key and a.reply is null
    returning a.id_key`);
  return new Set(rows.map((row) => row.id_key));
}

export async function notify(tx: Queryable, channel: string, tenantId: string): Promise<void> {
  await tx.query(sql`select pg_notify(${channel}, ${tenantId}::text)`);
}

// An answer quotes what was known about the account, so it is erased with its activity.
export async function deleteAssessmentsOf(tx: Queryable, tenantId: string, activities: { id_key: string }[]): Promise<void> {
  if (activities.length === 0) return;
  await tx.query(sql`
    delete from assessments
    where tenant_id = ${tenantId} and id_key = any(${plainArray(activities.map(({ id_key }) => id_key))}::uuid[])`);
}
