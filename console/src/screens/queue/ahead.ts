import type { QueryClient } from "@tanstack/react-query";
import type { Workspace } from "../../session/workspace.tsx";
import { readQueueSearch, toCaseQuery } from "./search.ts";

// The list that the page will show, asked for while the page is being made.
export function readAhead({ queries, may }: Workspace, cache: QueryClient, search: Record<string, unknown>): void {
  const { case: _case, ...filter } = readQueueSearch(search);
  // A period that ends now is another one a moment later.
  if (!may("read:cases") || filter.changed) return;
  void cache.prefetchInfiniteQuery(queries.cases(toCaseQuery(filter, Date.now())));
  void cache.prefetchQuery(queries.caseCounts());
}
