import { timeOf } from "../domain/activity.ts";
import { moments, sourcesByRank, type Moment } from "../domain/label.ts";
import { maturedLabel, maturityMs, type ReportDelays } from "../domain/maturity.ts";
import { isImported } from "./activities.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { sql, statement } from "./postgres/sql.ts";

const chunkMax = 2_000;
// The latest reports say how fast frauds are reported now, and keep the query short.
const delaysMax = 10_000;

// `decision` is the stored text, with the vector. `labelled_at` is when the label was known: for an activity that nobody has
// labelled, the time at which it became mature.
export type TrainingRow = {
  id_key: string;
  website_account_id: string | null;
  // Who closed the case that the label comes from, if a person did.
  person: string | null;
  decision: string;
  y: 0 | 1;
  weight: number;
  event_at: string;
  labelled_at: string;
};

// By time of receipt. Only what was known at `asOf` is used, so that a model can be tested on what it could have known then.
export type TrainingSpan = { from: string; until: string; asOf: string };

// How long after the event this tenant's frauds were reported, whether by the API or by a fraud_report that named the activity.
export async function findReportDelays(reader: Queryable, tenantId: string, asOf: string): Promise<ReportDelays> {
  const [row] = await reader.query<{ count: number; p95_ms: number | null }>(sql`
    select count(*) as count, percentile_cont(0.95) within group (order by delay_ms) as p95_ms
    from (
      select greatest(extract(epoch from known_at - event_at) * 1000, 0)::float8 as delay_ms
      from labels
      where tenant_id = ${tenantId} and y = 1 and source in ('api', 'report') and known_at <= ${asOf}::timestamptz
      order by labelled_at desc
      limit ${delaysMax}
    ) as latest`);
  return { count: row?.count ?? 0, p95Ms: row?.p95_ms ?? 0 };
}

type ActivityRow = Row & {
  received_at: string;
  id_key: string;
  website_account_id: string | null;
  source: string | null;
  actor: string | null;
  occurred_at: string;
  score: number;
  case_id: string | null;
  is_declined: boolean;
  is_imported: boolean;
  decision: string;
  y: 0 | 1 | null;
  weight: number | null;
  known_at: string | null;
};

// The labelled and the mature activities of a moment, oldest first, in chunks, so that memory is bounded whatever the span is.
// Only activity that servers reported is read: anybody can send as a page, and must not teach what is honest. Planned for its
// values each time, because a generic plan would sort the whole span for every chunk.
export async function* readTrainingRows(
  reader: Queryable,
  tenantId: string,
  moment: Moment,
  { from, until, asOf }: TrainingSpan,
  limit = chunkMax,
): AsyncGenerator<TrainingRow[]> {
  const matureMs = maturityMs(await findReportDelays(reader, tenantId, asOf));
  const now = Date.parse(asOf);
  let after = { received_at: from, id_key: "00000000-0000-0000-0000-000000000000" };
  for (let rows: ActivityRow[]; ;) {
    const values = [tenantId, after.received_at, after.id_key, until, asOf, limit];
    rows = await reader.query<ActivityRow>({ ...statement(chunkText(moment), values), name: "" });
    const known = rows.flatMap((row) => trainingRow(row, { now, matureMs }));
    if (known.length > 0) yield known;
    const last = rows.at(-1);
    if (!last || rows.length < limit) return;
    after = last;
  }
}

const quoted = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(", ");

function chunkText(moment: Moment): string {
  return `
    select a.received_at, a.id_key, a.website_account_id, a.occurred_at, a.score, a.case_id, a.decision,
      l.source, l.actor, l.y, l.weight, l.known_at,
      case when a.document like '%"declined"%' then coalesce(a.document::jsonb #>> '{payment,status}' = 'declined', false) else false end as is_declined,
      ${isImported} as is_imported
    from (
      select received_at, id_key, website_account_id, occurred_at, score, case_id, decision, document
      from activities
      where tenant_id = $1
        and received_at >= $2::timestamptz
        and (received_at, id_key) > ($2::timestamptz, $3::uuid)
        and received_at < $4::timestamptz
        and type in (${quoted(moments[moment])})
        and origin = 'server'
      order by received_at, id_key
      limit $6
    ) as a
    left join lateral (
      select source, actor, y, weight, known_at
      from labels
      where tenant_id = $1 and id_key = a.id_key and y is not null and known_at <= $5::timestamptz
      order by array_position(array[${quoted(sourcesByRank)}], source::text), y desc
      limit 1
    ) as l on true
    order by a.received_at, a.id_key`;
}

function trainingRow(row: ActivityRow, { now, matureMs }: { now: number; matureMs: number }): TrainingRow[] {
  const { decision, score, y, weight, known_at, is_declined: isDeclined, is_imported: isImported } = row;
  const at = timeOf(row);
  const event_at = new Date(at).toISOString();
  const { id_key, website_account_id } = row;
  const of = { id_key, website_account_id, person: row.source === "case" ? row.actor : null };
  // A random check stands for other activities. The honest ones among them are training rows themselves, so an honest check
  // counts only for itself.
  const own = y === 0 ? Math.min(weight ?? 1, 1) : (weight ?? 1);
  if (y !== null) return [{ ...of, decision, y, weight: own, event_at, labelled_at: known_at ?? event_at }];
  const matured = maturedLabel({ at, score, hasCase: row.case_id !== null, isDeclined, isImported }, { now, matureMs });
  const labelled_at = new Date(at + matureMs).toISOString();
  return matured === null ? [] : [{ ...of, decision, y: matured, weight: 1, event_at, labelled_at }];
}
