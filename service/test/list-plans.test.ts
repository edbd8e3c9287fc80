import { beforeAll, expect, test } from "vitest";
import { lockFreshCases } from "../src/db/cases.ts";
import type { Queryable, Row } from "../src/db/postgres/database.ts";
import { wholeSorts, type CaseFilter, type CasePage, type CaseSort } from "../src/db/case-filters.ts";
import { listCases } from "../src/db/lists.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { uuidV7Floor } from "../src/domain/uuid.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { atShare, baseMs, byChange, byCreation, caseCount, filters, iso, seedCases } from "./list-lab.ts";
import { costOf, explainFor, flatten, type Cost, type PlanMode } from "./plan-lab.ts";

// Plans depend on how much each tenant has in a table, so these tests have their own database.
const databaseUrl = useOwnDatabase("list_plans");

const service = useService({ databaseUrl, roles: new Set(["api"]), rowSecurity: "on" });
const casesPerAccount = 10;
const limit = 25;
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  await seedCases(service.current.database, tenant.tenantId);
});

// Returns the page and the statements that it took.
async function capture(page: CasePage): Promise<{ statements: Statement[]; found: CaseListItem[] }> {
  const statements: Statement[] = [];
  const recorder: Queryable = {
    isLocked: true,
    query: <R extends Row>(sent: Statement) => {
      statements.push(sent);
      return service.current.database.forTenant(tenant.tenantId).query<R>(sent);
    },
  };
  return { found: await listCases(recorder, tenant.tenantId, page), statements };
}

const explain = (sent: Statement, mode: PlanMode) => explainFor(service.current.database.forTenant(tenant.tenantId), sent, mode);

// The first page is planned for its values, the second one with a generic plan.
async function costs(filter: CaseFilter, sort: CaseSort): Promise<Cost[]> {
  const first = await capture({ filter, sort, after: null, limit });
  const last = first.found.at(-1);
  if (!last) throw new Error("the filter must match something");
  const touchedAt = last.updated_at ?? last.created_at;
  const after = { case_id: last.case_id, touched_at: touchedAt, score: last.overall_risk_score };
  const second = await capture({ filter, sort, after, limit });
  const plans = [
    ...(await Promise.all(first.statements.map((each) => explain(each, "force_custom_plan")))),
    ...(await Promise.all(second.statements.map((each) => explain(each, "force_generic_plan")))),
  ];
  return plans.map(costOf);
}

// Result is the single comparison by which row-level security enables or skips a branch. Aggregate joins the items of the page.
const inOrder = new Set([
  "Aggregate",
  "Result",
  "Limit",
  "Merge Append",
  "Append",
  "Subquery Scan",
  "Index Scan",
  "Index Only Scan",
]);

// A branch may read a few rows more than it returns, and reaching its first row takes a few index blocks.
function expectPageCost({ nodeTypes, branches, rowsRead, blocksRead }: Cost): void {
  expect(nodeTypes.filter((type) => !inOrder.has(type))).toEqual([]);
  expect(rowsRead).toBeLessThanOrEqual(limit + 4 * branches);
  expect(blocksRead).toBeLessThanOrEqual(limit + 8 * branches);
}

const everySort = (names: string[], sorts: readonly CaseSort[]) => names.flatMap((name) => sorts.map((sort) => ({ name, sort })));

test.each(everySort(Object.keys(filters), wholeSorts))("list cases: $name by $sort reads no more than its page", async (each) => {
  const found = await costs(filters[each.name] ?? {}, each.sort);
  expect(found.length).toBeGreaterThan(1);
  found.forEach(expectPageCost);
});

const creationSorts = wholeSorts.filter((sort) => sort !== "-updated_at");

test.each([...everySort(Object.keys(byCreation), creationSorts), ...everySort(Object.keys(byChange), ["-updated_at"])])(
  "list cases: $name by $sort, bounded along its order, reads no more than its page",
  async ({ name, sort }) => {
    const found = await costs({ ...byCreation[name], ...byChange[name] }, sort);
    expect(found.length).toBeGreaterThan(1);
    found.forEach(expectPageCost);
  },
);

// Under row-level security, PostgreSQL cannot use the indexes of weeks, which list-weeks.test.ts covers. So these lists cost more
// than their page, up to a quarter of this table. They are planned for their values each time. The bound here only shows that none
// of them reads most of the table.
test.each([...everySort(Object.keys(byCreation), ["-updated_at"]), ...everySort(Object.keys(byChange), creationSorts)])(
  "list cases: $name by $sort, bounded across its order, is planned for its values and reads less than the table",
  async ({ name, sort }) => {
    const filter = { ...byCreation[name], ...byChange[name] };
    const { statements, found } = await capture({ filter, sort, after: null, limit });
    expect(found.length).toBeGreaterThan(0);
    for (const each of statements) {
      expect(each.name).toBe("");
      const { nodeTypes, rowsRead } = costOf(await explain(each, "force_custom_plan"));
      expect(nodeTypes).not.toContain("Seq Scan");
      expect(rowsRead).toBeLessThan(caseCount / 2);
    }
  },
);

// PostgreSQL keeps a generic plan only if it estimates that it costs no more than one for these values. Otherwise it plans again
// for every page.
test.each(everySort(Object.keys(filters), wholeSorts))("list cases: $name by $sort is planned once", async ({ name, sort }) => {
  const { statements } = await capture({ filter: filters[name] ?? {}, sort, after: null, limit });
  for (const each of statements) {
    const [custom, generic] = [await explain(each, "force_custom_plan"), await explain(each, "force_generic_plan")];
    expect(generic["Total Cost"]).toBeLessThanOrEqual(custom["Total Cost"] * 1.05);
  }
});

// Behind a cursor the bound no longer matters and must not be the point where the index scan starts.
test("list cases: updated_before by -updated_at reads no more than its page, far behind its bound", async () => {
  const slice = { status: "CLOSED", user_is_blocked: false, label: "Bot", min_score: 3, max_score: 3 };
  const filter = { ...slice, updated_before: iso(atShare(0.9)) };
  const after = { case_id: uuidV7Floor(atShare(0.2)), touched_at: iso(atShare(0.2)), score: 3 };
  const { statements, found } = await capture({ filter, sort: "-updated_at", after, limit });
  expect(found).toHaveLength(limit);
  for (const each of statements) expectPageCost(costOf(await explain(each, "force_custom_plan")));
});

// A case not changed since then was not created since then either, so the scan starts at the bound.
test.each([
  ...creationSorts.map((sort) => ({ sort, filter: { updated_before: iso(atShare(0.2)) } })),
  { sort: "-updated_at" as const, filter: { created_after_ms: atShare(0.8) } },
])("list cases: $filter by $sort starts at its bound", async ({ sort, filter }) => {
  const { statements, found } = await capture({ filter, sort, after: null, limit });
  expect(found).toHaveLength(limit);
  for (const each of statements) {
    const { branches, rowsRead } = costOf(await explain(each, "force_custom_plan"));
    // One in two hundred was changed, and is read without being returned.
    expect(rowsRead).toBeLessThanOrEqual(2 * limit + 8 * branches);
  }
});

test.each(wholeSorts)("list cases: one account by %s reads only that account's cases", async (sort) => {
  const account = { website_account_id: "user-77" };
  for (const filter of [account, { ...account, status: "CLOSED", label: "Bot", min_score: 3, user_is_blocked: false }]) {
    for (const { nodeTypes, rowsRead } of await costs(filter, sort)) {
      expect(nodeTypes).not.toContain("Seq Scan");
      expect(rowsRead).toBeLessThanOrEqual(casesPerAccount);
    }
  }
});

type Listed = { cases: CaseListItem[]; next_cursor: string | null };

async function getPage(query: string): Promise<Listed> {
  const answer = await tenant.call("GET", `/cases?${query}`);
  return answer.json.data;
}

test.each([
  { closed_by: "Ada <ada@example.org>" },
  { closed_by: "shop" },
  { disposition: "INCONCLUSIVE" },
  { disposition: "FALSE_POSITIVE" },
  { own_disposition: "Family member" },
])("list cases: %o by -updated_at reads no more than its page", async (filter) => {
  const found = await costs({ ...filter, status: "CLOSED" }, "-updated_at");
  expect(found).toHaveLength(2);
  for (const each of found) expectPageCost(each);
});

test("GET cases 200: the default limit is 1,000, which is also the maximum", async () => {
  const given = await getPage("");
  expect(given.cases).toHaveLength(1000);
  expect(given.next_cursor).not.toBeNull();
  expect(await getPage("limit=1000")).toEqual(given);
});

test.each(["-created_at", "-updated_at"])(
  "GET cases 200: paging by %s returns each of twenty thousand cases once",
  async (sort) => {
    const seen = new Set<string>();
    let next = await getPage(`sort=${sort}`);
    for (let pages = 1; pages <= caseCount / 1000; pages++) {
      for (const each of next.cases) seen.add(each.case_id);
      expect(seen.size).toBe(pages * 1000);
      if (next.next_cursor !== null) next = await getPage(`sort=${sort}&cursor=${next.next_cursor}`);
    }
    expect(next.next_cursor).toBeNull();
  },
);

test("plans: a close prepared while there were no keys does not scan the keys that are added later", async () => {
  const { database } = service.current;
  await database.query({ ...statement("vacuum analyze idempotency_keys", []), name: "" });
  const sent: Statement[] = [];
  const recorder: Queryable = { query: (asked) => (sent.push(asked), Promise.resolve([])) };
  await lockFreshCases(recorder, tenant.tenantId, [{ case_id: uuidV7Floor(baseMs), key: "k" }]);
  const [locking] = sent;
  if (!locking) throw new Error("nothing was asked");
  const scans = flatten(await explain(locking, "force_generic_plan")).filter((node) => node["Relation Name"] !== undefined);
  expect(scans.map((node) => node["Node Type"]).filter((type) => type === "Seq Scan")).toEqual([]);
  expect(scans.map((node) => node["Relation Name"])).toContain("idempotency_keys");
});
