import type { Account } from "../domain/account.ts";
import { CaseListItem } from "../domain/case.ts";
import { accountColumns, toAccount, type AccountRow } from "./accounts.ts";
import { countConditions, type CaseList } from "./case-count-conditions.ts";
import type { CasePage, CaseSort } from "./case-filters.ts";
import { boundsOf, planOf, scoresOf, slicesOf } from "./case-plans.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { statement, unprepared } from "./postgres/sql.ts";

// Keyset pages whose cost does not grow with the table, for any filter. Filters with few values (status, block flag, label,
// score) become one branch per combination. Each branch is a slice of an index that is already in order, and PostgreSQL merges
// the slices and stops at the end of the page.

const caseColumns = Object.keys(CaseListItem.properties).join(", ");

export async function listCases(database: Queryable, tenantId: string, page: CasePage): Promise<CaseListItem[]> {
  if (page.sort !== "-overall_risk_score") return listOrdered(database, tenantId, page);
  // Score by score, so that each step is ordered by id alone and can be bounded by creation times.
  const found: CaseListItem[] = [];
  for (const score of scoresOf(page.filter)) {
    if (page.after && score > page.after.score) continue;
    const after = page.after?.score === score ? page.after : null;
    const filter = { ...page.filter, min_score: score, max_score: score };
    found.push(...(await listOrdered(database, tenantId, { ...page, filter, after })));
    if (found.length >= page.limit) break;
  }
  return found.slice(0, page.limit);
}

// The limit is part of the text, not a parameter. With an unknown limit, the planner assumes 10 % of the table, and for a large
// table it would plan each list anew for its values, which takes longer than running it. Only a few sizes are used, because each
// one is a separate statement.
function limitOf({ limit }: { limit: number }): string {
  const size = pageSizes.find((each) => each >= limit);
  if (size === undefined) throw new Error(`a page has at most ${pageSizes.at(-1)} entries`);
  return `limit ${size}`;
}

// One more than the page shows, to know whether there is a next page.
const pageSizes = [26, 51, 101, 201, 501, 1_001];

// Lists in other orders are sorted by id alone, which contains the time of creation.
const timeColumns = new Map<CaseSort, string>([
  ["-updated_at", "touched_at"],
  ["due_at", "due_at"],
]);

async function listOrdered(database: Queryable, tenantId: string, page: CasePage): Promise<CaseListItem[]> {
  const plan = planOf(page);
  if (plan.facets.length === 0) return [];
  const values: unknown[] = [tenantId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const limit = limitOf(page);
  const direction = page.sort.startsWith("-") ? "desc" : "asc";
  // The unfiltered list walks the primary key. A filtered list orders by sorted_id, a copy of the id, so that the planner cannot
  // walk the whole tenant along the primary key in search of matches.
  const time = timeColumns.get(page.sort);
  const id = plan.isWhole && time === undefined ? "case_id" : "sorted_id";
  const order = [...(time === undefined ? [] : [time]), id].map((column) => `${column} ${direction}`).join(", ");
  const bounds = ["tenant_id = $1", ...boundsOf(plan, page, { id, bind }), ...positionCondition(page, id, bind)];
  const branches = slicesOf(plan, page, { id, bind }).map(
    (conditions) => `(select ${caseColumns}, touched_at, sorted_id
      from cases
      where ${[...bounds, ...conditions].join(" and ")}
      order by ${order}
      ${limit})`,
  );
  const text = `select ${caseColumns} from (${branches.join(" union all ")}) as slices order by ${order} ${limit}`;
  const isPrepared = !plan.isCrossing && isCommon("cases", text);
  const asked = isPrepared ? statement(text, values) : { name: "", text, values };
  return (await database.query<CaseRow>(asked)).slice(0, page.limit).map(toItem);
}

type CaseRow = Row & Omit<CaseListItem, "due_at"> & { due_at: string | null };

function toItem(row: CaseRow): CaseListItem {
  const { due_at, ...item } = row;
  return due_at === null ? item : { ...item, due_at };
}

// For a transaction that only counts. The planner would read the table from its start if it thinks that most cases match, but the
// table holds the cases of other tenants too.
export async function preferIndexes(tx: Queryable): Promise<void> {
  await tx.query(unprepared("set local enable_seqscan = off"));
}

// Counts the cases that match, up to a maximum. Filters that no index serves may have to read many rows for it, so the caller limits
// the time.
export async function countCases(tx: Queryable, tenantId: string, list: CaseList, most: number): Promise<number> {
  const values: unknown[] = [tenantId];
  const conditions = countConditions(list, (value) => `$${values.push(value)}`);
  if (conditions === null) return 0;
  const text = `select count(*) as cases
    from (select from cases where ${["tenant_id = $1", ...conditions].join(" and ")} limit ${most}) as found`;
  const [row] = await tx.query<{ cases: number }>(unprepared(text, values));
  return row?.cases ?? 0;
}

const preparedMax = 64;
const prepared = { cases: new Set<string>(), accounts: new Set<string>() };

// A prepared list with many branches takes about 200 kB in every connection, so only the first shapes that are requested are
// prepared.
function isCommon(list: keyof typeof prepared, text: string): boolean {
  const known = prepared[list];
  if (known.size < preparedMax) known.add(text);
  return known.has(text);
}

function positionCondition({ sort, after }: CasePage, id: string, bind: (value: unknown) => string): string[] {
  if (after === null) return [];
  if (sort === "-updated_at")
    return [`(touched_at, ${id}) < (${bind(after.touched_at)}::timestamptz, ${bind(after.case_id)}::uuid)`];
  if (sort === "due_at") return [`(due_at, ${id}) > (${bind(after.due_at)}::timestamptz, ${bind(after.case_id)}::uuid)`];
  return [`${id} ${sort === "created_at" ? ">" : "<"} ${bind(after.case_id)}::uuid`];
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
