import { Type, type TSchema } from "typebox";
import { unknownAccount } from "../domain/account.ts";
import { dispositions } from "../domain/case.ts";
import { newEvidenceMeaning } from "../domain/case-digest.ts";
import { Time, isFinerThanMs, parseTime } from "../domain/field.ts";
import { Score, labels } from "../domain/finding.ts";
import { uuidV7Floor } from "../domain/uuid.ts";
import { allFacets, facetOf, type Facets } from "./facets.ts";

export const caseSorts = ["-created_at", "created_at", "-overall_risk_score", "-updated_at"] as const;
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
  closed_by?: string;
  claimed_by?: string;
  is_unclaimed?: true;
  created_after_ms?: number;
  created_before_ms?: number;
  updated_since?: string;
  updated_before?: string;
};

// The last row of the previous page.
export type CasePosition = { case_id: string; touched_at: string; score: number };
export type CasePage = { filter: CaseFilter; sort: CaseSort; after: CasePosition | null; limit: number };

type Bind = (value: unknown) => string;
type Text = { id: string; bind: Bind };

type Filter<V> = {
  // The schema of the query parameter. The parameter has the filter's name unless `parameter` is given.
  schema: TSchema;
  parameter?: string;
  // Converts the parameter's value to the filter's, if they differ. Undefined means that another filter handles this value.
  read?: (given: string) => V | undefined;
  // How matching cases are found. `facet`: as slices of an index, one for each facet number that the filter admits. `account`:
  // through the account's index and then row by row, because one account has few cases. `claim`: likewise, through the claims of
  // one person. `closing`: through an index of its own, in the order of changes. `creation`, `change`: as a bound of one of the
  // two orders. `row`: by checking each row of a slice.
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
    read: (given) => (given === unclaimed ? undefined : given),
    by: "claim",
    condition: (holder, { bind }) =>
      `case_id = any(array(select case_id from case_leases where tenant_id = $1 and claimed_by = ${bind(holder)} and expires_at > now()))`,
  },
  is_unclaimed: {
    parameter: "claimed_by",
    schema: ClaimedBy,
    read: (given) => (given === unclaimed ? true : undefined),
    by: "row",
    // An array and not a join, so that the planner keeps walking the index in order: few cases are claimed at a time.
    condition: () => "case_id <> all(array(select case_id from case_leases where tenant_id = $1 and expires_at > now()))",
  },
  created_after_ms: {
    parameter: "created_after",
    schema: Time,
    read: (given) => parseTime(given) ?? 0,
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
    read: (given) => (isFinerThanMs(given) ? new Date(roundUp(given)).toISOString() : given),
    by: "change",
    condition: (time, { bind }) => `touched_at < ${bind(time)}::timestamptz`,
    implied: (time, { id, bind }) => `${id} < ${bind(uuidV7Floor(parseTime(time) ?? 0))}::uuid`,
    isUpper: true,
  },
};

// Times are stored in milliseconds. An exclusive bound with a finer fraction is rounded up; cut off, it would exclude its own
// millisecond.
function roundUp(time: string): number {
  return (parseTime(time) ?? 0) + (isFinerThanMs(time) ? 1 : 0);
}

const entries = Object.entries(filters) as [keyof CaseFilter, Filter<unknown>][];

export const filterParameters = Object.fromEntries(
  entries.map(([name, { parameter = name, schema }]) => [parameter, Type.Optional(schema)]),
);

// The parameters were validated against the schemas above, so each value has the type that `read` and the filter expect.
export function toFilter(given: Record<string, unknown>): CaseFilter {
  const values = entries.flatMap(([name, { parameter = name, read }]) => {
    const value = given[parameter];
    const wanted = value !== undefined && read ? read(value as string) : value;
    return wanted === undefined ? [] : [[name, wanted]];
  });
  return Object.fromEntries(values) as CaseFilter;
}

type Given = { filter: Filter<unknown>; value: unknown };

function givenIn(filter: CaseFilter): Given[] {
  const given: Given[] = [];
  for (const [name, each] of entries) if (filter[name] !== undefined) given.push({ filter: each, value: filter[name] });
  return given;
}

function facetsOf(given: Given[]): Facets[] {
  const choosing = given.filter(({ filter }) => filter.admits !== undefined);
  if (choosing.length === 0) return allFacets;
  return allFacets.filter((facets) => choosing.every(({ filter, value }) => filter.admits?.(facets, value)));
}

// Highest first. Empty if no case can match.
export function scoresOf(filter: CaseFilter): number[] {
  return [...new Set(facetsOf(givenIn(filter)).map(({ score }) => score))];
}

const orderOf = (sort: CaseSort) => (sort === "-updated_at" ? "change" : "creation");
const isBound = ({ by }: Filter<unknown>) => by === "creation" || by === "change";

type CasePlan = { given: Given[]; facets: Facets[]; isWhole: boolean; isCrossing: boolean };

export function planOf({ filter, sort }: CasePage): CasePlan {
  const given = givenIn(filter);
  const facets = facetsOf(given);
  const order = orderOf(sort);
  const isNarrowed = given.some(({ filter: { by } }) => ["account", "claim", "closing", "row"].includes(by));
  return {
    given,
    facets,
    // The unfiltered list walks the primary key, at most within bounds.
    isWhole: !isNarrowed && facets.length === allFacets.length && order === "creation",
    // If the list is ordered by one time and bounded by the other, no index serves both. Such a statement is planned for its
    // values each time: along the order if the bound admits many rows, or along the bound with a sort if it admits few.
    isCrossing: given.some((each) => isBound(each.filter) && each.filter.by !== order),
  };
}

export function boundsOf({ given }: CasePlan, { sort, after }: CasePage, text: Text): string[] {
  const order = orderOf(sort);
  return given.flatMap(({ filter, value }) => {
    const { by, condition, implied } = filter;
    if (by === "row") return [condition(value, text)];
    // After a position, the upper bound adds nothing, and PostgreSQL would start at the bound and walk the index from there to
    // the position.
    const isPassed = by === "change" && order === "change" && filter.isUpper === true && after !== null;
    if (!isBound(filter) || isPassed) return [];
    // A case never changes before it is created, so a bound on one time implies a bound on the other. The list then starts at
    // that bound instead of reading past all rows outside it, which can be millions.
    return [condition(value, text), ...(implied && by !== order ? [implied(value, text)] : [])];
  });
}

// The conditions of each slice. Facet numbers come from our own lists, never from the caller's text.
export function slicesOf({ given, facets, isWhole }: CasePlan, { filter }: CasePage, text: Text): string[][] {
  if (isWhole) return [[]];
  const { website_account_id: account, claimed_by: holder } = filter;
  const conditionsBy = (kinds: Filter<unknown>["by"][]) =>
    given.filter((each) => kinds.includes(each.filter.by)).map((each) => each.filter.condition(each.value, text));
  const isClosing = given.some((each) => each.filter.by === "closing");
  const isSmall = isClosing || holder !== undefined || (account !== undefined && account !== unknownAccount);
  if (isSmall) return [conditionsBy(["claim", "account", "closing", "facet"])];
  const own = conditionsBy(["account"]);
  return facets.map((each) => [...own, `facet = ${facetOf(each)}`]);
}
