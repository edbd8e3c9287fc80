import type { RecordedActivity } from "../domain/activity.ts";
import type { PolicyAction } from "../domain/policy.ts";
import { insertIds, newActivity } from "./inbox.ts";
import { insertParcels } from "./parcels.ts";
import type { Queryable } from "./postgres/database.ts";
import { joinJson, plainArray, sql } from "./postgres/sql.ts";

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
export type Accepted = { id_key: string } & (
  | { outcome: "new" }
  | { outcome: "known"; prediction_id: string; received_at: string; reply: string | null }
  | { outcome: "conflict" }
);

// Stores activities that wait for their verdicts, each only once. Requests that are stored together are treated as if they had
// come one after the other.
export async function insertAssessments(tx: Queryable, tenantId: string, given: NewAssessment[]): Promise<Accepted[]> {
  const all = given.map((each) => ({ ...newActivity(each.activity), ...each }));
  const first = new Map(all.toReversed().map((each) => [each.key, each]));
  const fresh = await insertIds(tx, tenantId, [...first.values()]);
  const isNew = (each: (typeof all)[number]) => fresh.has(each.key) && first.get(each.key) === each;
  const added = all.filter(isNew);
  await Promise.all([
    insertRows(
      tx,
      tenantId,
      added.map(({ key, activity, fingerprint }) => ({ id_key: key, activity, fingerprint })),
    ),
    insertParcels(
      tx,
      tenantId,
      added.map(({ activity }) => activity),
      true,
    ),
  ]);
  const known = all.length === added.length ? [] : await findAssessments(tx, tenantId, [...first.keys()]);
  const rows = new Map(known.map((row) => [row.id_key, row]));
  return all.map((each): Accepted => {
    const { key: id_key, fingerprint } = each;
    if (isNew(each)) return { id_key, outcome: "new" };
    const row = rows.get(id_key);
    if (!row?.fingerprint.equals(fingerprint)) return { id_key, outcome: "conflict" };
    const { prediction_id, received_at, reply } = row;
    return { id_key, outcome: "known", prediction_id, received_at, reply };
  });
}

async function insertRows(tx: Queryable, tenantId: string, rows: (NewAssessment & { id_key: string })[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(sql`
    insert into assessments (tenant_id, id_key, received_at, prediction_id, fingerprint)
    select ${tenantId}::uuid, a.id_key, a.received_at, a.prediction_id, decode(a.fingerprint, 'hex')
    from unnest(
      ${plainArray(rows.map((each) => each.id_key))}::uuid[],
      ${plainArray(rows.map((each) => each.activity.received_at))}::timestamptz[],
      ${plainArray(rows.map((each) => each.activity.prediction_id))}::uuid[],
      ${plainArray(rows.map((each) => each.fingerprint.toString("hex")))}::text[]
    ) as a (id_key, received_at, prediction_id, fingerprint)
    on conflict (tenant_id, id_key) do nothing`);
}

type AssessmentRow = {
  id_key: string;
  received_at: string;
  prediction_id: string;
  fingerprint: Buffer;
  reply: string | null;
};

async function findAssessments(database: Queryable, tenantId: string, keys: string[]): Promise<AssessmentRow[]> {
  return database.query<AssessmentRow>(sql`
    select id_key, received_at, prediction_id, fingerprint, reply
    from assessments
    where tenant_id = ${tenantId} and id_key = any(${plainArray(keys)}::uuid[])`);
}

export type Answer = { id_key: string; reply: string };

// Returns the answers that were given to these activities.
export async function findAnswers(database: Queryable, tenantId: string, keys: string[]): Promise<Answer[]> {
  return database.query<Answer>(sql`
    select id_key, reply
    from assessments
    where tenant_id = ${tenantId} and id_key = any(${plainArray(keys)}::uuid[]) and reply is not null`);
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
