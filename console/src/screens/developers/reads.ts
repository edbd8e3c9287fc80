import { ProblemError, unknownAccount, type ScoredActivity } from "@casehound/client";
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
  };
}

export function readIdentity(client: ConsoleClient) {
  return queryOptions({
    queryKey: ["tenant", "identity"],
    queryFn: ({ signal }) => client.call("getIdentity", { signal }),
    refetchInterval: seldomMs,
  });
}

// The progress of a scenario: how much of the suspect's activity was scored, and the case it opened.
export function readScenario(client: ConsoleClient, { suspect, others, expected, opensCase }: ScenarioRead) {
  const scoredOf = (account: string, signal: AbortSignal) =>
    client
      .call("listEndUserAccountActivities", { params: { website_account_id: account }, query: { limit: 100 }, signal })
      .then((page) => page.activities, absentAsNone);
  return queryOptions({
    queryKey: ["scenario", suspect],
    queryFn: async ({ signal }) => {
      const { cases } = await client.call("listCases", { query: { website_account_id: suspect, limit: 1 }, signal });
      const scored = (await scoredOf(suspect, signal)).length;
      const found = cases[0] ?? null;
      if (found || !opensCase || scored < expected) return { found, scored };
      // A case about a device or an address names no account. The activity that opened it names the case.
      const rest = await Promise.all(others.map((account) => scoredOf(account, signal)));
      const case_id = rest.flat().find((each) => each.case_id !== undefined)?.case_id;
      if (case_id === undefined) return { found: null, scored };
      const unnamed = { website_account_id: unknownAccount, sort: "-updated_at" as const, limit: 100 };
      const page = await client.call("listCases", { query: unnamed, signal });
      return { found: page.cases.find((each) => each.case_id === case_id) ?? null, scored };
    },
    refetchInterval: ({ state: { data, dataUpdateCount } }) => {
      const isOver = data !== undefined && data.scored >= expected && (!opensCase || data.found !== null);
      return isOver || dataUpdateCount >= looksMax ? false : lookMs;
    },
  });
}

export type ScenarioRead = { suspect: string; others: string[]; expected: number; opensCase: boolean };

// The account is created when the first of its activity is scored.
function absentAsNone(error: unknown): ScoredActivity[] {
  if (error instanceof ProblemError && error.status === 404) return [];
  throw error;
}
