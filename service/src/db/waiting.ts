import { countGivenUp } from "./deliveries.ts";
import { countOverdue } from "./due-times.ts";
import type { Queryable } from "./postgres/database.ts";
import { countDriftedModels } from "./drift.ts";
import { countMailsByState } from "./notification-mails.ts";
import { countLimitedRules } from "./rule-limits.ts";
import { sql } from "./postgres/sql.ts";

type Backlog = {
  unscored: number;
  // When the oldest pending activity was received: of all, and of those from servers.
  oldest: string | null;
  oldestOfServers: string | null;
};

// Work that is pending in the database or was abandoned, over all tenants.
export type Waiting = Backlog & {
  deliveries: { waiting: number; dead: number };
  disabledWebhooks: number;
  limitedRules: number;
  driftedModels: number;
  overdueCases: number;
  mails: { waiting: number; dead: number };
};

export async function readWaiting(database: Queryable): Promise<Waiting> {
  const [backlog, waiting, { dead, disabled }, limitedRules, driftedModels, overdueCases, mails] = await Promise.all([
    findBacklog(database),
    countWaitingDeliveries(database),
    countGivenUp(database),
    countLimitedRules(database),
    countDriftedModels(database),
    countOverdue(database),
    countMailsByState(database),
  ]);
  return {
    ...backlog,
    deliveries: { waiting, dead },
    disabledWebhooks: disabled,
    limitedRules,
    driftedModels,
    overdueCases,
    mails,
  };
}

async function findBacklog(database: Queryable): Promise<Backlog> {
  const [row] = await database.query<Backlog>(sql`
    select coalesce(sum(events), 0) as unscored,
      min(received_at) as oldest,
      min(received_at) filter (where not is_browser) as "oldestOfServers"
    from inbox`);
  return row ?? { unscored: 0, oldest: null, oldestOfServers: null };
}

// Deliveries of a disabled webhook do not count as waiting.
async function countWaitingDeliveries(database: Queryable): Promise<number> {
  const [row] = await database.query<{ waiting: number }>(sql`
    select count(*) as waiting
    from webhook_deliveries
    join webhooks using (tenant_id, webhook_id)
    where state = 'WAITING' and is_enabled`);
  return row?.waiting ?? 0;
}
