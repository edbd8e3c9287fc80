import type { List } from "@casehound/client";
import { infiniteQueryOptions, queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ConsoleClient } from "../../data/client.ts";
import { useWorkspace } from "../../session/workspace.tsx";

const half = 30_000;
const entriesPage = 50;

function listQueries(client: ConsoleClient) {
  return {
    all: queryOptions({
      queryKey: ["lists", "all"],
      queryFn: async ({ signal }) => (await client.call("listLists", { signal })).lists,
      staleTime: half,
    }),
    entries: (listName: string, prefix: string) =>
      infiniteQueryOptions({
        queryKey: ["lists", "entries", listName, prefix],
        queryFn: ({ pageParam, signal }) => {
          const query = { limit: entriesPage, ...(prefix !== "" && { prefix }), ...(pageParam && { cursor: pageParam }) };
          return client.call("listListEntries", { params: { list_name: listName }, query, signal });
        },
        initialPageParam: "",
        getNextPageParam: (last) => last.next_cursor,
        staleTime: half,
      }),
    // Searching the log takes up to 3 seconds, so the result is kept while the dialog is open.
    preview: (listName: string, value: string) =>
      queryOptions({
        queryKey: ["lists", "preview", listName, value],
        queryFn: ({ signal }) =>
          client.call("previewListValues", { params: { list_name: listName }, body: { values: [value] }, signal }),
        staleTime: half,
        retry: false,
      }),
    caseValues: (caseId: string) =>
      queryOptions({
        queryKey: ["lists", "case", caseId],
        queryFn: async ({ signal }) => (await client.call("listCaseValues", { params: { case_id: caseId }, signal })).values,
        staleTime: half,
      }),
  };
}

export function useListQueries() {
  const { client } = useWorkspace();
  return useMemo(() => listQueries(client), [client]);
}

// The tenant's lists, or none if the person may not read them or they are still loading.
export function useLists(): List[] {
  const { may } = useWorkspace();
  const { data } = useQuery({ ...useListQueries().all, enabled: may("read:lists") });
  return data ?? [];
}
