import { ProblemError, type ScoredActivity } from "@casehound/client";
import { queryOptions } from "@tanstack/react-query";
import type { ConsoleClient } from "../../data/client.ts";

const dayMs = 24 * 3_600_000;
const oftenMs = 5_000;
const seldomMs = 30_000;
export const latestMax = 100;
const quarantineShown = 20;
export const deliveriesShown = 50;
const lookMs = 1_000;
const looksMax = 60;

// What the screen reads, and how often.
export function readsOf(client: ConsoleClient) {
  return {
    clients: () =>
      queryOptions({
        queryKey: ["clients"],
        queryFn: ({ signal }) => client.call("listClients", { signal }),
        staleTime: seldomMs,
      }),
    webhooks: () =>
      queryOptions({
        queryKey: ["webhooks"],
        queryFn: ({ signal }) => client.call("listWebhooks", { signal }),
        refetchInterval: oftenMs,
      }),
    deliveries: (webhook_id: string) =>
      queryOptions({
        queryKey: ["webhooks", webhook_id, "deliveries"],
        queryFn: ({ signal }) =>
          client.call("listWebhookDeliveries", { params: { webhook_id }, query: { limit: deliveriesShown }, signal }),
        refetchInterval: oftenMs,
      }),
    tenant: () =>
      queryOptions({ queryKey: ["tenant"], queryFn: ({ signal }) => client.call("getTenant", { signal }), staleTime: seldomMs }),
    snippet: () =>
      queryOptions({
        queryKey: ["snippet"],
        queryFn: ({ signal }) => client.call("getSnippet", { signal }),
        staleTime: Infinity,
      }),
    latest: () =>
      queryOptions({
        queryKey: ["activities", "latest"],
        queryFn: ({ signal }) => client.call("listActivities", { query: { limit: latestMax }, signal }),
        refetchInterval: oftenMs,
      }),
    ofTheDay: () =>
      queryOptions({
        queryKey: ["metrics", "day"],
        queryFn: async ({ signal }): Promise<number> => {
          const start_date = new Date(Date.now() - dayMs).toISOString();
          const { metrics } = await client.call("getTenantMetrics", { query: { start_date, metric: "total_events" }, signal });
          return metrics.reduce((sum, each) => sum + (each.total_events ?? 0), 0);
        },
        refetchInterval: seldomMs,
      }),
    quarantine: () =>
      queryOptions({
        queryKey: ["quarantine"],
        queryFn: ({ signal }) => client.call("listQuarantine", { query: { limit: quarantineShown }, signal }),
        refetchInterval: seldomMs,
      }),
    // How far a scenario's suspect has come: what was scored of it, and its case.
    suspect: (account: string, opensCase: boolean, expected: number) =>
      queryOptions({
        queryKey: ["suspect", account],
        queryFn: async ({ signal }) => {
          const { cases } = await client.call("listCases", { query: { website_account_id: account, limit: 1 }, signal });
          const activities = await client
            .call("listEndUserAccountActivities", { params: { website_account_id: account }, query: { limit: 100 }, signal })
            .then((page) => page.activities, absentAsNone);
          // A case about a source names no account.
          const unnamed = { website_account_id: "UNKNOWN", sort: "-updated_at" as const, limit: 1 };
          const others = cases.length > 0 ? cases : (await client.call("listCases", { query: unnamed, signal })).cases;
          const found = others[0] ?? null;
          return { found, scored: activities.length };
        },
        refetchInterval: ({ state: { data, dataUpdateCount } }) => {
          const isOver = data !== undefined && data.scored >= expected && (!opensCase || data.found !== null);
          return isOver || dataUpdateCount >= looksMax ? false : lookMs;
        },
      }),
  };
}

export function readIdentity(client: ConsoleClient) {
  return queryOptions({
    queryKey: ["tenant", "identity"],
    queryFn: ({ signal }) => client.call("getIdentity", { signal }),
    refetchInterval: seldomMs,
  });
}

// The account is made when the first of its activity is scored.
function absentAsNone(error: unknown): ScoredActivity[] {
  if (error instanceof ProblemError && error.status === 404) return [];
  throw error;
}
