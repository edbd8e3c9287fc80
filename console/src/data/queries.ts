import type { Operations } from "@casehound/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ConsoleClient } from "./client.ts";

export type CaseQuery = Omit<NonNullable<Operations["listCases"]["query"]>, "limit" | "cursor">;

const pageSize = 100;
// Counts are shown up to here: to know more of a long list nobody needs a number.
export const countMax = 100;
const half = 30_000;

// What is read, in one place: every key starts with the noun, so that a change of a noun can be told to all its readers.
export function queriesOf(client: ConsoleClient) {
  return {
    cases: (query: CaseQuery) =>
      infiniteQueryOptions({
        queryKey: ["cases", "list", query],
        queryFn: ({ pageParam, signal }) =>
          client.call("listCases", { query: { ...query, limit: pageSize, ...(pageParam && { cursor: pageParam }) }, signal }),
        initialPageParam: "",
        getNextPageParam: (last) => last.next_cursor,
        // The list stands still under the person who reads it; the live stream says when there is more.
        staleTime: Infinity,
      }),
    caseCount: (query: CaseQuery) =>
      queryOptions({
        queryKey: ["cases", "count", query],
        queryFn: async ({ signal }) =>
          (await client.call("listCases", { query: { ...query, limit: countMax }, signal })).cases.length,
        staleTime: half,
      }),
    case: (caseId: string) =>
      queryOptions({
        queryKey: ["case", caseId],
        queryFn: ({ signal }) => client.call("getCase", { params: { case_id: caseId }, signal }),
        staleTime: half,
      }),
    account: (websiteAccountId: string) =>
      queryOptions({
        queryKey: ["account", websiteAccountId],
        queryFn: ({ signal }) => client.call("getEndUserAccount", { params: { website_account_id: websiteAccountId }, signal }),
        staleTime: half,
      }),
    decision: (predictionId: string) =>
      queryOptions({
        queryKey: ["decision", predictionId],
        queryFn: ({ signal }) => client.call("getDecision", { params: { prediction_id: predictionId }, signal }),
        staleTime: Infinity,
      }),
    // When activity last came in, by the minute; null where none did within a day.
    lastActivity: () =>
      queryOptions({
        queryKey: ["metrics", "last-activity"],
        queryFn: async ({ signal }): Promise<string | null> => {
          const start_date = new Date(Date.now() - 24 * 3_600_000).toISOString();
          const query = { start_date, aggregation: "minute", metric: "total_events" } as const;
          const { metrics } = await client.call("getTenantMetrics", { query, signal });
          return metrics.findLast((each) => (each.total_events ?? 0) > 0)?.timestamp ?? null;
        },
        staleTime: half,
      }),
  };
}

export type Queries = ReturnType<typeof queriesOf>;
