import type { CaseListItem, Claim, Operations } from "@casehound/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ConsoleClient } from "./client.ts";
import { digestReader } from "./digests.ts";

export type CaseQuery = Omit<NonNullable<Operations["listCases"]["query"]>, "limit" | "cursor">;

const pageSize = 100;
const half = 30_000;
const searchFreshMs = 10_000;

// The time until a claim lapses, and some more in case the clocks differ.
function untilLapse(claim: Claim | undefined): number | false {
  return claim ? Math.max(Date.parse(claim.expires_at) - Date.now(), half) + 1000 : false;
}

// All reads in one place. Every key starts with the noun, so a change to a noun can invalidate all of its readers.
export function queriesOf(client: Pick<ConsoleClient, "call">) {
  const readDigest = digestReader(client);
  return {
    ...teamQueries(client),
    cases: (query: CaseQuery) =>
      infiniteQueryOptions({
        queryKey: ["cases", "list", query],
        queryFn: ({ pageParam, signal }) =>
          client.call("listCases", { query: { ...query, limit: pageSize, ...(pageParam && { cursor: pageParam }) }, signal }),
        initialPageParam: "",
        getNextPageParam: (last) => last.next_cursor,
        // The list does not change while a person reads it. The live stream announces new rows.
        staleTime: Infinity,
      }),
    // The number of cases in each view, and when activity last arrived.
    caseCounts: () =>
      queryOptions({
        queryKey: ["cases", "count"],
        queryFn: ({ signal }) => client.call("getCaseCounts", { signal }),
        staleTime: half,
      }),
    ...viewQueries(client),
    search: searchQuery(client),
    // What a row shows besides the list's own members. The account is in the key because the digest includes its flags.
    digest: ({ case_id: caseId, website_account_id: account }: Pick<CaseListItem, "case_id" | "website_account_id">) =>
      queryOptions({
        queryKey: ["digest", account, caseId],
        queryFn: () => readDigest(caseId),
        staleTime: half,
        refetchInterval: ({ state }) => untilLapse(state.data?.claim),
      }),
    case: (caseId: string) =>
      queryOptions({
        queryKey: ["case", caseId],
        queryFn: ({ signal }) => client.call("getCase", { params: { case_id: caseId }, signal }),
        staleTime: half,
      }),
    // The accounts of an attack.
    members: (caseId: string) =>
      infiniteQueryOptions({
        queryKey: ["case", caseId, "members"],
        queryFn: ({ pageParam, signal }) => {
          const query = { limit: pageSize, ...(pageParam && { cursor: pageParam }) };
          return client.call("listCaseMembers", { params: { case_id: caseId }, query, signal });
        },
        initialPageParam: "",
        getNextPageParam: (last) => last.next_cursor,
        staleTime: half,
      }),
    account: (websiteAccountId: string) =>
      queryOptions({
        queryKey: ["account", websiteAccountId],
        queryFn: ({ signal }) => client.call("getEndUserAccount", { params: { website_account_id: websiteAccountId }, signal }),
        staleTime: half,
      }),
    // The figures about labels change slowly. A change of the thresholds arrives through the live stream.
    thresholds: () =>
      queryOptions({
        queryKey: ["thresholds"],
        queryFn: ({ signal }) => client.call("getThresholds", { signal }),
        staleTime: 10 * half,
      }),
    decision: (predictionId: string) =>
      queryOptions({
        queryKey: ["decision", predictionId],
        queryFn: ({ signal }) => client.call("getDecision", { params: { prediction_id: predictionId }, signal }),
        staleTime: Infinity,
      }),
  };
}

function searchQuery(client: Pick<ConsoleClient, "call">) {
  return (text: string) =>
    queryOptions({
      queryKey: ["search", text],
      queryFn: ({ signal }) => client.call("search", { query: { q: text }, signal }),
      staleTime: searchFreshMs,
      gcTime: searchFreshMs,
    });
}

function viewQueries(client: Pick<ConsoleClient, "call">) {
  return {
    views: () =>
      queryOptions({
        queryKey: ["views", "list"],
        queryFn: async ({ signal }) => (await client.call("listViews", { signal })).views,
        staleTime: 10 * half,
      }),
    // Counted less often than the queue's own tabs, because there can be many views.
    viewCounts: () =>
      queryOptions({
        queryKey: ["views", "counts"],
        queryFn: async ({ signal }) => (await client.call("getViewCounts", { signal })).counts,
        staleTime: half,
        refetchInterval: half,
      }),
  };
}

// What people tell each other about a case.
function teamQueries(client: Pick<ConsoleClient, "call">) {
  return {
    // Who works on the case. Read again when the claim lapses, because that is not an event.
    claim: (caseId: string) =>
      queryOptions({
        queryKey: ["case", caseId, "claim"],
        queryFn: ({ signal }) => client.call("getCaseClaim", { params: { case_id: caseId }, signal }),
        staleTime: half,
        refetchInterval: ({ state }) => untilLapse(state.data?.claim),
      }),
    notes: (caseId: string) =>
      infiniteQueryOptions({
        queryKey: ["case", caseId, "notes"],
        queryFn: ({ pageParam, signal }) => {
          const query = { limit: pageSize, ...(pageParam && { cursor: pageParam }) };
          return client.call("listCaseNotes", { params: { case_id: caseId }, query, signal });
        },
        initialPageParam: "",
        getNextPageParam: (last) => last.next_cursor,
        staleTime: half,
      }),
    inbox: () =>
      infiniteQueryOptions({
        queryKey: ["inbox", "list"],
        queryFn: ({ pageParam, signal }) =>
          client.call("listInbox", { query: { limit: pageSize, ...(pageParam && { cursor: pageParam }) }, signal }),
        initialPageParam: "",
        getNextPageParam: (last) => last.next_cursor,
        staleTime: half,
      }),
    unread: () =>
      queryOptions({
        queryKey: ["inbox", "count"],
        queryFn: ({ signal }) => client.call("getUnreadCount", { signal }),
        staleTime: half,
      }),
    colleagues: () =>
      queryOptions({
        queryKey: ["colleagues"],
        queryFn: async ({ signal }) => (await client.call("listColleagues", { signal })).colleagues,
        staleTime: 10 * half,
      }),
  };
}

export type Queries = ReturnType<typeof queriesOf>;
