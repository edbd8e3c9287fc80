import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../service/src/db/postgres/database.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";
import type { Case } from "../../service/src/domain/case.ts";
import { send } from "../../service/test/send.ts";
import type { FinalCase, FinalState, LogEntry } from "./history.ts";

const pollMs = 100;
const patienceMs = 60_000;

// Reports are processed after they are accepted.
export async function drain(database: Database, tenantId: string): Promise<void> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const [row] = await database.query<{ count: number }>(
      statement("select count(*) as count from inbox where tenant_id = $1", [tenantId]),
    );
    if (row?.count === 0) return;
    if (Date.now() > until) throw new Error(`${row?.count} reports are still pending after ${patienceMs} ms`);
    await sleep(pollMs);
  }
}

export async function readLog(port: number, base: string, token: string): Promise<LogEntry[]> {
  const log: LogEntry[] = [];
  for (let after = 0; ;) {
    const { json } = await send(port, "GET", `${base}/events?after=${after}`, { token });
    const { events, next_after } = json.data as { events: LogEntry[]; next_after: number };
    if (events.length === 0) return log;
    log.push(...events);
    after = next_after;
  }
}

// Who made each state: a person's is identified by its reason, and detection's by the note of its occurrence.
export function readFinalCase(text: string): [string, FinalCase] {
  const { data } = JSON.parse(text) as { data: Case };
  const notes = Object.values(data.fraud_occurrences).map(({ explanation }) =>
    String(explanation.model_behaviour?.[0]?.top_contributors[0]?.feature_value),
  );
  const states = [...data.state_history, data.current_state].map((state): FinalState => {
    const marker = state.changed_by === "system" ? (notes.shift() ?? "no occurrence") : state.reason;
    return { status: state.case_status, at: state.changed_at, by: state.changed_by, marker };
  });
  return [data.case_id, { account: data.website_account_id, states }];
}
