import type { Client } from "pg";

// What the service has acknowledged and therefore must keep.
export class Ledger {
  // By key: the version that the change made, and its case.
  readonly changes = new Map<string, { case_id: string; case_version: number }>();
  readonly activities = new Set<string>();
  readonly flags = new Map<string, boolean>();
  readonly violations: string[] = [];
  requests = 0;
  unknown = 0;
  replays = 0;
  contended = 0;

  violate(what: string): void {
    this.violations.push(what);
  }
}

type CaseRow = { case_id: string; document: string };
type State = { reason: string };

// Looks up everything acknowledged in the database itself, once the engines are idle.
export async function audit(ledger: Ledger, client: Client, tenantId: string): Promise<{ states: number; scored: number }> {
  const states = await auditCases(ledger, client, tenantId);
  await auditLog(ledger, client, tenantId);
  const scored = await auditActivities(ledger, client, tenantId);
  const accounts = await client.query<{ id: string; is_blocked: boolean }>(
    "select website_account_id as id, is_blocked from accounts where tenant_id = $1",
    [tenantId],
  );
  const blocked = new Map(accounts.rows.map((row) => [row.id, row.is_blocked]));
  for (const [account, wanted] of ledger.flags) {
    if (blocked.get(account) !== wanted)
      ledger.violate(`the flag of ${account} was acknowledged as ${wanted}, but is ${blocked.get(account)}`);
  }
  return { states, scored };
}

// A change carries its key as its reason, so a key that was applied twice shows twice.
async function auditCases(ledger: Ledger, client: Client, tenantId: string): Promise<number> {
  const { rows } = await client.query<CaseRow>("select case_id, document from cases where tenant_id = $1", [tenantId]);
  const applied = new Map<string, number>();
  const answered = Map.groupBy(ledger.changes.values(), ({ case_id }) => case_id);
  for (const row of rows) {
    const document = JSON.parse(row.document) as { current_state: State; state_history: State[]; case_version: number };
    const states = [...document.state_history, document.current_state];
    for (const { reason } of states) applied.set(reason, (applied.get(reason) ?? 0) + 1);
    const versions = answered.get(row.case_id)?.map((each) => each.case_version) ?? [];
    const highest = Math.max(...versions);
    if (versions.length > 0 && document.case_version !== highest)
      ledger.violate(`${row.case_id} is at version ${document.case_version}, but ${highest} was the last acknowledged version`);
  }
  for (const [key, { case_id, case_version }] of ledger.changes) {
    const times = applied.get(key) ?? 0;
    if (times !== 1)
      ledger.violate(`the key ${key} (${case_id}, version ${case_version}) was acknowledged, but applied ${times} times`);
  }
  return [...applied.values()].reduce((sum, times) => sum + times, 0);
}

async function auditLog(ledger: Ledger, client: Client, tenantId: string): Promise<void> {
  const { rows } = await client.query<{ type: string; resource_id: string; version: number; times: string }>(
    `select type, resource_id, resource_version as version, count(*) as times
     from events where tenant_id = $1 and type in ('case.closed', 'case.reopened')
     group by 1, 2, 3`,
    [tenantId],
  );
  const logged = new Map(rows.map((row) => [`${row.resource_id} ${row.version}`, Number(row.times)]));
  for (const { case_id, case_version } of ledger.changes.values()) {
    const times = logged.get(`${case_id} ${case_version}`) ?? 0;
    if (times !== 1) ledger.violate(`version ${case_version} of ${case_id} is in the log ${times} times`);
  }
  if (logged.size !== ledger.changes.size)
    ledger.violate(`the log has ${logged.size} changes, but ${ledger.changes.size} were acknowledged`);
  const gaps = await client.query<{ gaps: number }>(
    "select (coalesce(max(event_id), 0) - count(*))::int as gaps from events where tenant_id = $1",
    [tenantId],
  );
  if (gaps.rows[0]?.gaps !== 0) ledger.violate(`the log's numbers have ${gaps.rows[0]?.gaps} gaps`);
}

// Each activity must occur once, in what was stored and in what was counted from it.
async function auditActivities(ledger: Ledger, client: Client, tenantId: string): Promise<number> {
  const { rows } = await client.query<{ activity_id: string; times: string }>(
    "select activity_id, count(*) as times from activities where tenant_id = $1 group by 1",
    [tenantId],
  );
  const scored = new Map(rows.map((row) => [row.activity_id, Number(row.times)]));
  for (const id of ledger.activities) {
    if (scored.get(id) !== 1) ledger.violate(`the activity ${id} was accepted, but scored ${scored.get(id) ?? 0} times`);
  }
  const total = [...scored.values()].reduce((sum, times) => sum + times, 0);
  const counted = await client.query<{ events: number }>(
    `select coalesce(sum(total_events), 0)::int as events
    from (
      select tenant_id, level, total_events from metric_buckets
      union all
      select tenant_id, level, total_events from metric_additions
    ) as counted
    where tenant_id = $1 and level = 'minute'`,
    [tenantId],
  );
  if (counted.rows[0]?.events !== total)
    ledger.violate(`${total} activities were scored, but ${counted.rows[0]?.events} were counted`);
  return total;
}
