// Lists that are ordered by one time and bounded by the other. The cases are spread over a year, with a quiet month, in the ways
// that are worst for a walk along the order.
import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { wholeSorts, type CaseFilter, type CasePage, type CasePosition, type CaseSort } from "../src/db/case-filters.ts";
import { listCases } from "../src/db/lists.ts";
import type { Queryable, Row } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import { labels } from "../src/domain/finding.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { createNodeFunctions, iso } from "./list-lab.ts";
import { costOf, explainFor } from "./plan-lab.ts";

const databaseUrl = useOwnDatabase("list_weeks");
const service = useService({ databaseUrl, roles: new Set(["api"]) });
const caseCount = 20_000;
const dayMs = 86_400_000;
const stepMs = (365 * dayMs) / caseCount;
// Before the week from which weeks are counted.
const baseMs = Date.parse("2023-09-01T00:00:00.000Z");
const atShare = (share: number) => Math.round(baseMs + share * caseCount * stepMs);
const endMs = atShare(1);
const limit = 25;

type Seeded = {
  case_id: string;
  createdMs: number;
  touchedMs: number;
  account: string;
  status: string;
  isBlocked: boolean;
  label: string;
  score: number;
  isNew: boolean;
};
let tenantId: string;
let all: Seeded[];

// The first third was closed within the hour. The second third was closed on the last day, all of it within minutes. The last third
// is open, and one in seven of it was changed up to weeks later. Nothing was opened in a month in the middle.
const seedCases = `
  insert into cases (
    tenant_id, case_id, subject, website_account_id, end_user_is_blocked, status, case_version, created_at, updated_at,
    overall_risk_score, primary_fraud_label, recommended_action, has_new_evidence, document
  )
  select $1::uuid, (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, 'seed:' || n,
    case when n % 10 = 1 then 'UNKNOWN' else 'user-' || n % 2000 end, n % 10 <> 1 and n % 7 = 0,
    case when n <= $3 * 2 / 3 then 'CLOSED' else 'OPEN' end, 1, to_timestamp(ms / 1000.0),
    to_timestamp(case
      when n <= $3 / 3 then ms + n % 60 * 60000
      when n <= $3 * 2 / 3 then $4::bigint + n % 500 * 1000
      when n % 7 = 0 then ms + n % 40 * ${dayMs}::bigint
    end / 1000.0),
    case when n % 50 = 0 then 1 else 2 + n % 4 end, ($5::text[])[1 + n % 4], 'MONITOR', n % 11 = 0 and n > $3 * 2 / 3, '{}'
  from generate_series(1, $3::int) as n
  cross join lateral (select $2::bigint + (n / 2 * 2 * ${stepMs}::float8)::bigint as spread) as s
  cross join lateral (select case when n between $3 / 2 and $3 / 2 + $3 / 12 then $2 + ($3 / 2 * ${stepMs}::float8)::bigint else spread end as ms) as m`;

beforeAll(async () => {
  const { database } = service.current;
  ({ tenantId } = await TestTenant.create(service.current));
  const values = [tenantId, baseMs, caseCount, endMs, labels.slice(0, 4)];
  await database.transaction((tx) => tx.query(statement(seedCases, values)));
  await database.query(statement("vacuum analyze cases", []));
  await createNodeFunctions(database);
  all = await database.query<Row & Seeded>(
    statement(
      `select case_id, (extract(epoch from created_at) * 1000)::float8 as "createdMs",
         (extract(epoch from touched_at) * 1000)::float8 as "touchedMs", website_account_id as account, status,
         end_user_is_blocked as "isBlocked", primary_fraud_label as label, overall_risk_score as score, has_new_evidence as "isNew"
       from cases where tenant_id = $1`,
      [tenantId],
    ),
  );
});

const ascending = <T>(a: T, b: T) => (a === b ? 0 : a < b ? -1 : 1);
const byId = (a: Seeded, b: Seeded) => ascending(a.case_id, b.case_id);
const orders: Record<(typeof wholeSorts)[number], (a: Seeded, b: Seeded) => number> = {
  created_at: byId,
  "-created_at": (a, b) => byId(b, a),
  "-overall_risk_score": (a, b) => b.score - a.score || byId(b, a),
  "-updated_at": (a, b) => b.touchedMs - a.touchedMs || byId(b, a),
};

function expectedOf(filter: CaseFilter, sort: (typeof wholeSorts)[number]): Seeded[] {
  const { updated_since: since, updated_before: before } = filter;
  return all
    .filter(
      (each) =>
        (filter.status === undefined || each.status === filter.status) &&
        (filter.website_account_id === undefined || each.account === filter.website_account_id) &&
        (filter.user_is_blocked === undefined || each.isBlocked === filter.user_is_blocked) &&
        (filter.label === undefined || each.label === filter.label) &&
        (filter.min_score === undefined || each.score >= filter.min_score) &&
        (filter.max_score === undefined || each.score <= filter.max_score) &&
        (filter.new_evidence === undefined || each.isNew === filter.new_evidence) &&
        (filter.created_after_ms === undefined || each.createdMs > filter.created_after_ms) &&
        (filter.created_before_ms === undefined || each.createdMs < filter.created_before_ms) &&
        (since === undefined || each.touchedMs >= Date.parse(since)) &&
        (before === undefined || each.touchedMs < Date.parse(before)),
    )
    .toSorted(orders[sort]);
}

const positionOf = ({ case_id, touchedMs, score }: Seeded): CasePosition => ({ case_id, touched_at: iso(touchedMs), score });
// Some are far outside the time that the cases span.
const times = fc.oneof(
  fc.integer({ min: -10, max: 110 }).map((percent) => atShare(percent / 100)),
  fc.integer({ min: -100_000, max: 600_000 }).map((ms) => endMs + ms),
  fc.constantFrom(Date.parse("0001-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")),
);
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });
const filters = fc
  .record({
    status: maybe(fc.constantFrom("OPEN", "CLOSED")),
    website_account_id: maybe(fc.constantFrom("UNKNOWN", "UNKNOWN", "user-77")),
    user_is_blocked: maybe(fc.boolean()),
    label: maybe(fc.constantFrom(...labels)),
    min_score: maybe(fc.integer({ min: 1, max: 5 })),
    max_score: maybe(fc.integer({ min: 1, max: 5 })),
    new_evidence: maybe(fc.boolean()),
    created_after_ms: maybe(times.filter((ms) => ms > 0)),
    created_before_ms: maybe(times.filter((ms) => ms > 0)),
    updated_since: maybe(times.map(iso)),
    updated_before: maybe(times.map(iso)),
  })
  // Exact optional types have no undefined members.
  .map((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as CaseFilter);

const query: Queryable["query"] = (sent) => service.current.database.query(sent);

test.each([false, true])(
  "list cases, cluster: %s: with any filter and sort, from any position, two pages equal those of a sorted list",
  async (isCluster) => {
    const property = fc.asyncProperty(
      filters,
      fc.constantFrom(...wholeSorts),
      fc.constantFrom(1, 7, limit),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (filter, sort, most, share) => {
        const expected = expectedOf(filter, sort);
        let place = Math.floor(share * expected.length);
        for (let page = 0; page < 2; page++) {
          const last = expected[place - 1];
          const after = last === undefined ? null : positionOf(last);
          const found = await listCases({ isCluster, query }, tenantId, { filter, sort, after, limit: most });
          const wanted = expected.slice(place, place + most);
          expect(found.map(({ case_id }) => case_id)).toEqual(wanted.map(({ case_id }) => case_id));
          place += found.length;
        }
      },
    );
    await fc.assert(property, { numRuns: 150 });
  },
);

type Crossing = { filter: CaseFilter; sort: CaseSort; after?: number };
const [half, late] = [iso(atShare(0.5)), iso(endMs + 100_000)];
// With the share of the list at which the page begins.
const crossings: Crossing[] = [
  { filter: { updated_since: half }, sort: "created_at" },
  { filter: { updated_since: half }, sort: "-created_at", after: 0.99 },
  { filter: { updated_since: late }, sort: "created_at" },
  { filter: { updated_since: late }, sort: "-created_at" },
  { filter: { updated_before: iso(endMs) }, sort: "-created_at", after: 0.6 },
  { filter: { updated_before: half }, sort: "created_at", after: 0.999 },
  { filter: { updated_since: half, max_score: 1 }, sort: "created_at" },
  { filter: { updated_since: half }, sort: "-overall_risk_score", after: 0.2 },
  { filter: { created_before_ms: atShare(0.3) }, sort: "-updated_at" },
  { filter: { created_after_ms: atShare(0.9) }, sort: "-updated_at" },
  { filter: { created_before_ms: atShare(0.3), label: "Bot", max_score: 1 }, sort: "-updated_at" },
  { filter: { created_before_ms: atShare(0.3), status: "CLOSED" }, sort: "-updated_at", after: 0.5 },
];

async function capture(page: CasePage): Promise<Statement[]> {
  const statements: Statement[] = [];
  const record = <R extends Row>(sent: Statement) => (statements.push(sent), query<R>(sent));
  await listCases({ query: record }, tenantId, page);
  return statements;
}

// A walk along the order reads at most four pages. The statement after it reads one week after the other, or a page from each week
// or facet whose cases can be on the page.
test.each(crossings)("list cases: $filter by $sort after $after reads little, wherever its cases are", async (each) => {
  const { filter, sort, after: share } = each;
  const expected = expectedOf(filter, sort as (typeof wholeSorts)[number]);
  const last = share === undefined ? undefined : expected[Math.floor(share * expected.length)];
  const statements = await capture({ filter, sort, after: last === undefined ? null : positionOf(last), limit });
  for (const sent of statements) {
    for (const mode of ["force_custom_plan", "force_generic_plan"] as const) {
      const { nodeTypes, branches, rowsRead } = costOf(await explainFor(service.current.database, sent, mode));
      expect(nodeTypes).not.toContain("Seq Scan");
      expect(rowsRead).toBeLessThanOrEqual(1_000 + 8 * branches);
    }
  }
});
