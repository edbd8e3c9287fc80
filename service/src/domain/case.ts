import { Type, type Static } from "typebox";
import type { DomainEvent } from "./event.ts";
import { AccountFlags } from "./account.ts";
import { CaseDetails, joinedDetails, newDetails } from "./case-details.ts";
import { dispositions } from "./disposition.ts";
import { addOccurrence, believed, compareEvidence, newOccurrence, occurrencesShownMax } from "./evidence.ts";
import { Failure, versionConflict, type FieldError } from "./failure.ts";
import { Time, Uuid } from "./field.ts";
import { notBefore } from "./text.ts";
import { Occurrence, Score, type Finding, type FindingIds } from "./finding.ts";
import { CaseListEntry, caseEntriesMax } from "./list.ts";
import { addMembers, type MemberChange } from "./member.ts";
import { SnoozeRequest } from "./snooze.ts";
import type { CaseSubject } from "./subject.ts";

// Limited for the same reason as the evidence.
export const statesShownMax = 500;

export const CaseStatus = Type.Enum(["OPEN", "CLOSED"]);
export const Disposition = Type.Enum([...dispositions]);
// A tenant's own disposition. `disposition` is always the one that it counts as.
export const OwnDispositionName = Type.String({ minLength: 1, maxLength: 60 });
export const Version = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });
export const reasonCharactersMax = 1000;
export const Reason = Type.String({ minLength: 1, maxLength: reasonCharactersMax });

const CaseState = Type.Object(
  {
    state_id: Uuid,
    case_status: CaseStatus,
    session_status: Type.Enum(["ACTIVE", "FINISHED"]),
    score: Score,
    changed_at: Time,
    changed_by: Type.String(),
    approved_by: Type.Optional(
      Type.String({
        description: "The approver, if `changed_by` requested the change and another person approved it.",
      }),
    ),
    reason: Type.String(),
    disposition: Type.Optional(Disposition),
    own_disposition: Type.Optional({ ...OwnDispositionName, description: "The tenant's own disposition, if one was given." }),
    occurrence_ids: Type.Optional(
      Type.Array(Type.String(), { description: "The occurrences that the disposition is about. If absent, it is about all." }),
    ),
  },
  { additionalProperties: false, $id: "CaseState" },
);
type CaseState = Static<typeof CaseState>;

export const Case = Type.Object(
  {
    case_id: Type.String({ description: "Opaque to clients." }),
    tenant_id: Uuid,
    website_account_id: Type.String({ description: "`UNKNOWN` if the case has no account." }),
    session_id: Type.String({ description: "The session that the case was opened from; empty if there was none." }),
    end_user_is_blocked: Type.Boolean({ description: "The account's current flag." }),
    status: CaseStatus,
    case_version: Type.Integer({ minimum: 1 }),
    created_at: Time,
    updated_at: Type.Union([Time, Type.Null()]),
    due_at: Type.Optional(
      Type.String({ ...Time, description: "By when the case should be decided, if the tenant has due times." }),
    ),
    current_state: CaseState,
    state_history: Type.Array(CaseState, { description: `The earlier states, oldest first; the latest ${statesShownMax}.` }),
    details: CaseDetails,
    fraud_occurrences: Type.Record(Type.String(), Occurrence, {
      description: `By occurrence_id; at most the ${occurrencesShownMax} most important.`,
    }),
  },
  { additionalProperties: false, $id: "Case" },
);
export type Case = Static<typeof Case>;

export const CaseChange = Type.Object(
  {
    status: CaseStatus,
    case_version: Version,
    reason: Type.Optional(Reason),
    disposition: Type.Optional(Disposition),
    own_disposition: Type.Optional({
      ...OwnDispositionName,
      description:
        "The name of one of the tenant's own dispositions (`GET /dispositions`). `disposition` is then the one that it counts as, and can be left out.",
    }),
    occurrence_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: 100,
        description:
          "The occurrences of the case that the disposition is about. Only the activities behind them are labelled. If absent, it is about all.",
      }),
    ),
    members: Type.Optional(
      Type.Enum(["same"], {
        description:
          "With `same`, the members' open cases that this attack opened are closed too, with the same disposition and reason. They are closed in the background, after the response. Cases that were opened for another reason, or that have got new evidence since, stay open. Reopening the attack's case stops this.",
      }),
    ),
    snooze: Type.Optional(SnoozeRequest),
    account: Type.Optional(AccountFlags),
    list_entries: Type.Optional(
      Type.Array(CaseListEntry, {
        minItems: 1,
        maxItems: caseEntriesMax,
        description:
          "Entries that are added to lists in the same transaction as the close. They name this case. The caller also needs the scope update:lists, and manage:lists for an allow list or a list that a row of the policy allows.",
      }),
    ),
  },
  { additionalProperties: false, $id: "CaseChange" },
);
export type CaseChange = Static<typeof CaseChange>;

export function closeFaults(change: CaseChange): FieldError[] {
  const wrong = (["disposition", "own_disposition", "occurrence_ids", "members", "account", "list_entries"] as const).filter(
    (field) => change[field] !== undefined && change.status !== "CLOSED",
  );
  const faults = wrong.map((field) => ({ field, message: "is only allowed with the status CLOSED" }));
  const isFalse = change.status === "CLOSED" && change.disposition === "FALSE_POSITIVE";
  if (change.snooze === undefined || isFalse) return faults;
  return [...faults, { field: "snooze", message: "is only allowed with the disposition FALSE_POSITIVE" }];
}

// The stored document: the case without end_user_is_blocked, which belongs to the account.
export type CaseDocument = Omit<Case, "end_user_is_blocked">;

export type Changed = { document: CaseDocument; events: DomainEvent[] };

// The reason that is stored if a change has none.
export const defaultReasons = { CLOSED: "The case was closed.", OPEN: "The case was reopened." } as const;

type Actor = { name: string; now: string; state_id: string; approvedBy?: string };

export function changeStatus(found: CaseDocument, change: CaseChange, actor: Actor): Changed {
  if (found.case_version !== change.case_version) throw versionConflict(`Case ${found.case_id}`, found.case_version);
  refuseForeign(found, change.occurrence_ids);
  if (found.status === change.status) return { document: found, events: [] };
  const isClose = change.status === "CLOSED";
  const state: CaseState = {
    state_id: actor.state_id,
    case_status: change.status,
    session_status: found.current_state.session_status,
    score: found.details.overall_risk_score,
    changed_at: timeOfChange(found, actor.now),
    changed_by: actor.name,
    ...(actor.approvedBy !== undefined && { approved_by: actor.approvedBy }),
    reason: change.reason ?? defaultReasons[change.status],
    ...(change.disposition && { disposition: change.disposition }),
    ...(change.own_disposition !== undefined && { own_disposition: change.own_disposition }),
    ...(change.occurrence_ids && { occurrence_ids: change.occurrence_ids }),
  };
  const document = { ...withState(found, state), status: change.status };
  const closed = isClose ? state : found.current_state;
  const data = {
    ...(!isClose && { closed_at: closed.changed_at }),
    ...(closed.disposition && { disposition: closed.disposition }),
    ...(closed.own_disposition !== undefined && { own_disposition: closed.own_disposition }),
    ...(change.snooze && { snooze: change.snooze }),
    ...(actor.approvedBy !== undefined && { approved_by: actor.approvedBy }),
  };
  return { document, events: [caseEvent(document, isClose ? "case.closed" : "case.reopened", state, data)] };
}

function refuseForeign({ fraud_occurrences: known }: CaseDocument, ids: string[] = []): void {
  const errors = ids.flatMap((id, index): FieldError[] =>
    Object.hasOwn(known, id) ? [] : [{ field: `occurrence_ids[${index}]`, message: "is not an occurrence of this case" }],
  );
  if (errors.length > 0)
    throw new Failure("validation-error", "The body names occurrences that the case does not have.", { errors });
}

export type Subject = {
  tenant_id: string;
  website_account_id: string;
  // What a case without an account is about.
  about?: CaseSubject;
  // The case about the attack that this account's case belongs to.
  campaign_case_id?: string;
};

export function openCase(subject: Subject, found: Finding, ids: FindingIds, now: string): Changed {
  const finding = believed(found);
  const state: CaseState = {
    state_id: ids.state_id,
    case_status: "OPEN",
    session_status: finding.session_status,
    score: finding.score,
    changed_at: now,
    changed_by: "system",
    reason: finding.explanation.fraud_reason,
  };
  const document: CaseDocument = {
    case_id: ids.case_id,
    tenant_id: subject.tenant_id,
    website_account_id: subject.website_account_id,
    session_id: finding.session_id ?? "",
    status: "OPEN",
    case_version: 1,
    created_at: now,
    updated_at: null,
    current_state: state,
    state_history: [],
    details: {
      ...newDetails(finding),
      ...(subject.about && { subject: subject.about }),
      ...(subject.campaign_case_id !== undefined && { campaign_case_id: subject.campaign_case_id }),
    },
    fraud_occurrences: { [ids.occurrence_id]: newOccurrence(finding, ids, now) },
  };
  return { document, events: [caseEvent(document, "case.opened", state)] };
}

// Lists accounts in a case about a source. Like a repeat, this does not change the version.
export function listMembers(found: CaseDocument, changes: MemberChange[]): CaseDocument {
  const members = addMembers(found.details.members, changes);
  return members === found.details.members || !members ? found : { ...found, details: { ...found.details, members } };
}

// New evidence adds an occurrence and a state, and raises the version.
export function joinCase(open: CaseDocument, found: Finding, ids: FindingIds, now: string): Changed {
  const finding = believed(found);
  const added = newOccurrence(finding, ids, now);
  const isLeading = Object.values(open.fraud_occurrences).every((each) => compareEvidence(added, each) < 0);
  const details = joinedDetails(open.details, finding, isLeading);
  const state: CaseState = {
    state_id: ids.state_id,
    case_status: "OPEN",
    session_status: finding.session_status,
    score: details.overall_risk_score,
    changed_at: timeOfChange(open, now),
    changed_by: "system",
    reason: finding.explanation.fraud_reason,
  };
  const document = {
    ...withState(open, state),
    details,
    fraud_occurrences: addOccurrence(open.fraud_occurrences, added),
  };
  return { document, events: [caseEvent(document, "case.evidence_added", state, weightOf(open.details, details))] };
}

// The score and the primary label, each only if evidence changed it. So readers of the log need not know the case before.
function weightOf(before: CaseDetails, after: CaseDetails): Record<string, unknown> {
  const { overall_risk_score, primary_fraud_label } = after;
  return {
    ...(overall_risk_score !== before.overall_risk_score && { overall_risk_score }),
    ...(primary_fraud_label !== before.primary_fraud_label && { primary_fraud_label }),
  };
}

export function timeOfChange({ created_at, updated_at }: CaseDocument, now: string): string {
  return notBefore(updated_at ?? created_at, now);
}

function withState(found: CaseDocument, state: CaseState): CaseDocument {
  return {
    ...found,
    case_version: found.case_version + 1,
    updated_at: state.changed_at,
    current_state: state,
    state_history: [...found.state_history, found.current_state].slice(-statesShownMax),
  };
}

function caseEvent(
  document: CaseDocument,
  type: DomainEvent["type"],
  state: CaseState,
  data: Record<string, unknown> = {},
): DomainEvent {
  const resource = { type: "case" as const, id: document.case_id, version: document.case_version };
  const told = Object.keys(data).length > 0 && { data };
  return { type, occurred_at: state.changed_at, actor: state.changed_by, resource, ...told };
}
