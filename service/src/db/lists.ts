import type { Account } from "../domain/account.ts";
import { unknownAccount } from "../domain/account.ts";
import type { CaseListItem } from "../domain/case.ts";
import { parseTime } from "../domain/field.ts";
import { labels } from "../domain/finding.ts";
import { uuidV7Floor } from "../domain/uuid.ts";
import { accountColumns, toAccount, type AccountRow } from "./accounts.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { facetOf } from "./facets.ts";
import { statement } from "./postgres/sql.ts";

// Keyset pages whose cost does not grow with the table, whatever the filter. Filters of few values (status, block flag,
// label, score) are spelled out as one branch per combination; each branch is a slice of an index that is already in
// order, and PostgreSQL merges the slices and stops at the page's end.

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

const caseColumns =
  "case_id, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at, overall_risk_score, primary_fraud_label, recommended_action";
const scores = [5, 4, 3, 2, 1];

type Slice = { conditions: string[] };
type Bind = (value: unknown) => string;

export async function listCases(database: Queryable, tenantId: string, page: CasePage): Promise<CaseListItem[]> {
  if (scoresFrom(page.filter).length === 0) return [];
  if (page.sort !== "-overall_risk_score") return listOrdered(database, tenantId, page, scoresFrom(page.filter));
  // Score by score, so that each step is in order of the id alone and can be bounded by creation times.
  const found: CaseListItem[] = [];
  for (const score of scoresFrom(page.filter)) {
    if (page.after && score > page.after.score) continue;
    const after = page.after?.score === score ? page.after : null;
    found.push(...(await listOrdered(database, tenantId, { ...page, after }, [score])));
    if (found.length >= page.limit) break;
  }
  return found.slice(0, page.limit);
}

// As text, not as a value. Where it does not know the limit, PostgreSQL reckons with a tenth of the table: in a large one it would
// then plan each list anew for its values, which takes longer than to run it. Of few sizes, for each is a statement of its own.
function limitOf({ limit }: { limit: number }): string {
  const size = pageSizes.find((each) => each >= limit);
  if (size === undefined) throw new Error(`a page has at most ${pageSizes.at(-1)} entries`);
  return `limit ${size}`;
}

// One more than is shown tells whether there is a next page.
const pageSizes = [26, 51, 101, 201, 501, 1_001];

async function listOrdered(
  database: Queryable,
  tenantId: string,
  page: CasePage,
  wantedScores: number[],
): Promise<CaseListItem[]> {
  const values: unknown[] = [tenantId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const limit = limitOf(page);
  const isByChange = page.sort === "-updated_at";
  const direction = page.sort === "created_at" ? "asc" : "desc";
  // The whole list walks along the primary key; a filtered one may not, see the table.
  const id = isWhole(page, wantedScores) ? "case_id" : "sorted_id";
  const order = isByChange ? `touched_at ${direction}, ${id} ${direction}` : `${id} ${direction}`;
  const bounds = ["tenant_id = $1", ...rangeConditions(page, id, bind), ...positionCondition(page, id, bind)];
  const branches = caseSlices(page, wantedScores, bind).map(
    (slice) => `(select ${caseColumns}, touched_at, sorted_id
      from cases
      where ${[...bounds, ...slice.conditions].join(" and ")}
      order by ${order}
      ${limit})`,
  );
  const text = `select ${caseColumns} from (${branches.join(" union all ")}) as slices order by ${order} ${limit}`;
  const isPrepared = !isCrossing(page) && isCommon("cases", text);
  const asked = isPrepared ? statement(text, values) : { name: "", text, values };
  return (await database.query<CaseListItem & Row>(asked)).slice(0, page.limit);
}

const preparedMax = 64;
const prepared = { cases: new Set<string>(), accounts: new Set<string>() };

// A prepared list of many branches keeps some 200 kB in every connection, so only the first shapes that are asked for are.
function isCommon(list: keyof typeof prepared, text: string): boolean {
  const known = prepared[list];
  if (known.size < preparedMax) known.add(text);
  return known.has(text);
}

// Ordered by one time and bounded by the other, no index serves both. Such a statement is planned for its values each
// time: along the order where the bound lets much through, along the bound and sorted where it lets little through.
function isCrossing({ filter, sort }: CasePage): boolean {
  if (sort !== "-updated_at") return filter.updated_since !== undefined || filter.updated_before !== undefined;
  return filter.created_after_ms !== undefined || filter.created_before_ms !== undefined;
}

function scoresFrom(filter: CaseFilter): number[] {
  return scores.filter((score) => score >= (filter.min_score ?? 1) && score <= (filter.max_score ?? 5));
}

// A creation time is a bound on the id.
function rangeConditions(page: CasePage, id: string, bind: Bind): string[] {
  const { filter, sort, after } = page;
  const conditions: string[] = [];
  // Behind a position it says nothing new, and the index would be entered at the bound and walked from there to the position.
  const isPassed = sort === "-updated_at" && after !== null;
  if (filter.created_after_ms !== undefined) conditions.push(`${id} >= ${bind(uuidV7Floor(filter.created_after_ms + 1))}::uuid`);
  if (filter.created_before_ms !== undefined) conditions.push(`${id} < ${bind(uuidV7Floor(filter.created_before_ms))}::uuid`);
  if (filter.updated_since !== undefined) conditions.push(`touched_at >= ${bind(filter.updated_since)}::timestamptz`);
  if (filter.updated_before !== undefined && !isPassed)
    conditions.push(`touched_at < ${bind(filter.updated_before)}::timestamptz`);
  // Text of our own, so that the index of those that have some serves it.
  if (filter.new_evidence !== undefined) conditions.push(filter.new_evidence ? "has_new_evidence" : "not has_new_evidence");
  return [...conditions, ...impliedConditions(page, id, bind)];
}

// The last change is never before the creation. So a bound across the order is one along it too, and the list begins there
// instead of at its end: in millions of cases, all that lies between would be read in vain.
function impliedConditions({ filter, sort }: CasePage, id: string, bind: Bind): string[] {
  const { created_after_ms: createdAfterMs, updated_before: updatedBefore } = filter;
  if (sort === "-updated_at") {
    if (createdAfterMs === undefined) return [];
    return [`touched_at > ${bind(new Date(createdAfterMs).toISOString())}::timestamptz`];
  }
  const beforeMs = updatedBefore === undefined ? null : parseTime(updatedBefore);
  return beforeMs === null ? [] : [`${id} < ${bind(uuidV7Floor(beforeMs))}::uuid`];
}

function positionCondition({ sort, after }: CasePage, id: string, bind: Bind): string[] {
  if (after === null) return [];
  if (sort === "-updated_at")
    return [`(touched_at, ${id}) < (${bind(after.touched_at)}::timestamptz, ${bind(after.case_id)}::uuid)`];
  return [`${id} ${sort === "created_at" ? ">" : "<"} ${bind(after.case_id)}::uuid`];
}

function isWhole({ filter, sort }: CasePage, wantedScores: number[]): boolean {
  const facets = [filter.status, filter.website_account_id, filter.user_is_blocked, filter.label, filter.new_evidence];
  return wantedScores.length === scores.length && facets.every((facet) => facet === undefined) && sort !== "-updated_at";
}

function caseSlices(page: CasePage, wantedScores: number[], bind: Bind): Slice[] {
  const { filter } = page;
  const account = filter.website_account_id;
  const isUnknown = account === unknownAccount;
  if (account !== undefined && !isUnknown) return [{ conditions: accountConditions(filter, wantedScores, bind) }];
  if (isWhole(page, wantedScores)) return [{ conditions: [] }];
  // No account, no block flag: the partial indexes leave it out. A closed case has no new evidence.
  const isNone = (isUnknown && filter.user_is_blocked === true) || (filter.new_evidence === true && filter.status === "CLOSED");
  if (isNone) return [{ conditions: ["false"] }];
  const own = isUnknown ? ["website_account_id = 'UNKNOWN'"] : [];
  return facetsOf(filter, wantedScores, isUnknown).map((facet) => ({ conditions: [...own, `facet = ${facet}`] }));
}

// Every combination that the filter lets through. From our own lists, never from the caller's text.
function facetsOf(filter: CaseFilter, wantedScores: number[], isUnknown: boolean): number[] {
  const wantedStatus = filter.new_evidence === true ? "OPEN" : filter.status;
  const wantedFlag = isUnknown ? false : filter.user_is_blocked;
  const statuses = (["OPEN", "CLOSED"] as const).filter((status) => status === (wantedStatus ?? status));
  const flags = [false, true].filter((flag) => flag === (wantedFlag ?? flag));
  const wantedLabels = labels.filter((label) => label === (filter.label ?? label));
  return statuses.flatMap((status) =>
    flags.flatMap((isBlocked) =>
      wantedLabels.flatMap((label) => wantedScores.map((score) => facetOf({ status, isBlocked, label, score }))),
    ),
  );
}

// One account has few cases: its own index, and the rest is looked at row by row.
function accountConditions(filter: CaseFilter, wantedScores: number[], bind: Bind): string[] {
  const conditions = [`website_account_id = ${bind(filter.website_account_id)}`, "website_account_id <> 'UNKNOWN'"];
  if (filter.status !== undefined) conditions.push(`status = ${bind(filter.status)}`);
  if (filter.user_is_blocked !== undefined) conditions.push(`end_user_is_blocked = ${bind(filter.user_is_blocked)}`);
  if (filter.label !== undefined) conditions.push(`primary_fraud_label = ${bind(filter.label)}`);
  if (wantedScores.length < scores.length) conditions.push(`overall_risk_score = any(${bind(wantedScores)}::smallint[])`);
  return conditions;
}

function product(dimensions: string[][]): string[][] {
  return dimensions.reduce<string[][]>((sets, dimension) => sets.flatMap((set) => dimension.map((each) => [...set, each])), [[]]);
}

const flags = ["is_blocked", "is_quarantined", "is_fraudulent"] as const;
export type AccountFilter = { [flag in (typeof flags)[number]]?: boolean } & { crm_account_id?: string };
export type AccountPage = { filter: AccountFilter; after: string | null; limit: number };

export async function listAccounts(database: Queryable, tenantId: string, page: AccountPage): Promise<Account[]> {
  const values: unknown[] = [tenantId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const limit = limitOf(page);
  const bounds = ["tenant_id = $1"];
  if (page.after !== null) bounds.push(`website_account_id > ${bind(page.after)}`);
  const { crm_account_id: crm } = page.filter;
  const wanted = flags.map((flag) => {
    const value = page.filter[flag];
    return [false, true].filter((each) => each === (value ?? each)).map((each) => `${flag} = ${each}`);
  });
  const isOneSlice = crm !== undefined || wanted.every((values) => values.length === 2);
  if (crm !== undefined) {
    const bound = bind(crm);
    bounds.push(`crm_key = hashtextextended(${bound}, 0)`, `crm_account_id = ${bound}`);
  }
  const exact = wanted.filter((values) => values.length === 1).flat();
  const branches = (isOneSlice ? [exact] : product(wanted)).map(
    (conditions) => `(select ${accountColumns}
      from accounts
      where ${[...bounds, ...conditions].join(" and ")}
      order by website_account_id
      ${limit})`,
  );
  const text = `select ${accountColumns} from (${branches.join(" union all ")}) as slices order by website_account_id ${limit}`;
  const asked = isCommon("accounts", text) ? statement(text, values) : { name: "", text, values };
  return (await database.query<AccountRow>(asked)).slice(0, page.limit).map(toAccount);
}
