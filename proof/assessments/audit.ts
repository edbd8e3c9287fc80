import type { Assessment } from "../../service/src/domain/assessment.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";
import type { Stand } from "../stand.ts";

type Stored = { activity_id: string; times: number; score: number; log_odds: number; prediction_id: string };

// Compares the answers with what is stored. Returns the violations.
export async function audit(stand: Stand, tenantId: string, answered: Map<string, string>): Promise<string[]> {
  await stand.drained(tenantId);
  const rows = await stand.database.query<Stored>(
    statement(
      `select activity_id, count(*) as times, min(score) as score, min((decision::jsonb ->> 'l')::float8) as log_odds,
         min(prediction_id::text) as prediction_id
       from activities
       where tenant_id = $1
       group by activity_id`,
      [tenantId],
    ),
  );
  const stored = new Map(rows.map((row) => [row.activity_id, row]));
  return [...answered].flatMap(([id, text]): string[] => {
    const row = stored.get(id);
    const { data: verdict } = JSON.parse(text) as { data: Assessment };
    if (!row) return [`${id} was answered but never scored`];
    if (row.times !== 1) return [`${id} was scored ${row.times} times`];
    if (row.prediction_id !== verdict.prediction_id) return [`${id}: the decision and the answer have different ids`];
    if (!verdict.is_final || (row.score === verdict.score && row.log_odds === verdict.log_odds)) return [];
    return [`${id}: answered ${verdict.score} (${verdict.log_odds}), decided ${row.score} (${row.log_odds})`];
  });
}
