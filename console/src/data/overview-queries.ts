import { queryOptions } from "@tanstack/react-query";
import type { ConsoleClient } from "./client.ts";

const freshMs = 30_000;
// People look at figures but do not work in them, so they may refresh while shown.
const againMs = 60_000;
const dayMs = 24 * 3_600_000;

export function overviewQueriesOf(client: ConsoleClient) {
  return {
    overview: (days: number) =>
      queryOptions({
        queryKey: ["overview", days],
        queryFn: ({ signal }) => {
          const tomorrow = (Math.floor(Date.now() / dayMs) + 1) * dayMs;
          const start_date = new Date(tomorrow - days * dayMs).toISOString().slice(0, 10);
          return client.call("getOverview", { query: { start_date }, signal });
        },
        staleTime: freshMs,
        refetchInterval: againMs,
      }),
    rules: () =>
      queryOptions({
        queryKey: ["rules", "precision"],
        queryFn: async ({ signal }) => (await client.call("listRules", { signal })).rules,
        staleTime: freshMs,
        refetchInterval: againMs,
      }),
    traffic: (startDate: string) =>
      queryOptions({
        queryKey: ["metrics", "traffic", startDate],
        queryFn: async ({ signal }) => {
          const query = { start_date: startDate, aggregation: "day", metric: "total_events" } as const;
          const { metrics } = await client.call("getTenantMetrics", { query, signal });
          return metrics.map(({ timestamp, total_events = 0 }) => ({ day: timestamp.slice(0, 10), events: total_events }));
        },
        staleTime: freshMs,
        refetchInterval: againMs,
      }),
  };
}
