import { randomBytes, randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { insertCase, type LockedCase } from "../src/db/cases.ts";
import { wholeSorts } from "../src/db/case-filters.ts";
import { changeStatus, joinCase, openCase } from "../src/domain/case.ts";
import { CaseListItem } from "../src/domain/case-item.ts";
import { actions, labels, type Finding } from "../src/domain/finding.ts";
import { scopes } from "../src/domain/scope.ts";
import { uuidV7 } from "../src/domain/uuid.ts";
import { TestTenant, expectProblem, send, useService, type Answer } from "./harness.ts";

type Page = { cases: CaseListItem[]; next_cursor: string | null };
type Seed = { account: string; createdMs: number; touchedMs: number | null; index: number; isBlocked: boolean };

const service = useService();
const seeds = 150;
const baseMs = Date.parse("2026-03-01T12:00:00.000Z");
const iso = (ms: number) => new Date(ms).toISOString();
// The list is never empty, so the index is always valid.
const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const oddAccount = "a&b=c d+é/ü";
const accounts = ["UNKNOWN", oddAccount, "unknown", "user-1", "user-2", "user-3", "user-4"];
let seeded: TestTenant;
let all: CaseListItem[];

function seededCase(tenantId: string, { account, createdMs, touchedMs, index, isBlocked }: Seed): LockedCase {
  const finding: Finding = {
    score: pick([1, 2, 3, 4, 5], index * 3),
    label: pick(labels, Math.floor(index / 2)),
    action: pick(actions, index),
    summary: "Seeded.",
    highlights: [],
    source: "server",
    session_id: undefined,
    session_status: "FINISHED",
    explanation: { fraud_reason: "Seeded", fraud_reason_description: "Seeded.", fraud_types: [], model_behaviour: null },
  };
  const [first, second] = [randomUUID(), randomUUID()];
  const ids = { case_id: uuidV7(createdMs, randomBytes(10)), state_id: first, occurrence_id: first, prediction_id: first };
  const opened = openCase({ tenant_id: tenantId, website_account_id: account }, finding, ids, iso(createdMs)).document;
  const actor = { name: "analyst", state_id: second, now: iso(touchedMs ?? createdMs) };
  const changed =
    index % 3 === 0
      ? joinCase(opened, finding, { ...ids, state_id: second, occurrence_id: second }, actor.now)
      : changeStatus(opened, { status: "CLOSED", case_version: 1 }, actor);
  const document = touchedMs === null ? opened : changed.document;
  return { document, subject: `seed:${ids.case_id}`, end_user_is_blocked: isBlocked };
}

function toItem({ document, end_user_is_blocked }: LockedCase): CaseListItem {
  const members: Record<string, unknown> = { ...document, ...document.details, end_user_is_blocked };
  const names = Object.keys(CaseListItem.properties).filter((name) => name !== "due_at");
  return Object.fromEntries(names.map((name) => [name, members[name] ?? null])) as CaseListItem;
}

// Several cases share each creation and change time, so that ties are common.
async function seed(tenant: TestTenant, count: number, fromMs = baseMs): Promise<CaseListItem[]> {
  const cases = Array.from({ length: count }, (_, index) => {
    const account = pick(accounts, index * 5);
    const createdMs = fromMs + (index % 40) * 500;
    const touchedMs = index % 4 === 0 ? null : fromMs + 20_000 + (index % 7) * 1000;
    const isBlocked = account !== "UNKNOWN" && accounts.indexOf(account) % 2 === 1;
    return seededCase(tenant.tenantId, { account, createdMs, touchedMs, index, isBlocked });
  });
  await tenant.service.database.transaction(async (tx) => {
    for (const each of cases) expect(await insertCase(tx, each)).toBe(true);
  });
  return cases.map(toItem);
}

const touched = (item: CaseListItem) => item.updated_at ?? item.created_at;
const ascending = <T>(a: T, b: T) => (a === b ? 0 : a < b ? -1 : 1);
const orders: Record<(typeof wholeSorts)[number], (a: CaseListItem, b: CaseListItem) => number> = {
  "-created_at": (a, b) => ascending(b.created_at, a.created_at) || ascending(b.case_id, a.case_id),
  created_at: (a, b) => ascending(a.created_at, b.created_at) || ascending(a.case_id, b.case_id),
  "-overall_risk_score": (a, b) => b.overall_risk_score - a.overall_risk_score || ascending(b.case_id, a.case_id),
  "-updated_at": (a, b) => ascending(touched(b), touched(a)) || ascending(b.case_id, a.case_id),
};

type Filter = { [name: string]: string | undefined };

const tests: Record<string, (item: CaseListItem, wanted: string) => boolean> = {
  status: (item, wanted) => item.status === wanted,
  website_account_id: (item, wanted) => item.website_account_id === wanted,
  user_is_blocked: (item, wanted) => String(item.end_user_is_blocked) === wanted,
  label: (item, wanted) => item.primary_fraud_label === wanted,
  min_score: (item, wanted) => item.overall_risk_score >= Number(wanted),
  created_after: (item, wanted) => item.created_at > wanted,
  created_before: (item, wanted) => item.created_at < wanted,
  updated_since: (item, wanted) => touched(item) >= wanted,
};

function matching(items: CaseListItem[], filter: Filter): CaseListItem[] {
  return items.filter((item) =>
    Object.entries(filter).every(([name, wanted]) => wanted === undefined || tests[name]?.(item, wanted)),
  );
}

function toQuery(parameters: Filter): URLSearchParams {
  const given = Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined);
  return new URLSearchParams(given);
}

async function page(tenant: TestTenant, query: URLSearchParams | string): Promise<Page & { link: string | null }> {
  const answer = await tenant.call("GET", `/cases?${query.toString()}`);
  expect(answer.status === 200 ? "" : answer.text).toBe("");
  return { ...(answer.json.data as Page), link: answer.headers.get("link") };
}

// Reads every page. All pages but the last must be full.
async function walk(tenant: TestTenant, query: URLSearchParams, limit: number): Promise<CaseListItem[]> {
  const found: CaseListItem[] = [];
  const asked = new URLSearchParams(query);
  asked.set("limit", String(limit));
  for (;;) {
    const { cases, next_cursor: cursor, link } = await page(tenant, asked);
    found.push(...cases);
    expect(cases.length).toBeLessThanOrEqual(limit);
    expect(link === null).toBe(cursor === null);
    if (cursor === null) return found;
    expect(cases).toHaveLength(limit);
    asked.set("cursor", cursor);
  }
}

beforeAll(async () => {
  seeded = await TestTenant.create(service.current);
  all = await seed(seeded, seeds);
});

test("GET cases 200: a list item holds ten members that match the case", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  const closed = await tenant.openCase();
  expect((await tenant.put(closed.case_id, { status: "CLOSED", case_version: 1 })).status).toBe(200);
  const answer = await tenant.call("GET", "/cases");
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(Object.keys(answer.json)).toEqual(["data"]);
  const wanted = [await tenant.read(closed.case_id), await tenant.read(opened.case_id)].map((each) => {
    const { end_user_is_blocked, ...document } = each;
    return toItem({ document, end_user_is_blocked, subject: "" });
  });
  expect(answer.json.data).toEqual({ cases: wanted, next_cursor: null });
});

const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 });

test("GET cases 200: paging with any filters and sort returns exactly the filtered and sorted cases", async () => {
  const times = fc.constantFrom(...new Set(all.flatMap((item) => [item.created_at, touched(item)])));
  const nearTimes = fc.tuple(times, fc.constantFrom(-1, 0, 1)).map(([time, ms]) => iso(Date.parse(time) + ms));
  const filters = fc.record({
    status: maybe(fc.constantFrom("OPEN", "CLOSED")),
    website_account_id: maybe(fc.constantFrom(...accounts, "nobody")),
    user_is_blocked: maybe(fc.constantFrom("true", "false")),
    label: maybe(fc.constantFrom(...labels)),
    min_score: maybe(fc.constantFrom("1", "2", "3", "4", "5")),
    created_after: maybe(nearTimes),
    created_before: maybe(nearTimes),
    updated_since: maybe(nearTimes),
  });
  const sort = fc.constantFrom(undefined, ...wholeSorts);
  const property = fc.asyncProperty(filters, sort, fc.constantFrom(1, 4, 25, 1000), async (filter, sort, limit) => {
    const wanted = matching(all, filter).toSorted(orders[sort ?? "-created_at"]);
    expect(await walk(seeded, toQuery({ ...filter, sort }), limit)).toEqual(wanted);
  });
  await fc.assert(property, { numRuns: 100 });
});

test.each(wholeSorts)("GET cases 200: paging in sort %s skips and repeats nothing, whatever the limit", async (sort) => {
  const wanted = all.toSorted(orders[sort]);
  for (const limit of [1, 7, 50, seeds - 1, seeds, seeds + 1, 1000]) {
    expect(await walk(seeded, toQuery({ sort }), limit)).toEqual(wanted);
  }
});

test.each(Object.entries(tests))("GET cases 200: the filter %s works alone, for every value", async (name, isMatch) => {
  const values: Record<string, string[]> = {
    status: ["OPEN", "CLOSED"],
    website_account_id: accounts,
    user_is_blocked: ["true", "false"],
    label: [...labels],
    min_score: ["1", "2", "3", "4", "5"],
  };
  for (const value of values[name] ?? [iso(baseMs + 5000), iso(baseMs + 15_500)]) {
    const wanted = all.filter((item) => isMatch(item, value)).toSorted(orders["-created_at"]);
    expect(wanted).not.toEqual([]);
    expect((await page(seeded, toQuery({ [name]: value }))).cases).toEqual(wanted);
  }
});

test("GET cases 200: user_is_blocked=false is the complement of true", async () => {
  const blocked = await walk(seeded, toQuery({ user_is_blocked: "true" }), 1000);
  const free = await walk(seeded, toQuery({ user_is_blocked: "false" }), 1000);
  expect([...blocked, ...free].toSorted(orders["-created_at"])).toEqual(all.toSorted(orders["-created_at"]));
});

test("GET cases 200: no match returns an empty array, no cursor and no Link", async () => {
  const nothing = { cases: [], next_cursor: null, link: null };
  expect(await page(seeded, "website_account_id=nobody")).toEqual(nothing);
  expect(await page(await TestTenant.create(service.current), "")).toEqual(nothing);
});

test("GET cases 200: unknown parameters are ignored, even if repeated or in another letter case", async () => {
  const { cases } = await page(seeded, "page=2&page=3&Status=nonsense&LIMIT=0&=x&%ZZ=1&status=OPEN");
  expect(cases).toEqual(matching(all, { status: "OPEN" }).toSorted(orders["-created_at"]));
});

test("GET cases 200: Link leads through the same list to its end", async () => {
  const filter = { website_account_id: oddAccount, sort: "-updated_at", limit: "4" };
  const found: CaseListItem[] = [];
  let path = `/v2/${seeded.slug}/cases?${toQuery(filter).toString()}`;
  while (path !== "") {
    const answer: Answer = await send(service.current.port, "GET", path, { token: seeded.token });
    expect(answer.status === 200 ? "" : answer.text).toBe("");
    const { cases, next_cursor: cursor } = answer.json.data as Page;
    found.push(...cases);
    const address = URL.parse(/^<([^>]+)>; rel="next"$/.exec(answer.headers.get("link") ?? "")?.[1] ?? "");
    expect(address?.searchParams.get("cursor") ?? null).toBe(cursor);
    expect(address?.origin ?? service.current.url).toBe(service.current.url);
    path = address ? `${address.pathname}${address.search}` : "";
  }
  expect(found).toEqual(matching(all, { website_account_id: oddAccount }).toSorted(orders["-updated_at"]));
  expect(found.length).toBeGreaterThan(8);
});

test.each(wholeSorts)("GET cases 200: sort %s shows each unchanged case once while others change", async (sort) => {
  const tenant = await TestTenant.create(service.current);
  const before = await seed(tenant, 30);
  const first = await page(tenant, toQuery({ sort, limit: "10" }));
  const later = await seed(tenant, 12, baseMs + 3000);
  const open = first.cases.find((item) => item.status === "OPEN");
  const change = { status: "CLOSED", case_version: open?.case_version };
  expect((await tenant.put(open?.case_id ?? "", change)).status).toBe(200);
  const rest = await walk(tenant, toQuery({ sort, cursor: first.next_cursor ?? "" }), 5);
  const seen = [...first.cases, ...rest].map((item) => item.case_id);
  const isOld = new Set(before.map((item) => item.case_id));
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((id) => isOld.has(id)).toSorted()).toEqual([...isOld].toSorted());
  expect(seen.every((id) => isOld.has(id) || later.some((item) => item.case_id === id))).toBe(true);
});

describe("GET cases 400", () => {
  const bad: Record<string, string[]> = {
    status: ["", "open", "OPENED", "CLOSED,OPEN", "OPEN%20", "%ZZ"],
    website_account_id: ["", "%00", "%ED%A0%80", "%C0%AF", "%"],
    user_is_blocked: ["", "TRUE", "True", "1", "0", "yes", "null", "true%20"],
    label: ["", "bot", "Account%20takeover", "Fraud"],
    min_score: ["", "0", "6", "-1", "1.5", "x", "1e0", "%2B1"],
    limit: ["", "0", "1001", "-1", "1.5", "1e2", "all", "99999999999999999999"],
    sort: ["", "updated_at", "overall_risk_score", "-status", "%2Bcreated_at", "-CREATED_AT", "created_at,case_id"],
    created_after: ["", "yesterday", "1767225600", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00:00%2B01:00"],
    created_before: ["", "2026-13-01T00:00:00.000Z", "2026-02-30T00:00:00.000Z", "2026-01-01T24:00:00.000Z"],
    updated_since: ["", "2026-01-01T00:60:00.000Z", "0000-01-01T00:00:00.000Z", "+02026-01-01T00:00:00.000Z", "infinity"],
    cursor: ["", "x", "AAAA", "null", "e30", "%00"],
  };
  const good = ["status=OPEN", "user_is_blocked=true", "label=Bot", "min_score=1", "limit=5", "sort=created_at"];
  const repeated = good.map((each) => `${each}&${each}`);
  const queries = Object.entries(bad).flatMap(([name, values]) => values.map((value) => `${name}=${value}`));

  test.each([...queries, ...repeated, ...Object.keys(bad), "status=OPEN&status=CLOSED"])(
    "an invalid value is rejected: ?%s",
    async (query) => {
      const problem = expectProblem(await seeded.call("GET", `/cases?${query}`), 400, "bad-request");
      expect(problem.errors).toBeNull();
    },
  );

  test("a cursor with any character changed is rejected", async () => {
    const cursor = (await page(seeded, "limit=5")).next_cursor ?? "";
    const changed = Array.from(cursor, (char, at) => `${cursor.slice(0, at)}${char === "A" ? "B" : "A"}${cursor.slice(at + 1)}`);
    expect(changed.length).toBeGreaterThan(50);
    for (const each of [...changed, cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, cursor.toLowerCase(), `%20${cursor}`]) {
      expectProblem(await seeded.call("GET", `/cases?limit=5&cursor=${each}`), 400, "bad-request");
    }
  });

  test("a cursor of another tenant, filter, sort or list is rejected; another limit is accepted", async () => {
    const given = { status: "OPEN", sort: "-updated_at", min_score: "2", limit: "5" };
    const cursor = (await page(seeded, toQuery(given))).next_cursor ?? "";
    const foreign = await TestTenant.create(service.current);
    await seed(foreign, 20);
    const others = [{ status: "CLOSED" }, { status: undefined }, { sort: "created_at" }, { sort: undefined }, { min_score: "3" }];
    for (const other of [...others, { label: "Bot" }, { created_after: iso(baseMs) }, { website_account_id: "user-1" }]) {
      expectProblem(await seeded.call("GET", `/cases?${toQuery({ ...given, ...other, cursor }).toString()}`), 400, "bad-request");
    }
    expectProblem(await foreign.call("GET", `/cases?${toQuery({ ...given, cursor }).toString()}`), 400, "bad-request");
    expectProblem(await seeded.call("GET", `/enduseraccounts?cursor=${cursor}`), 400, "bad-request");
    const rest = matching(all, { status: "OPEN", min_score: "2" }).toSorted(orders["-updated_at"]).slice(5, 8);
    expect((await page(seeded, toQuery({ ...given, limit: "3", cursor }))).cases).toEqual(rest);
  });
});

test("GET cases 403: read:cases is required, and no other scope is needed", async () => {
  const token = await seeded.mint(scopes.filter((scope) => scope !== "read:cases"));
  const answer = await seeded.call("GET", "/cases", { token });
  expectProblem(answer, 403, "access-denied");
  expect(answer.headers.get("www-authenticate")).toContain('scope="read:cases"');
  expect((await seeded.call("GET", "/cases", { token: await seeded.mint(["read:cases"]) })).status).toBe(200);
});
