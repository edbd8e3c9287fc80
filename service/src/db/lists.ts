import type { Account } from "../domain/account.ts";
import { CaseListItem } from "../domain/case-item.ts";
import { accountColumns, toAccount, type AccountRow } from "./accounts.ts";
import { countConditions, type CaseList } from "./case-count-conditions.ts";
import type { CasePage, CaseSort } from "./case-filters.ts";
import { boundsOf, planOf, scoresOf, slicesOf } from "./case-plans.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { statement, unprepared } from "./postgres/sql.ts";

// Keyset pages whose cost does not grow with the table, for any filter. Filters with few values (status, block flag, label,
// score) become one branch per combination. Each branch is a slice of an index that is already in order, and PostgreSQL merges
// the slices and stops at the end of the page.

const flag = "end_user_is_blocked";
// In the order of an item's members.
const shownColumns = [flag, ...Object.keys(CaseListItem.properties).filter((name) => name !== flag)].join(", ");
const caseColumns = `${shownColumns}, item, item_version`;
const itemStart = `{"${flag}":`;
const timeOf = (column: string) => `'"' || to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'`;

// What is stored as a case's item, from its columns.
export const itemOfColumns = `
  '"case_id":"' || case_id || '","website_account_id":' || to_json(website_account_id) || ',"status":"' || status
  || '","case_version":' || case_version || ',"created_at":' || ${timeOf("created_at")}
  || ',"updated_at":' || coalesce(${timeOf("updated_at")}, 'null') || ',"overall_risk_score":' || overall_risk_score
  || ',"primary_fraud_label":"' || primary_fraud_label || '","recommended_action":"' || recommended_action || '"'
  || coalesce(',"due_at":' || ${timeOf("due_at")}, '') || '}'`;

// The item of a case, as JSON. A case that was last changed before items were stored, or by the release before this one, has no
// item of its present version.
const caseItem = `
  case when ${flag} then '${itemStart}true,' else '${itemStart}false,' end
  || case when item_version = case_version then item else ${itemOfColumns} end`;

// The items of a list as they are sent, with commas between them.
export type CaseTexts = { count: number; text: string };

export async function listCases(database: Queryable, tenantId: string, page: CasePage): Promise<CaseListItem[]> {
  const { text } = await listCaseTexts(database, tenantId, page);
  // The cast is safe: these are the items that we stored, or that the database built from the columns.
  return JSON.parse(`[${text}]`) as CaseListItem[];
}

export async function listCaseTexts(database: Queryable, tenantId: string, page: CasePage): Promise<CaseTexts> {
  if (page.sort !== "-overall_risk_score") return listOrdered(database, tenantId, page);
  // Score by score, so that each step is ordered by id alone and can be bounded by creation times.
  const found: CaseTexts[] = [];
  let missing = page.limit;
  for (const score of scoresOf(page.filter)) {
    if (missing === 0) break;
    if (page.after && score > page.after.score) continue;
    const after = page.after?.score === score ? page.after : null;
    const filter = { ...page.filter, min_score: score, max_score: score };
    const part = await listOrdered(database, tenantId, { ...page, filter, after }, missing);
    if (part.count > 0) found.push(part);
    missing -= part.count;
  }
  return { count: page.limit - missing, text: found.map(({ text }) => text).join() };
}

// Splits off the last item. In JSON a quote inside a text is escaped, so no text contains the start of an item.
export function splitLast(text: string): { text: string; last: string } {
  const at = text.lastIndexOf(`,${itemStart}`);
  return { text: text.slice(0, Math.max(at, 0)), last: text.slice(at + 1) };
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

async function listOrdered(database: Queryable, tenantId: string, page: CasePage, most = page.limit): Promise<CaseTexts> {
  const plan = planOf(page);
  if (plan.facets.length === 0) return none;
  const values: unknown[] = [tenantId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const limit = limitOf(page);
  // The unfiltered list walks the primary key. A filtered list orders by sorted_id, a copy of the id, so that the planner cannot
  // walk the whole tenant along the primary key in search of matches.
  const time = timeColumns.get(page.sort);
  const id = plan.isWhole && time === undefined ? "case_id" : "sorted_id";
  const { conditions, facets } = slicesOf(plan, page, { id, bind });
  const bounds = ["tenant_id = $1", ...boundsOf(plan, page, { id, bind }), ...positionCondition(page, id, bind), ...conditions];
  const isCluster = database.isCluster === true;
  const listed = pageText(database, {
    table: "cases",
    columns: isCluster ? shownColumns : caseColumns,
    id: { name: id, inTable: "case_id" },
    order: [...(time === undefined ? [] : [time]), id],
    direction: page.sort.startsWith("-") ? "desc" : "asc",
    bounds,
    slices: { columns: [{ name: "facet", type: "int" }], rows: facets.map((facet) => [facet]) },
    limit,
    bind,
  });
  const ask = <R extends Row>(text: string) => {
    const isPrepared = !plan.isCrossing && isCommon("cases", text);
    return database.query<R>(isPrepared ? statement(text, values) : { name: "", text, values });
  };
  if (isCluster) return textsOf((await ask<ListedRow>(listed)).slice(0, most));
  // In one text, because a row for each item costs much more on the way.
  const [found] = await ask<CaseTexts & Row>(`
    select count(*)::int as count, coalesce(string_agg(${caseItem}, ','), '') as text
    from (select * from (${listed}) as listed limit ${bind(most)}) as page`);
  return found ?? none;
}

type ListedRow = Row & { due_at: string | null };

// A cluster plans each list anew, and plans the simplest statement fastest.
function textsOf(rows: ListedRow[]): CaseTexts {
  const items = rows.map((row) => JSON.stringify({ ...row, due_at: row.due_at ?? undefined }));
  return { count: rows.length, text: items.join() };
}

const none: CaseTexts = { count: 0, text: "" };

type Bind = (value: unknown) => string;
// A slice has one value in each of these columns.
type Slicing = { columns: { name: string; type: string }[]; rows: (number | boolean)[][] };
type PageText = {
  table: string;
  columns: string;
  // The column that identifies a row in the order, and in the table.
  id: { name: string; inTable: string };
  order: string[];
  direction: "asc" | "desc";
  // The first parameter is the tenant.
  bounds: string[];
  // None, if the bounds select the whole list.
  slices: Slicing;
  limit: string;
  bind: Bind;
};

function pageText({ isCluster }: Queryable, page: PageText): string {
  if (page.slices.rows.length > 1 && isCluster === true) return lateralText(page);
  const { table, columns, bounds, slices, limit } = page;
  const order = page.order.map((column) => `${column} ${page.direction}`).join(", ");
  const rows = slices.rows.length === 0 ? [[]] : slices.rows;
  // The values are our own numbers and flags, never the caller's text.
  const conditions = rows.map((row) => row.map((value, index) => `${slices.columns[index]?.name} = ${value}`));
  const selectSlice = (selected: string, own: string[]) =>
    `select ${selected} from ${table} where ${[...bounds, ...own].join(" and ")} order by ${order} ${limit}`;
  const [first = [], ...others] = conditions;
  if (others.length === 0) return selectSlice(columns, first);
  const selected = new Set([...columns.split(", "), ...page.order]);
  const branches = conditions.map((own) => `(${selectSlice([...selected].join(", "), own)})`);
  return `select ${columns} from (${branches.join(" union all ")}) as slices order by ${order} ${limit}`;
}

// A cluster plans a statement anew each time, on the coordinator and on the node, and dozens of branches take it longer than the
// work. So there, one branch is repeated for each slice. It reads only what the order needs, and only the rows of the page are
// read whole.
function lateralText({ table, columns, id, order, direction, bounds, slices, limit, bind }: PageText): string {
  const lists = slices.columns.map(({ type }, index) => `${bind(slices.rows.map((row) => row[index]))}::${type}[]`);
  const names = slices.columns.map(({ name }) => `wanted_${name}`);
  const conditions = slices.columns.map(({ name }, index) => `${name} = ${names[index]}`);
  const orderOf = (prefix: string) => order.map((column) => `${prefix}${column} ${direction}`).join(", ");
  return `
    select ${columns}
    from (
      select ${order.map((column) => `slice.${column} as found_${column}`).join(", ")}
      from unnest(${lists.join(", ")}) as slices (${names.join(", ")})
      cross join lateral (
        select ${order.join(", ")}
        from ${table}
        where ${[...bounds, ...conditions].join(" and ")}
        order by ${orderOf("")}
        ${limit}
      ) as slice
      order by ${orderOf("slice.")}
      ${limit}
    ) as found
    join ${table} on tenant_id = $1 and ${id.inTable} = found_${id.name}
    order by ${orderOf("found_")}`;
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

function product<T>(dimensions: T[][]): T[][] {
  return dimensions.reduce<T[][]>((sets, dimension) => sets.flatMap((set) => dimension.map((each) => [...set, each])), [[]]);
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
    return [false, true].filter((each) => each === (value ?? each));
  });
  const isOneSlice = crm !== undefined || wanted.every((values) => values.length === 2);
  if (crm !== undefined) {
    const bound = bind(crm);
    bounds.push(`crm_key = hashtextextended(${bound}, 0)`, `crm_account_id = ${bound}`);
  }
  if (isOneSlice)
    bounds.push(...flags.flatMap((flag) => (page.filter[flag] === undefined ? [] : [`${flag} = ${page.filter[flag]}`])));
  const text = pageText(database, {
    table: "accounts",
    columns: accountColumns,
    id: { name: "website_account_id", inTable: "website_account_id" },
    order: ["website_account_id"],
    direction: "asc",
    bounds,
    slices: { columns: flags.map((name) => ({ name, type: "boolean" })), rows: isOneSlice ? [] : product(wanted) },
    limit,
    bind,
  });
  const asked = isCommon("accounts", text) ? statement(text, values) : { name: "", text, values };
  return (await database.query<AccountRow>(asked)).slice(0, page.limit).map(toAccount);
}
