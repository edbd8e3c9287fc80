import { hasDecisions, listDayCounts } from "../db/budget.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { listRules } from "../db/rules.ts";
import { budgetDays, casesIn, rankedOf, type CaseCount, type DayCount } from "../domain/budget.ts";
import { daysUpTo } from "../domain/rule-report.ts";

const keptMs = 60_000;
const keptMax = 20;

type Counted = { cases: CaseCount[]; days: number };
type Kept = { endedMs: number; counted: Promise<Counted> };
type Counting = { database: Queryable; now: () => string };

// Counts the cases of a tenant's last days by their log-odds. Each count reads 28 days of activity. So all requests share one, until
// a minute after it ended.
export class BudgetCases {
  readonly #kept = new Map<string, Kept>();

  async find(counting: Counting, tenantId: string): Promise<Counted> {
    const { now } = counting;
    const known = this.#kept.get(tenantId);
    if (known && Date.parse(now()) - known.endedMs < keptMs) return known.counted;
    const kept = { endedMs: Infinity, counted: countCases(counting, tenantId) };
    this.#add(tenantId, kept);
    let hasActivity = false;
    try {
      const counted = await kept.counted;
      hasActivity = counted.days > 0;
      return counted;
    } finally {
      kept.endedMs = Date.parse(now());
      // A new tenant must not wait for a minute after its first activity.
      if (!hasActivity && this.#kept.get(tenantId) === kept) this.#kept.delete(tenantId);
    }
  }

  #add(tenantId: string, kept: Kept): void {
    this.#kept.delete(tenantId);
    this.#kept.set(tenantId, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > keptMax && oldest !== undefined) this.#kept.delete(oldest);
  }
}

// Reads day by day, so that no statement takes long.
async function countCases({ database, now }: Counting, tenantId: string): Promise<Counted> {
  const campaignRules = (await listRules(database, tenantId)).filter(({ about }) => about === "campaign");
  const rules = campaignRules.map(({ rule_id }) => rule_id);
  const days: DayCount[][] = [];
  for (const day of daysUpTo(now(), budgetDays)) {
    if (!(await hasDecisions(database, tenantId, day))) continue;
    days.push(await listDayCounts(database, tenantId, { day, campaignRules: rules }));
  }
  return { cases: rankedOf(casesIn(days)), days: days.length };
}
