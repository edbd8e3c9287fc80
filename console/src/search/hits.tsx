import type { SearchResult } from "@casehound/client";
import { Globe, Landmark, MonitorSmartphone, ReceiptText, UserRound } from "lucide-react";
import type { ReactNode } from "react";
import { FlagMarks, StatusBadge } from "../parts/Badges.tsx";
import { Score } from "../parts/Score.tsx";
import { subjectName } from "../parts/subject.ts";

// Where a hit leads. A device or an address of several accounts is shown among the links of one of them.
export type Target = { to: "account"; id: string } | { to: "case"; id: string } | { to: "links"; account: string; at: string };

export type Hit = { key: string; title: string; detail: string; icon: ReactNode; marks?: ReactNode; target: Target };
export type HitGroup = { name: string; hits: Hit[]; hasMore: boolean };

const iconSize = 15;

export function hitGroups(found: SearchResult): HitGroup[] {
  const hasMore = (group: SearchResult["more"][number]) => found.more.includes(group);
  const groups: HitGroup[] = [
    { name: "Accounts", hits: found.accounts.map(accountHit), hasMore: hasMore("accounts") },
    { name: "Cases", hits: found.cases.map(caseHit), hasMore: hasMore("cases") },
    { name: "Devices", hits: found.devices.flatMap((each) => sharedHits("device", each)), hasMore: hasMore("devices") },
    { name: "Addresses", hits: found.addresses.flatMap((each) => sharedHits("ip", each)), hasMore: hasMore("addresses") },
    { name: "Payees", hits: found.payees.flatMap((each) => sharedHits("payee", each)), hasMore: hasMore("payees") },
    { name: "Orders", hits: found.orders.flatMap(orderHits), hasMore: hasMore("orders") },
  ];
  return groups.filter(({ hits }) => hits.length > 0);
}

function accountHit(hit: SearchResult["accounts"][number]): Hit {
  const { website_account_id: id, matched, value, open_case: open } = hit;
  const found = { website_account_id: "", email: value, crm_account_id: `CRM id ${value}` }[matched];
  return {
    key: `account ${id}`,
    title: id,
    detail: found,
    icon: <UserRound size={iconSize} aria-hidden />,
    marks: (
      <>
        <FlagMarks flags={hit} isTight />
        {open && <Score score={open.overall_risk_score} isShort />}
      </>
    ),
    target: { to: "account", id },
  };
}

function caseHit(hit: SearchResult["cases"][number]): Hit {
  const { case_id: id, website_account_id: account, matched, value } = hit;
  return {
    key: `case ${id}`,
    title: subjectName(account, hit.subject),
    detail: matched === "subject" ? hit.primary_fraud_label : value,
    icon: <Score score={hit.overall_risk_score} isShort />,
    marks: <StatusBadge status={hit.status} />,
    target: { to: "case", id },
  };
}

const sharedIcons = {
  device: <MonitorSmartphone size={iconSize} aria-hidden />,
  ip: <Globe size={iconSize} aria-hidden />,
  payee: <Landmark size={iconSize} aria-hidden />,
};

// A payee has no screen of its own, so each of the accounts that paid it is a hit.
function sharedHits(kind: keyof typeof sharedIcons, found: SearchResult["devices"][number]): Hit[] {
  const { value, accounts, website_account_ids: ids } = found;
  const [first] = ids;
  if (first === undefined) return [];
  const icon = sharedIcons[kind];
  const isLinked = accounts > 1 && kind !== "payee";
  if (!isLinked) {
    return ids.map((id) => ({
      key: `${kind} ${value} ${id}`,
      title: value,
      detail: `${kind === "payee" ? "paid by" : "used by"} ${id}`,
      icon,
      target: { to: "account", id },
    }));
  }
  const detail = `${accounts > 100 ? "more than 100" : accounts} accounts`;
  return [
    { key: `${kind} ${value}`, title: value, detail, icon, target: { to: "links", account: first, at: `${kind}:${value}` } },
  ];
}

// An order whose activity names neither an account nor a case leads nowhere.
function orderHits(found: SearchResult["orders"][number]): Hit[] {
  const { order_id, website_account_id: account, case_id } = found;
  const target: Target | null =
    case_id !== undefined ? { to: "case", id: case_id } : account !== undefined ? { to: "account", id: account } : null;
  if (target === null) return [];
  const detail = account === undefined ? "Opens its case" : `${account}${case_id === undefined ? "" : ", opens its case"}`;
  return [{ key: `order ${order_id}`, title: order_id, detail, icon: <ReceiptText size={iconSize} aria-hidden />, target }];
}
