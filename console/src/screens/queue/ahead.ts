import type { QueryClient } from "@tanstack/react-query";
import type { Workspace } from "../../session/workspace.tsx";
import { readQueueSearch, toCaseQuery } from "./search.ts";

// Requests the list that the page will show while the page is still loading.
export function readAhead({ queries, may }: Workspace, cache: QueryClient, search: Record<string, unknown>): void {
  const { case: _case, ...filter } = readQueueSearch(search);
  // A period that ends now would be a different one a moment later.
  if (!may("read:cases") || filter.changed) return;
  void cache.prefetchInfiniteQuery(queries.cases(toCaseQuery(filter, Date.now())));
  void cache.prefetchQuery(queries.caseCounts());
}
