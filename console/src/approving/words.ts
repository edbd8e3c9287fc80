import type { ApprovalCheck, ApprovalListItem } from "@casehound/client";
import { outcomeInSentence } from "../parts/Badges.tsx";
import { nameOfActor } from "../parts/Actor.tsx";
import { accountName } from "../parts/account-name.ts";
import type { ApprovalStatus } from "./queries.ts";

const reasons: Record<ApprovalCheck["because"][number], string> = {
  bulk: "it exceeds the number of cases that one person may close",
  blocking: "it blocks an account",
  amount: "the payments exceed your team’s limit",
};

export function becauseWords(because: ApprovalCheck["because"]): string {
  return because.map((each) => reasons[each]).join(" and ");
}

const namedMax = 3;

export function approverWords(approvers: string[]): string {
  if (approvers.length === 0) return "At the moment, nobody else can approve it.";
  const names = approvers.slice(0, namedMax).map(nameOfActor);
  const more = approvers.length - namedMax;
  const last = more > 0 ? `${more} more` : names.pop();
  return `${names.length > 0 ? `${names.join(", ")} or ${last}` : last} can approve it.`;
}

export const statusWords: Record<ApprovalStatus, string> = {
  PENDING: "Pending",
  APPROVED: "Approved",
  REJECTED: "Rejected",
  WITHDRAWN: "Withdrawn",
  STALE: "Out of date",
  EXPIRED: "Expired",
};

export function titleOf({ case_count: count, website_account_id: account, closing }: ApprovalListItem): string {
  if (account !== undefined) {
    const verb = closing.account?.is_blocked === true ? "Block" : "Change the flags of";
    return `${verb} ${accountName(account)}`;
  }
  const outcome = outcomeInSentence(closing);
  const act = closing.account?.is_blocked === true ? " and block the account" : "";
  return `${count === 1 ? "Close a case" : `Close ${count} cases`}${outcome === undefined ? "" : ` as ${outcome}`}${act}`;
}
