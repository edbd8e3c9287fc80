import { countGivenUp } from "./deliveries.ts";
import type { Queryable } from "./database.ts";
import { countLimitedRules } from "./rule-limits.ts";
import { sql } from "./sql.ts";

// What waits in the database, or was given up, of all tenants. `oldest`: when the activity came in that waits the longest.
export type Waiting = {
  unscored: number;
  oldest: string | null;
  deliveries: { waiting: number; dead: number };
  disabledWebhooks: number;
  limitedRules: number;
};

export async function readWaiting(database: Queryable): Promise<Waiting> {
  const [backlog, waiting, { dead, disabled }, limitedRules] = await Promise.all([
    findBacklog(database),
    countWaitingDeliveries(database),
    countGivenUp(database),
    countLimitedRules(database),
  ]);
  return { ...backlog, deliveries: { waiting, dead }, disabledWebhooks: disabled, limitedRules };
}

async function findBacklog(database: Queryable): Promise<Pick<Waiting, "unscored" | "oldest">> {
  const [row] = await database.query<{ unscored: number; oldest: string | null }>(sql`
    select coalesce(sum(events), 0) as unscored, min(received_at) as oldest
    from inbox`);
  return row ?? { unscored: 0, oldest: null };
}

// What is switched off waits for nobody.
async function countWaitingDeliveries(database: Queryable): Promise<number> {
  const [row] = await database.query<{ waiting: number }>(sql`
    select count(*) as waiting
    from webhook_deliveries
    join webhooks using (tenant_id, webhook_id)
    where state = 'WAITING' and is_enabled`);
  return row?.waiting ?? 0;
}
