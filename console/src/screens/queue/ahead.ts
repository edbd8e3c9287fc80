import type { QueryClient } from "@tanstack/react-query";
import type { Workspace } from "../../session/workspace.tsx";
import { readQueueSearch, toCaseQuery } from "./search.ts";

// Requests the list that the page will show while the page is still loading.
export function readAhead({ queries, may }: Workspace, cache: QueryClient, search: Record<string, unknown>): void {
  const { case: _case, ...filter } = readQueueSearch(search);
  if (!may("read:cases")) return;
  void cache.prefetchInfiniteQuery(queries.cases(toCaseQuery(filter)));
  void cache.prefetchQuery(queries.caseCounts());
}
