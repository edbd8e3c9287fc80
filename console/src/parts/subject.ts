import { unknownAccount, type CaseMember, type CaseSubject } from "@casehound/client";
import { accountName, caseName } from "./account-name.ts";
import { visible } from "./visible.ts";

const kindWords: Record<CaseSubject["kind"], string> = {
  device: "Device",
  session: "Session",
  address: "Address",
  network: "Network",
  payee: "Payee",
  instrument: "Instrument",
  campaign: "Campaign",
  activity: "Activity",
};

export const memberWords: Record<CaseMember["state"], string> = {
  attacked: "Attacked",
  created: "Created",
  entered: "Entered",
};

// What a case is about: an account, a source, a payee, an instrument or a campaign. Older cases without an account may have no
// subject.
export function subjectName(account: string, subject: CaseSubject | undefined): string {
  if (account !== unknownAccount || !subject) return accountName(account);
  // The id of a campaign consists of its rule and its start, so it is not shown.
  return subject.kind === "campaign" ? kindWords.campaign : `${kindWords[subject.kind]} ${visible(subject.id)}`;
}

// The form used inside a sentence.
export function subjectCaseName(account: string, subject: CaseSubject | undefined): string {
  if (account !== unknownAccount || !subject) return caseName(account);
  return subject.kind === "campaign"
    ? "the case of the campaign"
    : `the case of the ${kindWords[subject.kind].toLowerCase()} ${visible(subject.id)}`;
}

export function accountsIn(members: number): string {
  return members === 1 ? "1 account" : `${members.toLocaleString()} accounts`;
}
