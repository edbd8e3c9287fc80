import { queryOptions } from "@tanstack/react-query";
import type { ConsoleClient } from "../data/client.ts";

const staleMs = 300_000;

export function ownDispositionQuery(client: ConsoleClient) {
  return queryOptions({
    queryKey: ["closing", "dispositions"],
    queryFn: ({ signal }) => client.call("getDispositions", { signal }),
    staleTime: staleMs,
  });
}
