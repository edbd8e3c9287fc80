import { Type, type Static } from "typebox";
import { AccountId } from "./account.ts";
import { approvalReasons, type ApprovalReason } from "./approval-settings.ts";
import { BulkClose } from "./bulk-close.ts";
import { CaseChange, closeFaults, reasonCharactersMax } from "./case.ts";
import { withoutId, type Erased } from "./erasure.ts";
import type { DomainEvent } from "./event.ts";
import type { FieldError } from "./failure.ts";
import { Time, Uuid } from "./field.ts";
import { CaseSubject } from "./subject.ts";

// Requests that a second person approves or rejects.

export const approvalDays = 7;
// Requests of one tenant, and of one person, that wait at the same time.
export const waitingMax = 100;
export const ownWaitingMax = 20;

export const approvalStatuses = ["PENDING", "APPROVED", "REJECTED", "WITHDRAWN", "STALE", "EXPIRED"] as const;
const ApprovalStatus = Type.Enum([...approvalStatuses], {
  description:
    "`STALE`: a case has changed since, so the request can no longer be approved. `EXPIRED`: nobody approved or rejected it in time.",
});
export type ApprovalStatus = Static<typeof ApprovalStatus>;

const Because = Type.Array(Type.Enum([...approvalReasons]), {
  description:
    "Why a second person is needed: `bulk` (many cases), `blocking` (the account is blocked), `amount` (the payments in a case). Empty if no approval is needed.",
});

const { status: _status, case_version: _version, ...closing } = CaseChange.properties;
const Closing = Type.Object(closing, { additionalProperties: false });
export type Closing = Static<typeof Closing>;

const Note = Type.String({ minLength: 1, maxLength: reasonCharactersMax });

export const NewApproval = Type.Object(
  {
    cases: Type.Optional({
      ...BulkClose.properties.cases,
      description: "The cases to close, with the versions that the caller saw.",
    }),
    website_account_id: Type.Optional({ ...AccountId, description: "Instead of `cases`: the account whose flags to set." }),
    ...closing,
    note: Type.Optional({ ...Note, description: "A message to the approver." }),
  },
  {
    additionalProperties: false,
    $id: "NewApproval",
    description:
      "What a close of the cases would contain. `occurrence_ids`, `members`, `snooze`, `account` and `list_entries` are only allowed with a single case. With `website_account_id`, only `account` is.",
  },
);
export type NewApproval = Static<typeof NewApproval>;

const ApprovalCase = Type.Object(
  {
    case_id: Type.String(),
    case_version: Type.Integer({ description: "The version that the requester saw." }),
    current_version: Type.Integer({ description: "The version now." }),
    status: Type.Enum(["OPEN", "CLOSED"], { description: "The status now." }),
    website_account_id: Type.String(),
    subject: Type.Optional(CaseSubject),
    overall_risk_score: Type.Integer(),
    primary_fraud_label: Type.String(),
  },
  { additionalProperties: false },
);
export type ApprovalCase = Static<typeof ApprovalCase>;

const listed = {
  approval_id: Uuid,
  status: ApprovalStatus,
  because: Because,
  case_count: Type.Integer({ minimum: 0, description: "How many cases the request would close, without members of an attack." }),
  case_id: Type.Optional(Type.String({ description: "The first of the cases." })),
  website_account_id: Type.Optional(
    Type.String({ description: "The account whose flags the request would set without closing a case." }),
  ),
  closing: {
    ...Closing,
    description:
      "What the close would contain, as it was requested. With an own disposition, `disposition` is the one that it counted as then.",
  },
  note: Type.Optional(Type.String({ description: "The requester's message." })),
  requested_at: Time,
  requested_by: Type.String(),
  expires_at: Time,
  decided_at: Type.Optional(Time),
  decided_by: Type.Optional(Type.String({ description: "Who approved, rejected or withdrew the request." })),
  decision_note: Type.Optional(Type.String()),
};

export const ApprovalListItem = Type.Object(listed, { additionalProperties: false, $id: "ApprovalListItem" });
export type ApprovalListItem = Static<typeof ApprovalListItem>;

export const Approval = Type.Object(
  { ...listed, cases: Type.Array(ApprovalCase) },
  { additionalProperties: false, $id: "Approval" },
);
export type Approval = Static<typeof Approval>;

export const ApprovalCheck = Type.Object(
  {
    needs_approval: Type.Boolean(),
    because: Because,
    approvers: Type.Array(Type.String(), {
      description: "Up to 20 people who could approve the request. Empty without the scope `read:case`.",
    }),
  },
  { additionalProperties: false, $id: "ApprovalCheck" },
);
export type ApprovalCheck = Static<typeof ApprovalCheck>;

export const ApprovalDecision = Type.Object(
  {
    status: Type.Enum(["APPROVED", "REJECTED", "WITHDRAWN"]),
    note: Type.Optional({ ...Note, description: "A reply to the requester." }),
  },
  { additionalProperties: false, $id: "ApprovalDecision" },
);
export type ApprovalDecision = Static<typeof ApprovalDecision>;

const singleOnly = ["occurrence_ids", "members", "snooze", "account", "list_entries"] as const;
const closeOnly = ["reason", "disposition", "own_disposition", "occurrence_ids", "members", "snooze", "list_entries"] as const;

// Faults that the schema cannot express: members that depend on each other, and repeated cases.
export function innerFaults({ cases, website_account_id, account }: NewApproval): FieldError[] {
  if (cases === undefined && website_account_id === undefined)
    return [{ field: "cases", message: "is required, unless there is website_account_id" }];
  if (cases === undefined && account === undefined) return [{ field: "account", message: "is required with website_account_id" }];
  const ids = (cases ?? []).map(({ case_id }) => case_id);
  return ids.flatMap((id, index) =>
    ids.indexOf(id) < index ? [{ field: `cases[${index}].case_id`, message: "appears more than once" }] : [],
  );
}

// The body may not match its schema.
export function newApprovalFaults(body: NewApproval): FieldError[] {
  const { cases, website_account_id: account } = body;
  if (Array.isArray(cases) && typeof account === "string")
    return [{ field: "cases", message: "is not allowed with website_account_id" }];
  if (cases === undefined && account !== undefined) {
    const wrong = closeOnly.filter((field) => body[field] !== undefined);
    return wrong.map((field) => ({ field, message: "is only allowed with cases" }));
  }
  if (!Array.isArray(cases)) return [];
  const wrong = cases.length === 1 ? [] : singleOnly.filter((field) => body[field] !== undefined);
  const alone = wrong.map((field) => ({ field, message: "is only allowed with a single case" }));
  return [...alone, ...closeFaults({ ...body, status: "CLOSED", case_version: 1 })];
}

export function closingOf({ cases: _cases, website_account_id: _account, note: _note, ...rest }: NewApproval): Closing {
  return rest;
}

// The scopes that the close needs besides update:case. Entries of lists may need more.
export function scopesOfClosing({ account, list_entries: entries }: Closing): string[] {
  return [...(account ? ["update:enduseraccount"] : []), ...(entries ? ["update:lists"] : [])];
}

// The close without the id of an account that is erased.
export function closingWithoutId(closing: Closing, erased: Erased): Closing {
  const { reason, list_entries: entries } = closing;
  const clean = (text: string) => (text === erased.id ? erased.pseudonym : withoutId(text, erased));
  return {
    ...closing,
    ...(reason !== undefined && { reason: withoutId(reason, erased) }),
    ...(entries && {
      list_entries: entries.map((entry) => ({
        ...entry,
        value: clean(entry.value),
        ...(entry.reason !== undefined && { reason: withoutId(entry.reason, erased) }),
      })),
    }),
  };
}

type Told = { approval_id: string; case_count: number; case_id?: string | undefined; because: ApprovalReason[] };

// The texts are in the request alone, so an erasure finds them in one place.
export function approvalEvent(
  { approval_id, case_count: cases, case_id, because }: Told,
  deed: { by: string; at: string; status?: ApprovalStatus },
): DomainEvent {
  const { by: actor, at: occurred_at, status } = deed;
  const type = status === undefined ? "approval.requested" : "approval.decided";
  const data = {
    ...(status !== undefined && { status }),
    because,
    cases,
    ...(cases === 1 && case_id !== undefined && { case_id }),
  };
  return { type, occurred_at, actor, resource: { type: "approval", id: approval_id }, data };
}
