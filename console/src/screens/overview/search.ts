export const ranges = [7, 30, 90, 365] as const;
export const rangeDefault = 30;
const chartIds = ["days", "backlog", "scores", "outcomes", "rules", "traffic"] as const;
export type ChartId = (typeof chartIds)[number];

// An absent parameter means the default: thirty days, everything as charts.
export type OverviewSearch = { days?: (typeof ranges)[number]; tables?: string };

export function readOverviewSearch(raw: Record<string, unknown>): OverviewSearch {
  const days = ranges.find((each) => each === Number(raw["days"]));
  const { tables: named } = raw;
  const tables = tablesOf({ tables: typeof named === "string" ? named : "" }).join(",");
  return { ...(days !== undefined && days !== rangeDefault && { days }), ...(tables !== "" && { tables }) };
}

// The charts that are shown as tables.
export function tablesOf({ tables = "" }: { tables?: string }): ChartId[] {
  const named = new Set(tables.split(","));
  return chartIds.filter((id) => named.has(id));
}
