import { randomBytes, randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { wholeSorts } from "../src/db/case-filters.ts";
import { insertCase } from "../src/db/cases.ts";
import { changeStatus, openCase, type CaseDocument } from "../src/domain/case.ts";
import { dispositions } from "../src/domain/disposition.ts";
import type { CaseListItem } from "../src/domain/case-item.ts";
import { checkFinding } from "../src/domain/random-check.ts";
import { uuidV7 } from "../src/domain/uuid.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

// The filters of closed cases: by outcome and by who closed them.
const service = useService();
const closers = ["Ada <ada@example.org>", "shop", "a&b=c d+é/ü"];
const outcomes = [...dispositions, undefined];
const accounts = ["UNKNOWN", "ann", "bob"];
const count = 96;
const baseMs = Date.parse("2026-03-01T12:00:00.000Z");
const iso = (ms: number) => new Date(ms).toISOString();
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
let tenant: TestTenant;
let all: CaseDocument[];

// Every fourth case is open, and every combination of the others exists.
function seeded(index: number): CaseDocument {
  const [state_id, createdMs] = [randomUUID(), baseMs + (index % 20) * 500];
  const ids = { case_id: uuidV7(createdMs, randomBytes(10)), state_id, occurrence_id: state_id, prediction_id: state_id };
  const owner = { tenant_id: tenant.tenantId, website_account_id: pick(accounts, index) };
  const score = index % 2 === 0 ? 1 : 2;
  const opened = openCase(owner, checkFinding({ moment: "entry", score }), ids, iso(createdMs)).document;
  if (index % 4 === 3) return opened;
  const disposition = pick(outcomes, Math.floor(index / 12));
  const actor = {
    name: pick(closers, Math.floor(index / 4)),
    state_id: randomUUID(),
    now: iso(baseMs + 60_000 + (index % 7) * 1000),
  };
  return changeStatus(opened, { status: "CLOSED", case_version: 1, ...(disposition && { disposition }) }, actor).document;
}

beforeAll(async () => {
  tenant = await TestTenant.create(service.current);
  all = Array.from({ length: count }, (_, index) => seeded(index));
  await tenant.service.database.transaction(async (tx) => {
    for (const document of all)
      await insertCase(tx, { document, subject: `seed:${document.case_id}`, end_user_is_blocked: false });
  });
});

async function walk(query: URLSearchParams): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    if (cursor !== "") query.set("cursor", cursor);
    const answer = await tenant.call("GET", `/cases?${query.toString()}`);
    expect(answer.status, answer.text).toBe(200);
    const page: { cases: CaseListItem[]; next_cursor: string | null } = answer.json.data;
    found.push(...page.cases.map(({ case_id }) => case_id));
    cursor = page.next_cursor;
  }
  return found;
}

const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const ascending = <T>(a: T, b: T) => (a === b ? 0 : a < b ? -1 : 1);
const touched = ({ updated_at, created_at }: CaseDocument) => updated_at ?? created_at;
const orders: Record<(typeof wholeSorts)[number], (a: CaseDocument, b: CaseDocument) => number> = {
  "-created_at": (a, b) => ascending(b.case_id, a.case_id),
  created_at: (a, b) => ascending(a.case_id, b.case_id),
  "-overall_risk_score": (a, b) => b.details.overall_risk_score - a.details.overall_risk_score || ascending(b.case_id, a.case_id),
  "-updated_at": (a, b) => ascending(touched(b), touched(a)) || ascending(b.case_id, a.case_id),
};

test("GET cases 200: outcome and closer, with any other filter and sort, return exactly the matching cases, page by page", async () => {
  const filters = fc.record({
    disposition: maybe(fc.constantFrom(...dispositions)),
    closed_by: maybe(fc.constantFrom(...closers, "nobody")),
    status: maybe(fc.constantFrom("OPEN", "CLOSED")),
    website_account_id: maybe(fc.constantFrom(...accounts)),
    min_score: maybe(fc.constantFrom("1", "2", "3")),
  });
  const property = fc.asyncProperty(
    filters,
    fc.constantFrom(...wholeSorts),
    fc.constantFrom(3, 1000),
    async (filter, sort, limit) => {
      const { disposition, closed_by, status, website_account_id: account, min_score: least } = filter;
      const wanted = all.filter(({ current_state: state, ...each }) => {
        const isClosed = each.status === "CLOSED";
        if (disposition !== undefined && !(isClosed && state.disposition === disposition)) return false;
        if (closed_by !== undefined && !(isClosed && state.changed_by === closed_by)) return false;
        if (status !== undefined && each.status !== status) return false;
        if (account !== undefined && each.website_account_id !== account) return false;
        return least === undefined || each.details.overall_risk_score >= Number(least);
      });
      const query = new URLSearchParams({ sort, limit: String(limit) });
      for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, value);
      expect(await walk(query)).toEqual(wanted.toSorted(orders[sort]).map(({ case_id }) => case_id));
    },
  );
  await fc.assert(property, { numRuns: 80 });
});

test("GET cases 200: a reopened case has neither outcome nor closer, and another tenant finds nothing", async () => {
  const own = await TestTenant.create(service.current);
  const { case_id } = await own.openCase("ann");
  await own.put(case_id, { status: "CLOSED", case_version: 1, disposition: "FALSE_POSITIVE" });
  const queries = ["disposition=FALSE_POSITIVE", `closed_by=${own.clientId}`];
  for (const query of queries) expect((await own.list(query)).map((each) => each.case_id)).toEqual([case_id]);
  expect(await tenant.list(`closed_by=${own.clientId}`)).toEqual([]);
  await own.put(case_id, { status: "OPEN", case_version: 2 });
  for (const query of queries) expect(await own.list(query)).toEqual([]);
});

test.each([
  "disposition=",
  "disposition=fraud",
  "disposition=null",
  "closed_by=",
  `closed_by=${"x".repeat(1001)}`,
  "closed_by=%00",
  "closed_by=a&closed_by=b",
])("GET cases 400: an invalid value is rejected: ?%s", async (query) => {
  expect(expectProblem(await tenant.call("GET", `/cases?${query}`), 400, "bad-request").errors).toBeNull();
});
