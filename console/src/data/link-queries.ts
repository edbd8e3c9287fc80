import type { LinkTable } from "@casehound/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { ConsoleClient } from "./client.ts";

export type LinkKind = LinkTable["shared"][number]["kind"];
export type LinkOrigin = { account?: string; cases?: string };

const freshMs = 30_000;
const pageSize = 50;

export function linkQueriesOf(client: ConsoleClient) {
  return {
    links: ({ account, cases }: LinkOrigin) =>
      queryOptions({
        queryKey: ["links", { account, cases }],
        queryFn: ({ signal }) => {
          const query = account !== undefined ? { website_account_id: account } : cases !== undefined ? { case_ids: cases } : {};
          return client.call("getLinks", { query, signal });
        },
        staleTime: freshMs,
      }),
    // All accounts behind a device or an address. The table itself holds only the first few.
    accountsOf: (kind: LinkKind, value: string) =>
      infiniteQueryOptions({
        queryKey: ["links", "accounts", kind, value],
        queryFn: ({ pageParam, signal }) => {
          const query = { limit: pageSize, ...(pageParam !== "" && { cursor: pageParam }) };
          return kind === "device"
            ? client.call("listDeviceAccounts", { params: { device_id: value }, query, signal })
            : client.call("listAddressAccounts", { params: { ip: value }, query, signal });
        },
        initialPageParam: "",
        getNextPageParam: (last) => last.next_cursor,
        staleTime: freshMs,
      }),
  };
}
