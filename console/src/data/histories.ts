import { infiniteQueryOptions, queryOptions, type QueryKey } from "@tanstack/react-query";
import type { ConsoleClient } from "./client.ts";

// Large enough to read the activity of most cases in one page.
const caseActivitiesSize = 500;
const sessionsSize = 200;
const sessionActivitiesSize = 50;
const accountActivitiesSize = 30;
const eventsSize = 200;
const linksSize = 100;
const casesSize = 20;
const half = 30_000;

type Page = { next_cursor: string | null };

// A list that is read page by page, on demand.
function pages<P extends Page>(queryKey: QueryKey, read: (page: { cursor?: string }, signal: AbortSignal) => Promise<P>) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam === "" ? {} : { cursor: pageParam }, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    staleTime: half,
  });
}

export type Histories = ReturnType<typeof historiesOf>;

// The history of a case or an account. Every key begins with the noun, so a live event about a case or an account also
// invalidates these queries.
export function historiesOf(client: ConsoleClient) {
  return { ...caseHistories(client), ...accountHistories(client) };
}

function caseHistories(client: ConsoleClient) {
  return {
    caseSessions: (case_id: string) =>
      pages(["case", case_id, "sessions"], (page, signal) =>
        client.call("listCaseSessions", { params: { case_id }, query: { limit: sessionsSize, ...page }, signal }),
      ),
    caseActivities: (case_id: string) =>
      pages(["case", case_id, "activities"], (page, signal) =>
        client.call("listCaseActivities", { params: { case_id }, query: { limit: caseActivitiesSize, ...page }, signal }),
      ),
    // At most 200. Later activity can fill many pages, so the evidence is read by itself.
    caseEvidence: (case_id: string) =>
      queryOptions({
        queryKey: ["case", case_id, "evidence"],
        queryFn: ({ signal }) =>
          client.call("listCaseActivities", {
            params: { case_id },
            query: { evidence: true, limit: caseActivitiesSize },
            signal,
          }),
        staleTime: half,
      }),
    caseEvents: (case_id: string) =>
      pages(["case", case_id, "events"], (page, signal) =>
        client.call("listCaseEvents", { params: { case_id }, query: { limit: eventsSize, ...page }, signal }),
      ),
    // `of` is the key of the timeline that contains the session.
    sessionActivities: (session_id: string, of: QueryKey) =>
      pages([...of, "session", session_id], (page, signal) =>
        client.call("listSessionActivities", {
          params: { session_id },
          query: { limit: sessionActivitiesSize, ...page },
          signal,
        }),
      ),
    ruleNames: () =>
      queryOptions({
        queryKey: ["rules", "names"],
        queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
          const { rules } = await client.call("listRules", { signal });
          return new Map(rules.map(({ rule_id, name }) => [rule_id, name]));
        },
        staleTime: 10 * half,
      }),
  };
}

function accountHistories(client: ConsoleClient) {
  return {
    accountEvents: (id: string) =>
      pages(["account", id, "events"], (page, signal) =>
        client.call("listEndUserAccountEvents", {
          params: { website_account_id: id },
          query: { limit: eventsSize, ...page },
          signal,
        }),
      ),
    accountActivities: (id: string) =>
      pages(["account", id, "activities"], (page, signal) =>
        client.call("listEndUserAccountActivities", {
          params: { website_account_id: id },
          query: { limit: accountActivitiesSize, ...page },
          signal,
        }),
      ),
    accountSessions: (id: string) =>
      pages(["account", id, "sessions"], (page, signal) =>
        client.call("listEndUserAccountSessions", {
          params: { website_account_id: id },
          query: { limit: casesSize, ...page },
          signal,
        }),
      ),
    accountLinks: (id: string) =>
      pages(["account", id, "links"], (page, signal) =>
        client.call("listEndUserAccountLinks", {
          params: { website_account_id: id },
          query: { limit: linksSize, ...page },
          signal,
        }),
      ),
    accountCases: (id: string) =>
      pages(["account", id, "cases"], (page, signal) =>
        client.call("listCases", {
          query: { website_account_id: id, sort: "-created_at", limit: casesSize, ...page },
          signal,
        }),
      ),
    accountsByCrmId: (crm_account_id: string) =>
      queryOptions({
        queryKey: ["accounts", "crm", crm_account_id],
        queryFn: ({ signal }) => client.call("listEndUserAccounts", { query: { crm_account_id, limit: 5 }, signal }),
        staleTime: half,
      }),
  };
}
