import { Type, type TSchema } from "typebox";
import { unknownAccount } from "../domain/account.ts";
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
  created_after_ms?: number;
  created_before_ms?: number;
  updated_since?: string;
  updated_before?: string;
};

// The last row of the page before.
export type CasePosition = { case_id: string; touched_at: string; score: number };
export type CasePage = { filter: CaseFilter; sort: CaseSort; after: CasePosition | null; limit: number };

type Bind = (value: unknown) => string;
type Text = { id: string; bind: Bind };

type Filter<V> = {
  // Of the parameter, whose name is the filter's unless it is given here.
  schema: TSchema;
  parameter?: string;
  // From the parameter's value to the filter's, where they differ.
  read?: (given: string) => V;
  // How its cases are found. `facet`: as slices of an index, one for each number that it admits. `account`: one account has few
  // cases, so by its own index and then row by row. `creation`, `change`: as a bound of one of the two orders. `row`: none of
  // these; each row of a slice is looked at.
  by: "facet" | "account" | "creation" | "change" | "row";
  admits?: (facets: Facets, value: V) => boolean;
  condition: (value: V, text: Text) => string;
  // A bound of the one order that says something about the other one too.
  implied?: (value: V, text: Text) => string;
  isUpper?: true;
};

// Every filter of the list of cases. The operation's parameters, the statements and the choice of an index follow from it.
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
    // No account, no block flag.
    admits: ({ isBlocked }, account) => account !== unknownAccount || !isBlocked,
    // Text of our own, so that the partial indexes serve it.
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
    // A closed case has none.
    admits: ({ status }, wanted) => !wanted || status === "OPEN",
    // Text of our own, so that the index of those that have some serves it.
    condition: (wanted) => (wanted ? "has_new_evidence" : "not has_new_evidence"),
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

// Times are kept in milliseconds: an exclusive bound that is finer includes its own.
function roundUp(time: string): number {
  return (parseTime(time) ?? 0) + (isFinerThanMs(time) ? 1 : 0);
}

const entries = Object.entries(filters) as [keyof CaseFilter, Filter<unknown>][];

export const filterParameters = Object.fromEntries(
  entries.map(([name, { parameter = name, schema }]) => [parameter, Type.Optional(schema)]),
);

// The parameters are checked against the schemas above, so that each is what `read` takes and what the filter holds.
export function toFilter(given: Record<string, unknown>): CaseFilter {
  const values = entries.flatMap(([name, { parameter = name, read }]) => {
    const value = given[parameter];
    return value === undefined ? [] : [[name, read ? read(value as string) : value]];
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

// Highest first. None where no case can be found.
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
  const isNarrowed = given.some(({ filter: { by } }) => by === "account" || by === "row");
  return {
    given,
    facets,
    // All cases are walked along the primary key, within bounds at the most.
    isWhole: !isNarrowed && facets.length === allFacets.length && order === "creation",
    // Ordered by one time and bounded by the other, no index serves both. Such a statement is planned for its values each
    // time: along the order where the bound lets much through, along the bound and sorted where it lets little through.
    isCrossing: given.some((each) => isBound(each.filter) && each.filter.by !== order),
  };
}

export function boundsOf({ given }: CasePlan, { sort, after }: CasePage, text: Text): string[] {
  const order = orderOf(sort);
  return given.flatMap(({ filter, value }) => {
    const { by, condition, implied } = filter;
    if (by === "row") return [condition(value, text)];
    // Behind a position it says nothing new, and the index would be entered at the bound and walked from there to the position.
    const isPassed = by === "change" && order === "change" && filter.isUpper === true && after !== null;
    if (!isBound(filter) || isPassed) return [];
    // The last change is never before the creation. So a bound across the order is one along it too, and the list begins there
    // instead of at its end: in millions of cases, all that lies between would be read in vain.
    return [condition(value, text), ...(implied && by !== order ? [implied(value, text)] : [])];
  });
}

// The conditions of each slice. A facet's number is from our own lists, never from the caller's text.
export function slicesOf({ given, facets, isWhole }: CasePlan, { filter }: CasePage, text: Text): string[][] {
  if (isWhole) return [[]];
  const { website_account_id: account } = filter;
  const conditionsBy = (kinds: Filter<unknown>["by"][]) =>
    given.filter((each) => kinds.includes(each.filter.by)).map((each) => each.filter.condition(each.value, text));
  if (account !== undefined && account !== unknownAccount) return [conditionsBy(["account", "facet"])];
  const own = conditionsBy(["account"]);
  return facets.map((each) => [...own, `facet = ${facetOf(each)}`]);
}
