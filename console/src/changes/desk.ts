import { ProblemError, type Case, type CaseChange, type CasehoundClient } from "@casehound/client";
import type { Outbox } from "./outbox.ts";

export type Disposition = NonNullable<CaseChange["disposition"]>;
// An entry that a close adds to a list. It is new if its value was not on the list before.
export type ListWish = { entry: NonNullable<CaseChange["list_entries"]>[number]; isNew: boolean };
// A person's decision about the version of the case that this person saw.
export type Verdict = {
  case_id: string;
  case_version: number;
  disposition: Disposition;
  own_disposition?: string;
  reason: string;
  // Whether the cases that the attack opened are closed with the same outcome.
  isForMembers?: boolean;
  // The account's flags that change in the same transaction.
  flags?: NonNullable<CaseChange["account"]>;
  // The entries that are added to lists in the same transaction.
  listed?: ListWish[];
  // Only with the outcome FALSE_POSITIVE.
  snooze?: NonNullable<CaseChange["snooze"]>;
};

export type Desk = {
  // This client does not retry. The outbox retries and shows that it does.
  client: Pick<CasehoundClient, "call">;
  outbox: Outbox;
  newKey: () => string;
};

export type Closing =
  | { kind: "closed"; found: Case }
  // Somebody else closed the case first. Nothing was changed, and their reason stands.
  | { kind: "already-closed"; found: Case }
  // Nothing was changed. `found` is the current case, to compare with the one the person saw.
  | { kind: "changed"; found: Case }
  | { kind: "refused"; words: string };

export type Reopening = { kind: "reopened"; found: Case } | { kind: "changed"; found: Case } | { kind: "refused"; words: string };

const contendedMax = 3;

// What a close contains besides the case and its version.
export function closingOf(verdict: Verdict): Omit<CaseChange, "status" | "case_version"> {
  const { disposition, own_disposition: own, reason, isForMembers = false, snooze, flags = {}, listed = [] } = verdict;
  return {
    disposition,
    ...(own !== undefined && { own_disposition: own }),
    ...(reason !== "" && { reason }),
    ...(isForMembers && { members: "same" }),
    ...(snooze && { snooze }),
    ...(Object.keys(flags).length > 0 && { account: flags }),
    ...(listed.length > 0 && { list_entries: listed.map(({ entry }) => entry) }),
  };
}

export async function closeCase(desk: Desk, verdict: Verdict, onDelay?: () => void): Promise<Closing> {
  const { case_id, case_version } = verdict;
  const body: CaseChange = { status: "CLOSED", case_version, ...closingOf(verdict) };
  const change = await changeCase(desk, case_id, body, { label: "Closing a case", onDelay });
  if (change.kind !== "done") return change.kind === "changed" ? whoseClosing(change.found) : change;
  // Closing a closed case returns the case unchanged, so the version shows whether this call closed it.
  const isOurs = change.found.case_version !== case_version;
  return { kind: isOurs ? "closed" : "already-closed", found: change.found };
}

function whoseClosing(found: Case): Closing {
  return { kind: found.status === "CLOSED" ? "already-closed" : "changed", found };
}

type Closed = Pick<Case, "case_id" | "case_version">;

// Reopens the case only if nothing else has happened to it since the close.
export async function reopenCase(desk: Desk, closed: Closed, reason?: string): Promise<Reopening> {
  const body: CaseChange = { status: "OPEN", case_version: closed.case_version, ...(reason !== undefined && { reason }) };
  const change = await changeCase(desk, closed.case_id, body, { label: "Reopening a case" });
  return change.kind === "done" ? { kind: "reopened", found: change.found } : change;
}

type Change = { kind: "done"; found: Case } | { kind: "changed"; found: Case } | { kind: "refused"; words: string };
type ChangeOptions = { label: string; onDelay?: (() => void) | undefined };

// One intended change keeps one idempotency key through all of its attempts.
async function changeCase(desk: Desk, caseId: string, body: CaseChange, { label, onDelay }: ChangeOptions): Promise<Change> {
  const idempotencyKey = desk.newKey();
  const params = { case_id: caseId };
  const send = () => desk.client.call("updateCase", { params, body, idempotencyKey });
  const read = () => desk.outbox.deliver(label, () => desk.client.call("getCase", { params }), onDelay);
  for (let contended = 0; ;) {
    try {
      return { kind: "done", found: await desk.outbox.deliver(label, send, onDelay) };
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      const isContended = error.type === "transaction-contended";
      if (!isContended && error.type !== "item-version-conflict") return { kind: "refused", words: refusalOf(error) };
      const found = await read();
      // The other transaction changed nothing in the end. The version is still the one the person saw, so send again.
      if (!isContended || found.case_version !== body.case_version) return { kind: "changed", found };
      if (++contended > contendedMax) return { kind: "refused", words: error.detail };
    }
  }
}

// Names the choice in the dialog that the service rejected. The problem's own detail names only the field.
function refusalOf({ errors, detail }: ProblemError): string {
  const named = { snooze: "Snooze these rules", list_entries: "Add to a list" };
  for (const [member, name] of Object.entries(named)) {
    const fault = errors?.find(({ field }) => field.startsWith(member));
    if (fault) return `“${name}” was rejected: it ${fault.message}.`;
  }
  return detail;
}
