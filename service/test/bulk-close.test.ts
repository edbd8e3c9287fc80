import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { BulkCloseResult } from "../src/domain/bulk-close.ts";
import type { Case } from "../src/domain/case.ts";
import { TestTenant, expectProblem, useService, type Answer, type Options } from "./harness.ts";

const service = useService();

type Wanted = { case_id: string; case_version: number };

function closeMany(tenant: TestTenant, body: unknown, key: string = randomUUID(), more: Options = {}): Promise<Answer> {
  return tenant.call("POST", "/cases/close", { body, key, ...more });
}

function resultsOf(answer: Answer): BulkCloseResult[] {
  expect(answer).toMatchObject({ status: 200, json: { data: { results: expect.any(Array) } } });
  return (answer.json.data as { results: BulkCloseResult[] }).results;
}

function wanted(...cases: (Case | string)[]): Wanted[] {
  return cases.map((each) => (typeof each === "string" ? { case_id: each, case_version: 1 } : pick(each)));
}

function pick({ case_id, case_version }: Case): Wanted {
  return { case_id, case_version };
}

async function tenantWithCases(count: number): Promise<{ tenant: TestTenant; cases: Case[] }> {
  const tenant = await TestTenant.create(service.current);
  const cases = await Promise.all(Array.from({ length: count }, () => tenant.openCase()));
  return { tenant, cases };
}

function readAll(tenant: TestTenant, cases: Case[]): Promise<Case[]> {
  return Promise.all(cases.map((each) => tenant.read(each.case_id)));
}

test("POST cases/close 200: each case gets its own result, in the order sent: closed, absent, stale, foreign, already closed", async () => {
  const { tenant, cases } = await tenantWithCases(3);
  const [first, stale, closed] = cases as [Case, Case, Case];
  const other = await TestTenant.create(service.current);
  const foreign = await other.openCase();
  await tenant.put(closed.case_id, { status: "CLOSED", case_version: 1 });
  const before = await readAll(tenant, cases);
  const absent = randomUUID();
  const list = [
    ...wanted(absent, first),
    { ...pick(stale), case_version: 9 },
    ...wanted(foreign, "no-uuid", first.case_id.toUpperCase()),
  ];
  const answer = await closeMany(tenant, {
    cases: [...list, { ...pick(closed), case_version: 2 }, { ...pick(closed), case_version: 1 }],
  });
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(resultsOf(answer)).toStrictEqual([
    { case_id: absent, status: 404, type: "item-not-found" },
    { case_id: first.case_id, status: 200, case_version: 2 },
    { case_id: stale.case_id, status: 409, type: "item-version-conflict", current_version: 1 },
    { case_id: foreign.case_id, status: 404, type: "item-not-found" },
    { case_id: "no-uuid", status: 404, type: "item-not-found" },
    { case_id: first.case_id.toUpperCase(), status: 404, type: "item-not-found" },
    { case_id: closed.case_id, status: 200, case_version: 2 },
    { case_id: closed.case_id, status: 409, type: "item-version-conflict", current_version: 2 },
  ]);
  expect((await readAll(tenant, cases)).slice(1)).toStrictEqual(before.slice(1));
  expect(await other.read(foreign.case_id)).toStrictEqual(foreign);
});

test("POST cases/close 200: every closed case looks as if PUT had closed it, with the list's reason and disposition", async () => {
  const { tenant, cases } = await tenantWithCases(3);
  const answer = await closeMany(tenant, { cases: wanted(...cases), reason: "One ring.", disposition: "CONFIRMED_FRAUD" });
  expect(resultsOf(answer)).toStrictEqual(cases.map((each) => ({ case_id: each.case_id, status: 200, case_version: 2 })));
  const after = await readAll(tenant, cases);
  after.forEach((found, index) => {
    const { current_state: earlier, ...kept } = cases[index] as Case;
    const changed = { case_status: "CLOSED", changed_by: tenant.clientId, reason: "One ring.", disposition: "CONFIRMED_FRAUD" };
    expect(found).toStrictEqual({
      ...kept,
      status: "CLOSED",
      case_version: 2,
      updated_at: found.current_state.changed_at,
      current_state: { ...earlier, ...changed, state_id: found.current_state.state_id, changed_at: expect.any(String) },
      state_history: [earlier],
    });
  });
  expect(new Set(after.map((each) => each.current_state.state_id)).size).toBe(3);
});

test("POST cases/close 200: a case listed twice is closed once", async () => {
  const { tenant, cases } = await tenantWithCases(1);
  const [only] = cases as [Case];
  const list = [1, 1, 2].map((version) => ({ case_id: only.case_id, case_version: version }));
  expect(resultsOf(await closeMany(tenant, { cases: list }))).toStrictEqual([
    { case_id: only.case_id, status: 200, case_version: 2 },
    { case_id: only.case_id, status: 409, type: "item-version-conflict", current_version: 2 },
    { case_id: only.case_id, status: 200, case_version: 2 },
  ]);
  expect(await tenant.read(only.case_id)).toMatchObject({ case_version: 2, state_history: [only.current_state] });
});

test("POST cases/close 200: accepts 500 cases in one list", async () => {
  const { tenant, cases } = await tenantWithCases(2);
  const [first, last] = cases as [Case, Case];
  const absent = Array.from({ length: 498 }, () => randomUUID());
  const results = resultsOf(await closeMany(tenant, { cases: wanted(first, ...absent, last) }));
  expect(results.map((each) => each.case_id)).toEqual([first.case_id, ...absent, last.case_id]);
  expect(results.map((each) => each.status)).toEqual([200, ...absent.map(() => 404), 200]);
});

const id = randomUUID();
const one = { case_id: id, case_version: 1 };
const invalid: [name: string, body: Record<string, unknown>, ...fields: string[]][] = [
  ["no list", {}, "cases"],
  ["an empty list", { cases: [] }, "cases"],
  ["501 entries", { cases: Array.from({ length: 501 }, () => one) }, "cases"],
  ["an object instead of a list", { cases: one }, "cases"],
  ["entries that are not objects", { cases: [id, null, [one]] }, "cases[1]", "cases[2]", "cases[3]"],
  ["an entry without a version", { cases: [{ case_id: id }] }, "cases[1].case_version"],
  ["an entry without an id", { cases: [{ case_version: 1 }] }, "cases[1].case_id"],
  ["an empty id", { cases: [{ ...one, case_id: "" }] }, "cases[1].case_id"],
  ["an id with U+0000", { cases: [{ ...one, case_id: "a\0" }] }, "cases[1].case_id"],
  ["a version that is not an integer", { cases: [one, { ...one, case_version: "1" }] }, "cases[2].case_version"],
  ["an unknown member in an entry", { cases: [{ ...one, status: "CLOSED" }] }, "cases[1].status"],
  ["an unknown member", { cases: [one], status: "CLOSED" }, "status"],
  ["an empty reason", { cases: [one], reason: "" }, "reason"],
  ["a reason of 1,001 characters", { cases: [one], reason: "x".repeat(1001) }, "reason"],
  ["an unknown disposition", { cases: [one], disposition: "MAYBE" }, "disposition"],
];

test.concurrent.each(invalid)(
  "POST cases/close 422: %s is reported by field, and nothing is applied",
  async (_name, body, ...fields) => {
    const { tenant, cases } = await tenantWithCases(1);
    const key = randomUUID();
    // If the error is inside the list, put a valid entry first, so that a partial application would show.
    const faulty = Array.isArray(body["cases"]) && fields[0] !== "cases";
    const sent = faulty ? { ...body, cases: [...wanted(...cases), ...(body["cases"] as unknown[])] } : body;
    const problem = expectProblem(await closeMany(tenant, sent, key), 422, "validation-error");
    expect(problem.errors?.map((each) => each.field)).toEqual(fields);
    expect(await readAll(tenant, cases)).toStrictEqual(cases);
    // A rejected request does not use up the key.
    expect(resultsOf(await closeMany(tenant, { cases: wanted(...cases) }, key))).toMatchObject([
      { status: 200, case_version: 2 },
    ]);
  },
);

test("POST cases/close 422: a version that would be rounded to the current one applies nothing", async () => {
  const { tenant, cases } = await tenantWithCases(2);
  const rawBody = JSON.stringify({ cases: wanted(...cases) }).replace(/:1}\]/, ":0.99999999999999999999}]");
  const problem = expectProblem(await closeMany(tenant, undefined, randomUUID(), { rawBody }), 422, "validation-error");
  expect(problem.errors).toEqual([{ field: "cases[1].case_version", message: "must be an integer" }]);
  expect(await readAll(tenant, cases)).toStrictEqual(cases);
});

test("POST cases/close 400 and 403: requires a key and update:case, and applies nothing without them", async () => {
  const { tenant, cases } = await tenantWithCases(1);
  const body = { cases: wanted(...cases) };
  expectProblem(await tenant.call("POST", "/cases/close", { body }), 400, "invalid-operation-id");
  expectProblem(await closeMany(tenant, body, "no key at all!"), 400, "invalid-operation-id");
  const token = await tenant.mint(["read:case", "read:cases"]);
  expectProblem(await closeMany(tenant, body, "key", { token }), 403, "access-denied");
  expect(await readAll(tenant, cases)).toStrictEqual(cases);
});

test("POST cases/close replay: the same list with the same key returns the first bytes and applies nothing again", async () => {
  const { tenant, cases } = await tenantWithCases(2);
  const key = randomUUID();
  const absent = randomUUID();
  const body = { cases: wanted(...cases, absent), reason: "Seen." };
  const first = await closeMany(tenant, body, key);
  expect(first.headers.get("idempotent-replayed")).toBeNull();
  for (const each of cases) await tenant.put(each.case_id, { status: "OPEN", case_version: 2 });
  const before = await readAll(tenant, cases);
  const spelled = `{"reason": "\\u0053een.", "cases": ${JSON.stringify(body.cases).replaceAll(":1}", ":1.0}")}}`;
  for (const more of [{}, { rawBody: spelled }]) {
    const again = await closeMany(tenant, body, key, more);
    expect({ text: again.text, type: again.headers.get("content-type") }).toEqual({ text: first.text, type: "application/json" });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  }
  expect(await readAll(tenant, cases)).toStrictEqual(before);
});

test("POST cases/close 409: a used key with another list, order or operation applies nothing", async () => {
  const { tenant, cases } = await tenantWithCases(3);
  const [first, second, third] = cases as [Case, Case, Case];
  const key = randomUUID();
  const stale = [first, second].map((each) => ({ ...pick(each), case_version: 9 }));
  expect(resultsOf(await closeMany(tenant, { cases: stale }, key)).map((each) => each.status)).toEqual([409, 409]);
  const others = [
    { cases: wanted(third) },
    { cases: stale.toReversed() },
    { cases: stale, reason: "Seen." },
    { cases: wanted(first, second) },
  ];
  for (const body of others) expectProblem(await closeMany(tenant, body, key), 409, "operation-idempotency-conflict");
  const put = await tenant.put(third.case_id, { status: "CLOSED", case_version: 1 }, key);
  expectProblem(put, 409, "operation-idempotency-conflict");
  expect(await readAll(tenant, cases)).toStrictEqual(cases);
});
