import type { Account } from "../domain/account.ts";
import { CaseListItem } from "../domain/case-item.ts";
import { shownTime } from "../domain/text.ts";
import { accountColumns, toAccount, type AccountRow } from "./accounts.ts";
import { countConditions, type CaseList } from "./case-count-conditions.ts";
import type { Bind, CasePage, CaseSort } from "./case-filters.ts";
import { boundsOf, isSmall, planOf, positionOf, scoresOf, slicesOf, splitBounds, type CasePlan } from "./case-plans.ts";
import { weeksText } from "./case-weeks.ts";
import { askPage } from "./citus/node-pages.ts";
import { pageText } from "./page-text.ts";
import type { Queryable, Row } from "./postgres/database.ts";
import { statement, unprepared } from "./postgres/sql.ts";

// Keyset pages whose cost does not grow with the table, for nearly any filter (decisions 4 and 71). Filters with few values (status,
// block flag, label, score) become one branch per combination. Each branch is a slice of an index that is already in order, and
// PostgreSQL merges the slices and stops at the end of the page.

const flag = "end_user_is_blocked";
// In the order of an item's members.
const shownColumns = [flag, ...Object.keys(CaseListItem.properties).filter((name) => name !== flag)].join(", ");
const caseColumns = `${shownColumns}, item, item_version`;
const itemStart = `{"${flag}":`;
const timeOf = (column: string) => `'"' || to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'`;

// Builds from the columns what is stored as a case's item.
export const itemOfColumns = `
  '"case_id":"' || case_id || '","website_account_id":' || to_json(website_account_id) || ',"status":"' || status
  || '","case_version":' || case_version || ',"created_at":' || ${timeOf("created_at")}
  || ',"updated_at":' || coalesce(${timeOf("updated_at")}, 'null') || ',"overall_risk_score":' || overall_risk_score
  || ',"primary_fraud_label":"' || primary_fraud_label || '","recommended_action":"' || recommended_action || '"'
  || coalesce(',"due_at":' || ${timeOf("due_at")}, '') || '}'`;

// The item of a case, as JSON. A case that was last changed before items were stored, or by the release before this one, has no
// item for its current version.
const caseItem = `
  case when ${flag} then '${itemStart}true,' else '${itemStart}false,' end
  || case when item_version = case_version then item else ${itemOfColumns} end`;

// The items of a page as they are sent, with commas between them.
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
const limitOf = (page: { limit: number }) => `limit ${sizeOf(page)}`;

function sizeOf({ limit }: { limit: number }): number {
  const size = pageSizes.find((each) => each >= limit);
  if (size === undefined) throw new Error(`a page has at most ${pageSizes.at(-1)} entries`);
  return size;
}

// One more than the page shows, to know whether there is a next page.
const pageSizes = [26, 51, 101, 201, 501, 1_001];

// Lists in other orders are sorted by id alone, which contains the time of creation.
const timeColumns = new Map<CaseSort, string>([
  ["-updated_at", "touched_at"],
  ["due_at", "due_at"],
]);

// A walk along the order soon fills the page if most cases there are within the bounds on the other time. Otherwise it could read
// the whole table, so it ends early, and the weeks of creation are searched instead.
async function listOrdered(database: Queryable, tenantId: string, page: CasePage, most = page.limit): Promise<CaseTexts> {
  const plan = planOf(page);
  if (plan.facets.length === 0) return none;
  const asked = { database, tenantId, page, plan, most };
  if (!plan.isCrossing || page.sort === "due_at" || isSmall(plan.given, page.filter) || database.isLocked === true)
    return ask(asked, plainText);
  const walked = await ask(asked, walkText);
  return walked.count === most ? walked : ask(asked, acrossText);
}

type Asked = { database: Queryable; tenantId: string; page: CasePage; plan: CasePlan; most: number };
type ListText = (asked: Asked, columns: string, bind: Bind) => string;

async function ask(asked: Asked, makeText: ListText): Promise<CaseTexts> {
  const { database, tenantId, plan, most } = asked;
  const values: unknown[] = [tenantId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const page = `(select * from (${makeText(asked, caseColumns, bind)}) as listed limit ${bind(most)}) as page`;
  // A single statement with an order and a bound that no index combines is not prepared, because its best plan depends on the
  // values.
  const isKept = !(plan.isCrossing && makeText === plainText);
  // One text for the page, because one row per item costs the driver much more.
  const items = `coalesce(string_agg(${caseItem}, ','), '')`;
  if (database.isCluster === true)
    return toTexts(await askPage(database, { text: `select count(*) || ' ' || ${items} from ${page}`, values, isKept }));
  const text = `select count(*)::int as count, ${items} as text from ${page}`;
  const isPrepared = isKept && isCommon("cases", text);
  const [found] = await database.query<CaseTexts & Row>(isPrepared ? statement(text, values) : unprepared(text, values));
  return found ?? none;
}

function toTexts(answer: string): CaseTexts {
  const at = answer.indexOf(" ");
  return { count: Number(answer.slice(0, at)), text: answer.slice(at + 1) };
}

// The unfiltered list walks the primary key. A filtered list orders by sorted_id, a copy of the id, so that the planner cannot
// walk the whole tenant along the primary key in search of matches.
const idOf = ({ plan, page: { sort } }: Asked) => (plan.isWhole && !timeColumns.has(sort) ? "case_id" : "sorted_id");

function orderOf({ sort }: CasePage, id: string): { order: string[]; direction: "asc" | "desc" } {
  const time = timeColumns.get(sort);
  return { order: [...(time === undefined ? [] : [time]), id], direction: sort.startsWith("-") ? "desc" : "asc" };
}

function plainText(asked: Asked, columns: string, bind: Bind): string {
  const text = { id: idOf(asked), bind };
  return orderedText(asked, { columns, bounds: boundsOf(asked.plan, asked.page, text), limit: limitOf(asked.page), bind });
}

// Reads a few times as many rows as the page has, and returns those that are within all bounds.
function walkText(asked: Asked, columns: string, bind: Bind): string {
  const { plan, page } = asked;
  const id = idOf(asked);
  const { along, across } = splitBounds(plan, page, { id, bind });
  const walked = [...new Set([...columns.split(", "), "touched_at", "sorted_id"])].join(", ");
  const limit = `limit ${walkedPages * sizeOf(page)}`;
  const { order, direction } = orderOf(page, id);
  return `
    select ${columns}
    from (${orderedText(asked, { columns: walked, bounds: along, limit, bind })}) as walked
    where ${across.join(" and ")}
    order by ${order.map((column) => `${column} ${direction}`).join(", ")}
    ${limitOf(page)}`;
}

const walkedPages = 4;

function acrossText({ plan, page }: Asked, columns: string, bind: Bind): string {
  const found = weeksText({ plan, page, bind, limit: limitOf(page) });
  const { order, direction } = orderOf(page, "case_id");
  // The limit keeps the planner from walking the primary key along the ids that were found.
  return `
    select ${columns}
    from (${found}) as found
    cross join lateral (select * from cases where tenant_id = $1 and case_id = found_id limit 1) as listed
    order by ${order.map((column) => `${column} ${direction}`).join(", ")}`;
}

type Ordered = { columns: string; bounds: string[]; limit: string; bind: Bind };

function orderedText(asked: Asked, { columns, bounds, limit, bind }: Ordered): string {
  const { page, plan } = asked;
  const id = idOf(asked);
  const { conditions, facets } = slicesOf(plan, page, { id, bind });
  return pageText({
    table: "cases",
    columns,
    ...orderOf(page, id),
    bounds: ["tenant_id = $1", ...bounds, ...positionOf(page, { id, bind }), ...conditions],
    slices: { columns: ["facet"], rows: facets.map((facet) => [facet]) },
    limit,
  });
}

const none: CaseTexts = { count: 0, text: "" };

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
  const text = pageText({
    table: "accounts",
    columns: accountColumns,
    order: ["website_account_id"],
    direction: "asc",
    bounds,
    slices: { columns: [...flags], rows: isOneSlice ? [] : product(wanted) },
    limit,
  });
  // Citus plans a single slice faster than the database makes its JSON.
  const query = database.isCluster === true && !isOneSlice ? askAccounts : queryAccounts;
  return (await query(database, text, values)).slice(0, page.limit).map(toAccount);
}

async function queryAccounts(database: Queryable, text: string, values: unknown[]): Promise<AccountRow[]> {
  return database.query<AccountRow>(isCommon("accounts", text) ? statement(text, values) : unprepared(text, values));
}

// In JSON, times end with +00:00.
const timesOf = (row: AccountRow) =>
  (["last_session_updated_on", "first_activity_at", "created_at", "updated_at"] as const).map((name) => {
    const time = row[name];
    return [name, time === null ? null : shownTime(`${time.slice(0, -"+00:00".length)}Z`)];
  });

async function askAccounts(database: Queryable, text: string, values: unknown[]): Promise<AccountRow[]> {
  const answer = await askPage(database, {
    text: `select coalesce(json_agg(page), '[]') from (${text}) as page`,
    values,
    isKept: true,
  });
  return (JSON.parse(answer) as AccountRow[]).map((row) => ({ ...row, ...Object.fromEntries(timesOf(row)) }));
}
