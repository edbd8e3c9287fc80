import type { Approval, ApprovalCheck, NewApproval } from "@casehound/client";
import { infiniteQueryOptions, queryOptions, useQuery } from "@tanstack/react-query";
import type { ConsoleClient } from "../data/client.ts";
import { useWorkspace } from "../session/workspace.tsx";

const staleMs = 30_000;
const pageSize = 50;

export type ApprovalStatus = Approval["status"];

export function settingsQuery(client: ConsoleClient) {
  return queryOptions({
    queryKey: ["closing", "approvals"],
    queryFn: ({ signal }) => client.call("getApprovalSettings", { signal }),
    staleTime: staleMs,
  });
}

export function approvalsQuery(client: ConsoleClient, status: ApprovalStatus | undefined) {
  return infiniteQueryOptions({
    queryKey: ["approvals", "list", status ?? "all"],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: pageSize, ...(status && { status }), ...(pageParam && { cursor: pageParam }) };
      return client.call("listApprovals", { query, signal });
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    staleTime: staleMs,
  });
}

export function approvalQuery(client: ConsoleClient, approvalId: string) {
  return queryOptions({
    queryKey: ["approvals", "one", approvalId],
    queryFn: ({ signal }) => client.call("getApproval", { params: { approval_id: approvalId }, signal }),
    staleTime: 0,
  });
}

// The pending requests about one case.
export function caseApprovalsQuery(client: ConsoleClient, caseId: string) {
  return queryOptions({
    queryKey: ["approvals", "case", caseId],
    queryFn: async ({ signal }) =>
      (await client.call("listApprovals", { query: { case_id: caseId, status: "PENDING", limit: 5 }, signal })).approvals,
    staleTime: staleMs,
  });
}

// Whether this change needs a second person. Null until that is known, and if nothing needs one. The service enforces it anyway, so
// a failed check is not shown.
export function useApprovalCheck(body: NewApproval | null): ApprovalCheck | null {
  const { client } = useWorkspace();
  const { data: settings } = useQuery(settingsQuery(client));
  const isOn = settings !== undefined && (settings.blocking || settings.amounts.length > 0 || settings.bulk_over !== undefined);
  const { data } = useQuery({
    queryKey: ["approvals", "check", body],
    queryFn: ({ signal }) => client.call("checkApproval", { body: body ?? {}, signal }),
    enabled: isOn && body !== null,
    placeholderData: (known) => known,
    staleTime: 0,
    retry: false,
  });
  return isOn && body !== null && data?.needs_approval === true ? data : null;
}
