import { randomBytes, randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { wholeSorts } from "../src/db/case-filters.ts";
import { insertCase } from "../src/db/cases.ts";
import { listCases } from "../src/db/lists.ts";
import type { Queryable, Row } from "../src/db/postgres/database.ts";
import { statement, type Statement } from "../src/db/postgres/sql.ts";
import { changeStatus, openCase, type CaseDocument } from "../src/domain/case.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { csvRecords } from "../src/domain/csv.ts";
import { checkFinding } from "../src/domain/random-check.ts";
import { uuidV7 } from "../src/domain/uuid.ts";
import { TestTenant, useService } from "./harness.ts";

// Lists, views and exports by due time.
const service = useService();
const count = 120;
const hourMs = 3_600_000;
const nowMs = Date.now();
const accounts = ["UNKNOWN", "ann", "bob"];
const iso = (ms: number) => new Date(ms).toISOString();
let tenant: TestTenant;
let all: CaseDocument[];

// Due times repeat, so that ties are common. A third is overdue, a third is not, and a third has none. Closed cases keep theirs.
function seeded(index: number): CaseDocument {
  const [state_id, createdMs] = [randomUUID(), nowMs - (50 + (index % 9)) * hourMs];
  const ids = { case_id: uuidV7(createdMs, randomBytes(10)), state_id, occurrence_id: state_id, prediction_id: state_id };
  const owner = { tenant_id: tenant.tenantId, website_account_id: accounts[index % 3] ?? "" };
  const score = index % 4 < 2 ? 1 : 2;
  const opened = openCase(owner, checkFinding({ moment: "entry", score }), ids, iso(createdMs)).document;
  const due_at = iso(nowMs + (index % 3 === 0 ? -1 : 1) * (1 + (index % 5)) * hourMs);
  const document = index % 3 === 1 ? opened : { ...opened, due_at };
  const actor = { name: "Ada", state_id: randomUUID(), now: iso(nowMs) };
  return index % 5 === 4 ? changeStatus(document, { status: "CLOSED", case_version: 1 }, actor).document : document;
}

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  all = Array.from({ length: count }, (_, index) => seeded(index));
  await tenant.service.database.transaction(async (tx) => {
    for (const document of all)
      await insertCase(tx, { document, subject: `seed:${document.case_id}`, end_user_is_blocked: false });
  });
});

async function walk(query: URLSearchParams): Promise<CaseListItem[]> {
  const found: CaseListItem[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    if (cursor !== "") query.set("cursor", cursor);
    const answer = await tenant.call("GET", `/cases?${query.toString()}`);
    expect(answer.status, answer.text).toBe(200);
    const page: { cases: CaseListItem[]; next_cursor: string | null } = answer.json.data;
    found.push(...page.cases);
    cursor = page.next_cursor;
  }
  return found;
}

const isOverdue = ({ status, due_at }: CaseDocument) =>
  status === "OPEN" && due_at !== undefined && Date.parse(due_at) <= Date.now();
const ascending = (a = "", b = "") => (a === b ? 0 : a < b ? -1 : 1);
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const filters = fc.record({
  overdue: maybe(fc.constantFrom("true", "false")),
  status: maybe(fc.constantFrom("OPEN", "CLOSED")),
  website_account_id: maybe(fc.constantFrom(...accounts)),
  min_score: maybe(fc.constantFrom("1", "2", "3")),
  created_after: maybe(fc.constant(iso(nowMs - 55 * hourMs))),
});
type Filter = typeof filters extends fc.Arbitrary<infer T> ? T : never;

function matching({ overdue, status, website_account_id: account, min_score: least, created_after: after }: Filter) {
  return all.filter(
    (each) =>
      (overdue === undefined || String(isOverdue(each)) === overdue) &&
      (status === undefined || each.status === status) &&
      (account === undefined || each.website_account_id === account) &&
      (least === undefined || each.details.overall_risk_score >= Number(least)) &&
      (after === undefined || each.created_at > after),
  );
}

const idsOf = (cases: { case_id: string }[]) => cases.map(({ case_id }) => case_id);
const given = (filter: Filter) => Object.entries(filter).filter((each): each is [string, string] => each[1] !== undefined);

test("GET cases 200: overdue as a filter, with any other filter and sort, returns exactly the matching cases", async () => {
  const property = fc.asyncProperty(filters, fc.constantFrom(...wholeSorts), async (filter, sort) => {
    const found = await walk(new URLSearchParams([...given(filter), ["sort", sort]]));
    expect(idsOf(found).toSorted()).toEqual(idsOf(matching(filter)).toSorted());
  });
  await fc.assert(property, { numRuns: 60 });
});

test("GET cases 200: sort=due_at lists the open cases with a due time, page by page, with any filter", async () => {
  const property = fc.asyncProperty(filters, fc.constantFrom(1, 4, 1000), async (filter, limit) => {
    const found = await walk(new URLSearchParams([...given(filter), ["sort", "due_at"], ["limit", String(limit)]]));
    const wanted = matching(filter)
      .filter(({ status, due_at }) => status === "OPEN" && due_at !== undefined)
      .toSorted((a, b) => ascending(a.due_at, b.due_at) || ascending(a.case_id, b.case_id));
    expect(found.map(({ case_id, due_at }) => [case_id, due_at])).toEqual(wanted.map(({ case_id, due_at }) => [case_id, due_at]));
  });
  await fc.assert(property, { numRuns: 60 });
});

test("views: one by due time has the same cases as the list, and as many in its count", async () => {
  const wanted = { late: { overdue: true }, due: {}, "due, risky": { min_score: 2 } };
  for (const [name, filter] of Object.entries(wanted)) {
    const made = await tenant.call("POST", "/views", { body: { name, filter, sort: "due_at" } });
    expect(made.status, made.text).toBe(201);
    expect(made.json.data).toMatchObject({ filter, sort: "due_at" });
  }
  const { views } = (await tenant.call("GET", "/views")).json.data as { views: { view_id: string; name: string }[] };
  const { counts } = (await tenant.call("GET", "/views/counts")).json.data as { counts: { view_id: string; cases: number }[] };
  for (const [name, filter] of Object.entries(wanted)) {
    const id = views.find((each) => each.name === name)?.view_id;
    const query = new URLSearchParams([
      ...Object.entries(filter).map(([each, value]): [string, string] => [each, String(value)]),
      ["sort", "due_at"],
    ]);
    expect(counts.find(({ view_id }) => view_id === id)?.cases).toBe((await walk(query)).length);
  }
  const all = (await tenant.call("GET", "/cases/counts")).json.data as { overdue: number };
  expect(all.overdue).toBe((await walk(new URLSearchParams({ overdue: "true" }))).length);
});

async function dueColumn(query: string): Promise<(string | undefined)[]> {
  const response = await fetch(`http://127.0.0.1:${service.current.port}/v2/${tenant.slug}/cases?${query}`, {
    headers: { authorization: `Bearer ${tenant.token}`, accept: "text/csv" },
  });
  const [head = [], ...rows] = csvRecords(await response.text()).map(({ fields }) => fields);
  return rows.map((row) => row[head.indexOf("due_at")]);
}

test("GET cases 200 as CSV: the due times are a column, empty if a case has none", async () => {
  const late = await walk(new URLSearchParams({ overdue: "true", sort: "due_at" }));
  expect(await dueColumn("overdue=true&sort=due_at")).toEqual(late.map(({ due_at }) => due_at));
  const others = await walk(new URLSearchParams({ overdue: "false", sort: "created_at" }));
  expect(await dueColumn("overdue=false&sort=created_at")).toEqual(others.map(({ due_at = "" }) => due_at));
});

test("tenants: another tenant's overdue cases are neither listed nor counted", async () => {
  const other = await TestTenant.create(service.current);
  for (const query of ["overdue=true", "sort=due_at", "overdue=true&sort=due_at"]) expect(await other.list(query)).toEqual([]);
  expect((await other.call("GET", "/cases/counts")).json.data).toMatchObject({ overdue: 0 });
});

type Plan = { "Node Type": string; "Index Name"?: string; "Relation Name"?: string; Plans?: Plan[] };
const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];

// With few cases, the planner may rightly read all of them, so sorts and other scans are made expensive.
test.each([
  { filter: {}, sort: "due_at" as const, index: "cases_due" },
  { filter: { overdue: true as const }, sort: "due_at" as const, index: "cases_due" },
  { filter: { min_score: 2 }, sort: "due_at" as const, index: "cases_due_facets" },
])("list cases: $filter by $sort walks an index in order", async ({ filter, sort, index }) => {
  const sent: Statement[] = [];
  const recorder: Queryable = { query: (asked) => (sent.push(asked), Promise.resolve([])) };
  await listCases(recorder, tenant.tenantId, { filter, sort, after: null, limit: 25 });
  expect(sent).toHaveLength(1);
  const nodes = await service.current.database.transaction(async (tx) => {
    for (const kind of ["seqscan", "bitmapscan", "sort"]) await tx.query(statement(`set local enable_${kind} = off`, []));
    const text = (sent[0]?.text ?? "").replaceAll("$1", `'${tenant.tenantId}'`).replaceAll("$2", "25");
    const [row] = await tx.query<Row & { "QUERY PLAN": [{ Plan: Plan }] }>({
      name: "",
      text: `explain (format json) ${text}`,
      values: [],
    });
    return flatten(row?.["QUERY PLAN"][0].Plan ?? { "Node Type": "none" });
  });
  const scans = nodes.filter((node) => node["Relation Name"] === "cases");
  expect(new Set(scans.map((node) => node["Index Name"]))).toEqual(new Set([index]));
  expect(nodes.map((node) => node["Node Type"])).not.toContain("Sort");
});
