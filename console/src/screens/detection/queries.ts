import type { Operations } from "@casehound/client";
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ConsoleClient } from "../../data/client.ts";
import { useWorkspace } from "../../session/workspace.tsx";

export type Reason = NonNullable<NonNullable<Operations["listQuarantine"]["query"]>["reason"]>;

const half = 30_000;
const entriesPage = 50;
// Short, so the bar moves during a short run. A finished run is not polled again.
const progressMs = 700;
// A training run takes minutes.
const trainingMs = 2_000;

function detectionQueries(client: ConsoleClient) {
  return {
    rules: queryOptions({
      queryKey: ["rules", "list"],
      queryFn: async ({ signal }) => (await client.call("listRules", { signal })).rules,
      staleTime: half,
    }),
    rule: (ruleId: string) =>
      queryOptions({
        queryKey: ["rules", "one", ruleId],
        queryFn: ({ signal }) => client.call("getRule", { params: { rule_id: ruleId }, signal }),
        staleTime: half,
      }),
    history: (ruleId: string) =>
      queryOptions({
        queryKey: ["rules", "history", ruleId],
        queryFn: async ({ signal }) => (await client.call("listRuleVersions", { params: { rule_id: ruleId }, signal })).versions,
        staleTime: half,
      }),
    report: (ruleId: string, days: number) =>
      queryOptions({
        queryKey: ["rules", "report", ruleId, days],
        queryFn: ({ signal }) => client.call("getRuleReport", { params: { rule_id: ruleId }, query: { days }, signal }),
        staleTime: half,
        placeholderData: keepPreviousData,
      }),
    features: queryOptions({
      queryKey: ["features"],
      queryFn: async ({ signal }) => (await client.call("listFeatures", { signal })).features,
      staleTime: Infinity,
    }),
    // Previews the thresholds for a number of cases a day.
    budget: (casesPerDay: number) =>
      queryOptions({
        queryKey: ["thresholds", "budget", casesPerDay],
        queryFn: ({ signal }) => client.call("getThresholds", { query: { cases_per_day: casesPerDay }, signal }),
        staleTime: half,
        retry: false,
      }),
    models: queryOptions({
      queryKey: ["models"],
      queryFn: ({ signal }) => client.call("listModels", { signal }),
      staleTime: half,
      refetchInterval: ({ state }) => (state.data?.runs.some(({ status }) => isUnderWay(status)) ? trainingMs : false),
    }),
    backtests: queryOptions({
      queryKey: ["backtests", "list"],
      queryFn: async ({ signal }) => (await client.call("listBacktests", { signal })).backtests,
      staleTime: half,
    }),
    backtest: (backtestId: string) =>
      queryOptions({
        queryKey: ["backtests", "one", backtestId],
        queryFn: ({ signal }) => client.call("getBacktest", { params: { backtest_id: backtestId }, signal }),
        staleTime: half,
        refetchInterval: ({ state }) => (state.data && isUnderWay(state.data.status) ? progressMs : false),
      }),
    quarantine: (reason: Reason | undefined) =>
      infiniteQueryOptions({
        queryKey: ["quarantine", reason ?? "all"],
        queryFn: ({ pageParam, signal }) => {
          const query = { ...(reason && { reason }), limit: entriesPage, ...(pageParam && { cursor: pageParam }) };
          return client.call("listQuarantine", { query, signal });
        },
        initialPageParam: "",
        getNextPageParam: (last) => last.next_cursor,
        staleTime: half,
      }),
  };
}

export function isUnderWay(status: string): boolean {
  return status === "QUEUED" || status === "RUNNING";
}

export function useDetection() {
  const { client } = useWorkspace();
  return useMemo(() => detectionQueries(client), [client]);
}
