import type { Queryable, Row } from "./postgres/database.ts";
import { plainArray, sql } from "./postgres/sql.ts";

// A case is scored at most a day after its activity is received, unless the engine was down for longer.
const lagMax = "1 day";

type Wanted = { prediction_id: string; generated_at: string };

// Returns the stored decisions by the prediction's id. The time limits each search to one or two partitions.
export async function findDecisions(database: Queryable, tenantId: string, wanted: Wanted[]): Promise<Map<string, string>> {
  if (wanted.length === 0) return new Map();
  const rows = await database.query<Row & { prediction_id: string; decision: string }>(sql`
    select a.prediction_id, a.decision
    from unnest(
      ${plainArray(wanted.map((each) => each.prediction_id))}::uuid[],
      ${plainArray(wanted.map((each) => each.generated_at))}::timestamptz[]
    ) as w (prediction_id, generated_at)
    cross join lateral (
      select prediction_id, decision
      from activities
      where tenant_id = ${tenantId}
        and prediction_id = w.prediction_id
        and received_at > w.generated_at - ${lagMax}::interval
        and received_at <= w.generated_at + ${lagMax}::interval
      limit 1
    ) as a`);
  return new Map(rows.map(({ prediction_id, decision }) => [prediction_id, decision]));
}
