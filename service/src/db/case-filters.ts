import { Type, type TSchema } from "typebox";
import { unknownAccount } from "../domain/account.ts";
import { dispositions } from "../domain/disposition.ts";
import { newEvidenceMeaning } from "../domain/case-digest.ts";
import { Time } from "../domain/field.ts";
import { isFinerThanMs, parseTime } from "../domain/text.ts";
import { Score, labels } from "../domain/finding.ts";
import { uuidV7Floor } from "../domain/uuid.ts";
import type { Facets } from "./facets.ts";

// Orders of all cases.
export const wholeSorts = ["-created_at", "created_at", "-overall_risk_score", "-updated_at"] as const;
// `due_at` lists only open cases that have a due time.
export const caseSorts = [...wholeSorts, "due_at"] as const;
export type CaseSort = (typeof caseSorts)[number];

export type CaseFilter = {
  status?: string;
  website_account_id?: string;
  user_is_blocked?: boolean;
  label?: string;
  min_score?: number;
  max_score?: number;
  new_evidence?: boolean;
  disposition?: string;
  own_disposition?: string;
  closed_by?: string;
  claimed_by?: string;
  is_unclaimed?: true;
  handed_to?: string[];
  overdue?: true;
  is_on_time?: true;
  created_after_ms?: number;
  created_before_ms?: number;
  updated_since?: string;
  updated_before?: string;
  updated_within_hours?: number;
};

// The last row of the previous page.
export type CasePosition = { case_id: string; touched_at: string; score: number; due_at?: string };
export type CasePage = { filter: CaseFilter; sort: CaseSort; after: CasePosition | null; limit: number };

export type Bind = (value: unknown) => string;
export type Text = { id: string; bind: Bind };

export type Filter<V> = {
  // The schema of the query parameter. The parameter has the filter's name unless `parameter` is given.
  schema: TSchema;
  parameter?: string;
  // Converts the parameter's value to the filter's, if they differ. Undefined means that another filter handles this value.
  read?: (given: never) => V | undefined;
  // How matching cases are found. `facet`: as slices of an index, one for each facet number that the filter admits. `account`:
  // through the account's index and then row by row, because one account has few cases. `claim`: likewise, through the claims or
  // handovers of one person. `closing`: through an index of its own, in the order of changes. `creation`, `change`: as a bound of
  // one of the two orders. `row`: by checking each row of a slice.
  by: "facet" | "account" | "claim" | "closing" | "creation" | "change" | "row";
  admits?: (facets: Facets, value: V) => boolean;
  condition: (value: V, text: Text) => string;
  // A bound of one order that also implies a bound of the other.
  implied?: (value: V, text: Text) => string;
  isUpper?: true;
};

const unclaimed = "none";
const ClaimedBy = Type.String({
  maxLength: 512,
  description: "Who has claimed the case: `me`, `none`, or a person or client as in `claimed_by`.",
});

const Overdue = Type.Boolean({ description: "Whether the case is open and its due time has passed." });

// Every filter of the case list. The operation's parameters, the statements and the choice of index are derived from this table.
const filters: { [name in keyof CaseFilter]-?: Filter<NonNullable<CaseFilter[name]>> } = {
  status: {
    schema: Type.Enum(["OPEN", "CLOSED"]),
    by: "facet",
    admits: (facets, status) => facets.status === status,
    condition: (status, { bind }) => `status = ${bind(status)}`,
  },
  website_account_id: {
    schema: Type.String({ description: "Only cases of that account; `UNKNOWN` for those without one." }),
    by: "account",
    // A case without an account has no block flag.
    admits: ({ isBlocked }, account) => account !== unknownAccount || !isBlocked,
    // A literal instead of a parameter, so that the partial indexes can be used.
    condition: (account, { bind }) =>
      account === unknownAccount
        ? "website_account_id = 'UNKNOWN'"
        : `website_account_id = ${bind(account)} and website_account_id <> 'UNKNOWN'`,
  },
  user_is_blocked: {
    schema: Type.Boolean({ description: "Whether the linked account is blocked now." }),
    by: "facet",
    admits: ({ isBlocked }, wanted) => isBlocked === wanted,
    condition: (wanted, { bind }) => `end_user_is_blocked = ${bind(wanted)}`,
  },
  label: {
    schema: Type.Enum([...labels]),
    by: "facet",
    admits: (facets, label) => facets.label === label,
    condition: (label, { bind }) => `primary_fraud_label = ${bind(label)}`,
  },
  min_score: {
    schema: Score,
    by: "facet",
    admits: ({ score }, least) => score >= least,
    condition: (least, { bind }) => `overall_risk_score >= ${bind(least)}::smallint`,
  },
  max_score: {
    schema: Score,
    by: "facet",
    admits: ({ score }, most) => score <= most,
    condition: (most, { bind }) => `overall_risk_score <= ${bind(most)}::smallint`,
  },
  new_evidence: {
    schema: Type.Boolean({ description: newEvidenceMeaning }),
    by: "row",
    // A closed case has no new evidence.
    admits: ({ status }, wanted) => !wanted || status === "OPEN",
    // A literal instead of a parameter, so that the index of cases with new evidence can be used.
    condition: (wanted) => (wanted ? "has_new_evidence" : "not has_new_evidence"),
  },
  disposition: {
    schema: Type.Enum([...dispositions], { description: "Only closed cases with this outcome." }),
    by: "closing",
    admits: ({ status }) => status === "CLOSED",
    condition: (disposition, { bind }) => `disposition = ${bind(disposition)}`,
  },
  own_disposition: {
    schema: Type.String({ maxLength: 60, description: "Only cases closed with this one of the tenant's own dispositions." }),
    by: "closing",
    admits: ({ status }) => status === "CLOSED",
    condition: (name, { bind }) => `own_disposition = ${bind(name)}`,
  },
  closed_by: {
    schema: Type.String({
      maxLength: 1000,
      description: "Only closed cases that this actor closed, as given in `current_state.changed_by`.",
    }),
    by: "closing",
    admits: ({ status }) => status === "CLOSED",
    condition: (actor, { bind }) => `closer = ${bind(actor)}`,
  },
  claimed_by: {
    schema: ClaimedBy,
    read: (given: string) => (given === unclaimed ? undefined : given),
    by: "claim",
    condition: (holder, { bind }) =>
      `case_id = any(array(select case_id from case_leases where tenant_id = $1 and claimed_by = ${bind(holder)} and expires_at > now()))`,
  },
  is_unclaimed: {
    parameter: "claimed_by",
    schema: ClaimedBy,
    read: (given: string) => (given === unclaimed ? true : undefined),
    by: "row",
    // An array and not a join, so that the planner keeps walking the index in order: few cases are claimed at a time.
    condition: () => "case_id <> all(array(select case_id from case_leases where tenant_id = $1 and expires_at > now()))",
  },
  handed_to: {
    schema: Type.String({
      maxLength: 64,
      description:
        "Only open cases that were handed over to this recipient: `me` (the caller, or the caller's role), a person's `user_id`, or a role.",
    }),
    read: (given: string) => [given],
    by: "claim",
    admits: ({ status }) => status === "OPEN",
    condition: (recipients, { bind }) =>
      `case_id = any(array(select case_id from case_handovers where tenant_id = $1 and handed_to = any(${bind(recipients)}::text[]) and not is_ended))`,
  },
  overdue: {
    schema: Overdue,
    read: (given: boolean) => (given ? true : undefined),
    by: "closing",
    admits: ({ status }) => status === "OPEN",
    condition: () => "status = 'OPEN' and due_at <= now()",
  },
  is_on_time: {
    parameter: "overdue",
    schema: Overdue,
    read: (given: boolean) => (given ? undefined : true),
    by: "row",
    condition: () => "(status <> 'OPEN' or due_at is null or due_at > now())",
  },
  created_after_ms: {
    parameter: "created_after",
    schema: Time,
    read: (given: string) => parseTime(given) ?? 0,
    by: "creation",
    condition: (ms, { id, bind }) => `${id} >= ${bind(uuidV7Floor(ms + 1))}::uuid`,
    implied: (ms, { bind }) => `touched_at > ${bind(new Date(ms).toISOString())}::timestamptz`,
  },
  created_before_ms: {
    parameter: "created_before",
    schema: Time,
    read: roundUp,
    by: "creation",
    condition: (ms, { id, bind }) => `${id} < ${bind(uuidV7Floor(ms))}::uuid`,
    isUpper: true,
  },
  updated_since: {
    schema: Type.String({
      ...Time,
      description: "Changed at or after this time; a case that never changed counts by its creation.",
    }),
    by: "change",
    condition: (time, { bind }) => `touched_at >= ${bind(time)}::timestamptz`,
  },
  updated_before: {
    schema: Time,
    read: (given: string) => (isFinerThanMs(given) ? new Date(roundUp(given)).toISOString() : given),
    by: "change",
    condition: (time, { bind }) => `touched_at < ${bind(time)}::timestamptz`,
    implied: (time, { id, bind }) => `${id} < ${bind(uuidV7Floor(parseTime(time) ?? 0))}::uuid`,
    isUpper: true,
  },
  updated_within_hours: {
    schema: Type.Integer({ minimum: 1, maximum: 8784, description: "Changed within this many hours before the request." }),
    by: "change",
    condition: (hours, { bind }) => `touched_at >= now() - make_interval(hours => ${bind(hours)}::int)`,
  },
};

// Times are stored in milliseconds. An exclusive bound with a finer fraction is rounded up; cut off, it would exclude its own
// millisecond.
function roundUp(time: string): number {
  return (parseTime(time) ?? 0) + (isFinerThanMs(time) ? 1 : 0);
}

export const filterEntries = Object.entries(filters) as [keyof CaseFilter, Filter<unknown>][];

export const filterParameters = Object.fromEntries(
  filterEntries.map(([name, { parameter = name, schema }]) => [parameter, Type.Optional(schema)]),
);

// The parameters were validated against the schemas above, so each value has the type that `read` and the filter expect.
function toFilter(given: Record<string, unknown>): CaseFilter {
  const values = filterEntries.flatMap(([name, { parameter = name, read }]) => {
    const value = given[parameter];
    const wanted = value !== undefined && read ? read(value as never) : value;
    return wanted === undefined ? [] : [[name, wanted]];
  });
  return Object.fromEntries(values) as CaseFilter;
}

// Who `me` is. Clients have neither a person's id nor a role.
export type Me = { actor: string; person?: { user_id: string; role: string } };

// `me` means the caller, also in a view that somebody else has saved.
export function filterOf({ actor, person }: Me, given: Record<string, unknown>): CaseFilter {
  const filter = toFilter(given["claimed_by"] === "me" ? { ...given, claimed_by: actor } : given);
  const recipients = person ? [person.user_id, person.role] : [];
  return filter.handed_to?.[0] === "me" ? { ...filter, handed_to: recipients } : filter;
}
