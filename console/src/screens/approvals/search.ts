export type ApprovalSearch = { show?: "all"; open?: string };

export function readApprovalSearch({ show, open }: Record<string, unknown>): ApprovalSearch {
  return { ...(show === "all" && { show }), ...(typeof open === "string" && open !== "" && { open }) };
}
