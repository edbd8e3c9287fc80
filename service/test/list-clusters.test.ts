// On a cluster, a function on the tenant's node answers for lists. It also runs on one server, so each page can be requested in both
// ways.
import { beforeAll, expect, test } from "vitest";
import { wholeSorts } from "../src/db/case-filters.ts";
import { listAccounts, listCases, type AccountFilter } from "../src/db/lists.ts";
import type { Queryable, Row } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import type { Account } from "../src/domain/account.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { byChange, byCreation, createNodeFunctions, filters, seedCases } from "./list-lab.ts";

const databaseUrl = useOwnDatabase("list_clusters");
const service = useService({ databaseUrl, roles: new Set(["api"]) });
const limit = 25;
let tenantId: string;

beforeAll(async () => {
  const { database } = service.current;
  ({ tenantId } = await TestTenant.create(service.current));
  await seedCases(database, tenantId);
  await createNodeFunctions(database);
  await database.query(
    statement(
      `insert into accounts (tenant_id, website_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at)
       select $1, 'user-' || n, n % 2 = 0, n % 3 = 0, n % 5 = 0, now(), now()
       from generate_series(1, 300) as n`,
      [tenantId],
    ),
  );
});

type Pages<T> = { first: T[]; second: T[]; asked: Statement[] };

// The first two pages, and the statements that they took.
async function pagesOf<T>(isCluster: boolean, list: (database: Queryable, last: T | null) => Promise<T[]>): Promise<Pages<T>> {
  const asked: Statement[] = [];
  const query = <R extends Row>(sent: Statement) => (asked.push(sent), service.current.database.query<R>(sent));
  const first = await list({ isCluster, query }, null);
  return { first, second: await list({ isCluster, query }, first.at(-1) ?? null), asked };
}

const isOfNode = ({ text }: Statement) => text.includes("casehound_page");

const everything = { ...filters, ...byCreation, ...byChange };
const lists = Object.entries(everything).flatMap(([name, filter]) => wholeSorts.map((sort) => ({ name, filter, sort })));

test.each(lists)("list cases: $name by $sort is the same on a cluster", async ({ filter, sort }) => {
  const list = (database: Queryable, last: CaseListItem | null) => {
    const touched_at = last?.updated_at ?? last?.created_at ?? "";
    const after = last && { case_id: last.case_id, touched_at, score: last.overall_risk_score };
    return listCases(database, tenantId, { filter, sort, after, limit });
  };
  const [plain, cluster] = [await pagesOf(false, list), await pagesOf(true, list)];
  expect(plain.first.length).toBeGreaterThan(0);
  expect([cluster.first, cluster.second]).toEqual([plain.first, plain.second]);
  expect(cluster.asked.every(isOfNode)).toBe(true);
  expect(plain.asked.some(isOfNode)).toBe(false);
});

const accountFilters: AccountFilter[] = [
  {},
  { is_blocked: true },
  { is_quarantined: false },
  { is_blocked: false, is_fraudulent: true },
  { is_blocked: false, is_quarantined: false, is_fraudulent: false },
];

test.each(accountFilters)("list accounts: %o is the same on a cluster", async (filter) => {
  const list = (database: Queryable, last: Account | null) =>
    listAccounts(database, tenantId, { filter, after: last?.website_account_id ?? null, limit });
  const [plain, cluster] = [await pagesOf(false, list), await pagesOf(true, list)];
  expect(plain.first.length).toBeGreaterThan(0);
  expect([cluster.first, cluster.second]).toEqual([plain.first, plain.second]);
  // Citus itself answers for the whole list.
  expect(cluster.asked.some(isOfNode)).toBe(Object.keys(filter).length > 0);
});
