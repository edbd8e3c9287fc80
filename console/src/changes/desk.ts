import { ProblemError, type Case, type CaseChange, type CasehoundClient } from "@casehound/client";
import type { Outbox } from "./outbox.ts";

export type Disposition = NonNullable<CaseChange["disposition"]>;
// What a person decided, about the version that this person saw.
export type Verdict = { case_id: string; case_version: number; disposition: Disposition; reason: string };

export type Desk = {
  // Without retries of its own: the outbox does them, and shows them.
  client: Pick<CasehoundClient, "call">;
  outbox: Outbox;
  newKey: () => string;
};

export type Closing =
  | { kind: "closed"; found: Case }
  // By somebody else, before: nothing was changed, and their words stand.
  | { kind: "already-closed"; found: Case }
  // Nothing was changed. What there is now, to be compared with what was seen.
  | { kind: "changed"; found: Case }
  | { kind: "refused"; words: string };

export type Reopening = { kind: "reopened"; found: Case } | { kind: "changed"; found: Case } | { kind: "refused"; words: string };

const contendedMax = 3;

export async function closeCase(desk: Desk, verdict: Verdict, onDelay?: () => void): Promise<Closing> {
  const { case_id, case_version, disposition, reason } = verdict;
  const body: CaseChange = { status: "CLOSED", case_version, disposition, ...(reason !== "" && { reason }) };
  const change = await changeCase(desk, case_id, body, { label: "Closing a case", onDelay });
  if (change.kind !== "done") return change.kind === "changed" ? whoseClosing(change.found) : change;
  // The service answers a close of what is closed already with the case as it is: the version tells.
  const isOurs = change.found.case_version !== case_version;
  return { kind: isOurs ? "closed" : "already-closed", found: change.found };
}

function whoseClosing(found: Case): Closing {
  return { kind: found.status === "CLOSED" ? "already-closed" : "changed", found };
}

type Closed = Pick<Case, "case_id" | "case_version">;

// Only while nothing else has happened to the case.
export async function reopenCase(desk: Desk, closed: Closed, reason?: string): Promise<Reopening> {
  const body: CaseChange = { status: "OPEN", case_version: closed.case_version, ...(reason !== undefined && { reason }) };
  const change = await changeCase(desk, closed.case_id, body, { label: "Reopening a case" });
  return change.kind === "done" ? { kind: "reopened", found: change.found } : change;
}

type Change = { kind: "done"; found: Case } | { kind: "changed"; found: Case } | { kind: "refused"; words: string };
type Told = { label: string; onDelay?: (() => void) | undefined };

// One intended change has one key, whatever happens on its way.
async function changeCase(desk: Desk, caseId: string, body: CaseChange, { label, onDelay }: Told): Promise<Change> {
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
      if (!isContended && error.type !== "item-version-conflict") return { kind: "refused", words: error.detail };
      const found = await read();
      // Held up by somebody who changed nothing in the end: what was seen is what is, so it may be sent again.
      if (!isContended || found.case_version !== body.case_version) return { kind: "changed", found };
      if (++contended > contendedMax) return { kind: "refused", words: error.detail };
    }
  }
}
