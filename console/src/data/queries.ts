import type { CaseListItem, Operations } from "@casehound/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ConsoleClient } from "./client.ts";
import { digestReader } from "./digests.ts";

export type CaseQuery = Omit<NonNullable<Operations["listCases"]["query"]>, "limit" | "cursor">;

const pageSize = 100;
const half = 30_000;

// What is read, in one place: every key starts with the noun, so that a change of a noun can be told to all its readers.
export function queriesOf(client: ConsoleClient) {
  const readDigest = digestReader(client);
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
    // How many stand in each view, and when activity last came in.
    caseCounts: () =>
      queryOptions({
        queryKey: ["cases", "count"],
        queryFn: ({ signal }) => client.call("getCaseCounts", { signal }),
        staleTime: half,
      }),
    // What a row shows beside the list's own members. The account stands in the key, for its flags are part of it.
    digest: ({ case_id: caseId, website_account_id: account }: Pick<CaseListItem, "case_id" | "website_account_id">) =>
      queryOptions({ queryKey: ["digest", account, caseId], queryFn: () => readDigest(caseId), staleTime: half }),
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
  };
}

export type Queries = ReturnType<typeof queriesOf>;
