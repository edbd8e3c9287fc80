import { hash } from "node:crypto";
import { factsOfAccount } from "./accounts.ts";
import { factsOfCase } from "./chain.ts";
import { registerOf, type Sight } from "./history.ts";

// Reads what responses show from their text. A case has its version and status in the first few hundred characters. Parsing the
// rest would cost the client more than the call costs the service.
const headLength = 800;
const caseHead = /"status":"(OPEN|CLOSED)","case_version":(\d+),"created_at":"([^"]+)","updated_at":(?:null|"([^"]+)")/;
const blockedMember = /"end_user_is_blocked":(true|false),/;
const accountMember = /"website_account_id":"([^"]+)",/;
const caseIdMember = /"case_id":"([^"]+)"/;

export type SeenCase = { case_id: string; account: string; status: string; version: number };

export const digest = (text: string) => hash("sha1", text, "base64").slice(0, 12);

// The flag belongs to the account, whose id is elsewhere in the response to a change.
export function readCase(text: string): { seen: SeenCase; sights: Sight[] } {
  const head = text.slice(0, headLength);
  const [, status = "", version = "", createdAt = "", updatedAt = createdAt] = caseHead.exec(head) ?? [];
  const [, case_id = ""] = caseIdMember.exec(head) ?? [];
  const [, account = ""] = accountMember.exec(head) ?? [];
  const [, isBlocked] = blockedMember.exec(head) ?? [];
  const rest = head.replace(blockedMember, "").replace(accountMember, "") + text.slice(headLength);
  const seen = { case_id, account, status, version: Number(version) };
  const sights = [
    { register: registerOf.case(case_id), value: seen.version, facts: factsOfCase(status, updatedAt), hash: digest(rest) },
    { register: registerOf.isBlocked(account), value: isBlocked === "true" },
  ];
  return { seen, sights };
}

export type ListItem = {
  case_id: string;
  website_account_id: string;
  end_user_is_blocked: boolean;
  status: string;
  case_version: number;
  created_at: string;
  updated_at: string | null;
};

export function readList(items: ListItem[]): { seen: SeenCase[]; sights: Sight[] } {
  const sights = items.flatMap((item) => [
    {
      register: registerOf.case(item.case_id),
      value: item.case_version,
      facts: factsOfCase(item.status, item.updated_at ?? item.created_at),
    },
    { register: registerOf.isBlocked(item.website_account_id), value: item.end_user_is_blocked },
  ]);
  const seen = items.map((item) => ({
    case_id: item.case_id,
    account: item.website_account_id,
    status: item.status,
    version: item.case_version,
  }));
  return { seen, sights };
}

type Account = {
  website_account_id: string;
  crm_account_id?: string;
  is_blocked: boolean;
  updated_at: string;
  first_activity_at?: string;
};

export function readAccount(text: string): Sight[] {
  const { data } = JSON.parse(text) as { data: Account };
  const { website_account_id: id, crm_account_id: marker = null } = data;
  // Activity sets the time of the first activity, which is not a change by a client.
  const { first_activity_at: _firstActivityAt, ...rest } = data;
  return [
    {
      register: registerOf.account(id),
      value: marker,
      facts: factsOfAccount(data, data.updated_at),
      hash: digest(JSON.stringify(rest)),
    },
    { register: registerOf.isBlocked(id), value: data.is_blocked },
  ];
}
