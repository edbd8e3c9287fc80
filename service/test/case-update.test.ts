import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import type { Case } from "../src/domain/case.ts";
import { createClient } from "../src/tenancy.ts";
import { TestTenant, expectProblem, useService, type Answer } from "./harness.ts";

const service = useService();

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const uuidV7 = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const wallClock = { now: () => new Date().toISOString() };
const text = expect.stringMatching(/./);
const systemState = { state_id: uuid, case_status: "OPEN", score: 5, changed_by: "system", reason: text };

function caseOf(answer: Answer): Case {
  expect(answer).toMatchObject({ status: 200 });
  expect(answer.headers.get("content-type")).toBe("application/json");
  return answer.json.data;
}

async function change(tenant: TestTenant, before: Case, wanted: Record<string, unknown>): Promise<Case> {
  return caseOf(await tenant.put(before.case_id, { case_version: before.case_version, ...wanted }));
}

// Sends a report that `openCase` cannot make and returns the one case it opens.
async function openFrom(tenant: TestTenant, account: string | undefined, more: Record<string, unknown>): Promise<Case> {
  const known = new Set((await tenant.list()).map((each) => each.case_id));
  await tenant.report(account, more);
  return vi.waitFor(async () => {
    const fresh = (await tenant.list()).filter((each) => !known.has(each.case_id));
    expect(fresh).toHaveLength(1);
    return tenant.read(fresh[0]?.case_id ?? "");
  }, 15_000);
}

// Returns two cases of one account: the first CLOSED, the second OPEN.
async function closedAndOpen(tenant: TestTenant): Promise<{ closed: Case; open: Case }> {
  const closed = await change(tenant, await tenant.openCase(), { status: "CLOSED" });
  return { closed, open: await tenant.openCase(closed.website_account_id) };
}

test("GET case 200: a case has exactly the members of the contract, each with its type", async () => {
  const tenant = await TestTenant.create(service.current);
  const attributes = { label: "Account Takeover", note: "The customer called." };
  const opened = await openFrom(tenant, "user-1", { session_id: "session-1", attributes });
  const [occurrenceId = ""] = Object.keys(opened.fraud_occurrences);
  expect(opened).toStrictEqual({
    case_id: uuidV7,
    tenant_id: tenant.tenantId,
    website_account_id: "user-1",
    session_id: "session-1",
    end_user_is_blocked: false,
    status: "OPEN",
    case_version: 1,
    created_at: time,
    updated_at: null,
    current_state: { ...systemState, session_status: "ACTIVE", changed_at: opened.created_at },
    state_history: [],
    details: {
      overall_risk_score: 5,
      primary_fraud_label: "Account Takeover",
      fraud_labels: ["Account Takeover"],
      summary: text,
      highlights: expect.arrayContaining([text]),
      recommended_action: expect.stringMatching(/^(MONITOR|CHALLENGE|BLOCK|ESCALATE)$/),
    },
    fraud_occurrences: {
      [occurrenceId]: {
        occurrence_id: occurrenceId,
        prediction_id: text,
        session_id: "session-1",
        generated_at: time,
        risk_score: 5,
        activity_type: "fraud_report",
        count: 1,
        first_at: time,
        last_at: time,
        explanation: {
          evidence_source: "server",
          evidence: "reported by your server",
          fraud_reason: text,
          fraud_reason_description: text,
          fraud_types: ["Account Takeover"],
          model_behaviour: [{ type: "rule", model_name: text, top_contributors: expect.any(Array) }],
        },
      },
    },
  });
});

test("GET case 200: a case without an account is UNKNOWN and never blocked, its session is empty, and unset members are omitted", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await openFrom(tenant, undefined, { device_id: "device-1" });
  expect(opened).toMatchObject({ website_account_id: "UNKNOWN", end_user_is_blocked: false, status: "OPEN", case_version: 1 });
  expect(opened.session_id).toBe("");
  expect(Object.values(opened.fraud_occurrences).map((each) => each.session_id)).toEqual([""]);
  expect(opened.current_state).not.toHaveProperty("disposition");
  expect(opened.current_state.session_status).toBe("FINISHED");
});

test("GET case 200: an account's block flag shows at once and changes neither version, time nor state", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await tenant.openCase("user-1");
  for (const isBlocked of [true, false]) {
    expect((await tenant.call("PUT", "/enduseraccounts/user-1", { body: { is_blocked: isBlocked } })).status).toBe(200);
    expect(await tenant.read(before.case_id)).toStrictEqual({ ...before, end_user_is_blocked: isBlocked });
  }
});

test("GET case 200: new evidence adds a state, an occurrence and a version", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await tenant.openCase("user-1");
  await tenant.report("user-1");
  const joined = await vi.waitFor(async () => {
    const found = await tenant.read(before.case_id);
    expect(found.case_version).toBe(2);
    return found;
  }, 15_000);
  expect(joined).toMatchObject({ status: "OPEN", current_state: { changed_by: "system", changed_at: joined.updated_at } });
  expect(joined.state_history).toStrictEqual([before.current_state]);
  expect(joined.current_state.state_id).not.toBe(before.current_state.state_id);
  expect(Object.keys(joined.fraud_occurrences)).toHaveLength(2);
});

test("GET case 404: a foreign id and an absent id return the same bytes apart from the id", async () => {
  const [tenant, other] = await Promise.all([TestTenant.create(service.current), TestTenant.create(service.current)]);
  const foreign = (await other.openCase()).case_id;
  const absent = randomUUID();
  const [first, second] = await Promise.all([foreign, absent].map((id) => tenant.call("GET", `/cases/${id}`)));
  expect(expectProblem(first as Answer, 404, "item-not-found").detail).toBe(`Case not found: ${foreign}`);
  expect(second?.text).toBe(first?.text.replace(foreign, absent));
});

test("GET case 403: read:case is the only scope required", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id: id } = await tenant.openCase();
  const token = await tenant.mint(["read:cases", "update:case"]);
  expectProblem(await tenant.call("GET", `/cases/${id}`, { token }), 403, "access-denied");
  expect((await tenant.call("GET", `/cases/${id}`, { token: await tenant.mint(["read:case"]) })).status).toBe(200);
});

test("PUT case 200: a close returns the whole case as a later read does, with the next version", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await tenant.openCase();
  const closed = await change(tenant, before, { status: "CLOSED", reason: "Seen.", disposition: "CONFIRMED_FRAUD" });
  const { state_id: _old, ...kept } = before.current_state;
  expect(closed).toStrictEqual({
    ...before,
    status: "CLOSED",
    case_version: 2,
    updated_at: time,
    current_state: {
      ...kept,
      state_id: uuid,
      case_status: "CLOSED",
      changed_at: closed.updated_at,
      changed_by: tenant.clientId,
      reason: "Seen.",
      disposition: "CONFIRMED_FRAUD",
    },
    state_history: [before.current_state],
  });
  expect(Date.parse(closed.updated_at ?? "")).toBeGreaterThanOrEqual(Date.parse(before.created_at));
  expect(await tenant.read(before.case_id)).toStrictEqual(closed);
});

test("PUT case 200: after close, reopen and close, the history holds every earlier state, oldest first", async () => {
  const tenant = await TestTenant.create(service.current);
  const steps = [await tenant.openCase()];
  for (const status of ["CLOSED", "OPEN", "CLOSED"]) {
    const last = steps.at(-1) as Case;
    steps.push(await change(tenant, last, { status, reason: `step ${steps.length}` }));
  }
  expect(steps.map((each) => each.case_version)).toEqual([1, 2, 3, 4]);
  expect(steps.map((each) => each.status)).toEqual(["OPEN", "CLOSED", "OPEN", "CLOSED"]);
  expect(steps.map((each) => each.current_state.case_status)).toEqual(steps.map((each) => each.status));
  expect(steps.at(-1)?.state_history).toStrictEqual(steps.slice(0, -1).map((each) => each.current_state));
  expect(new Set(steps.map((each) => each.current_state.state_id)).size).toBe(4);
});

test("PUT case 200: a reopened case has no disposition, rejects one, and takes new evidence again", async () => {
  const tenant = await TestTenant.create(service.current);
  const closed = await change(tenant, await tenant.openCase("user-1"), { status: "CLOSED", disposition: "FALSE_POSITIVE" });
  const refused = await tenant.put(closed.case_id, { status: "OPEN", case_version: 2, disposition: "FALSE_POSITIVE" });
  expect(expectProblem(refused, 422, "validation-error").errors?.map((each) => each.field)).toEqual(["disposition"]);
  expect(await tenant.read(closed.case_id)).toStrictEqual(closed);
  const reopened = await change(tenant, closed, { status: "OPEN" });
  expect(reopened.current_state).not.toHaveProperty("disposition");
  await tenant.report("user-1");
  await vi.waitFor(async () => expect((await tenant.read(closed.case_id)).case_version).toBe(4), 15_000);
  expect(await tenant.list("website_account_id=user-1")).toHaveLength(1);
});

test.each(["CLOSED", "OPEN"])("PUT case 200: %s on a case that already has this status changes nothing", async (status) => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  const before = status === "OPEN" ? opened : await change(tenant, opened, { status });
  const more = status === "OPEN" ? {} : { disposition: "INCONCLUSIVE" };
  expect(await change(tenant, before, { status, reason: "again", ...more })).toStrictEqual(before);
  expect(await tenant.read(before.case_id)).toStrictEqual(before);
});

test("PUT case 200: changed_by is the client that the token belongs to", async () => {
  const tenant = await TestTenant.create(service.current);
  const second = await createClient(service.current.database, { slug: tenant.slug, scopes: ["update:case"] }, wallClock);
  const grant = { clientId: second.client_id, tenantId: tenant.tenantId, slug: tenant.slug, expiresInSeconds: 60 };
  const token = await service.current.issuer.mint({ ...grant, scope: "update:case" });
  const { case_id: id } = await tenant.openCase();
  const closed = caseOf(await tenant.put(id, { status: "CLOSED", case_version: 1 }, randomUUID(), { token }));
  expect(closed.current_state.changed_by).toBe(second.client_id);
});

test.each([
  ["one character", "x"],
  ["1,000 characters outside the Basic Multilingual Plane", "\u{1f50e}".repeat(1000)],
  ["white space and both normalization forms", ' \t\né e\u0301 \u202e\u{10ffff}\\"</script> '],
])("PUT case 200: a reason of %s is returned as sent", async (_name, reason) => {
  const tenant = await TestTenant.create(service.current);
  const closed = await change(tenant, await tenant.openCase(), { status: "CLOSED", reason });
  expect(closed.current_state.reason).toBe(reason);
  expect((await tenant.read(closed.case_id)).current_state.reason).toBe(reason);
});

test("PUT case 200: each disposition is kept in the state, and a default reason is set if none is given", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const disposition of ["CONFIRMED_FRAUD", "FALSE_POSITIVE", "INCONCLUSIVE"]) {
    const closed = await change(tenant, await tenant.openCase(), { status: "CLOSED", disposition });
    expect(closed.current_state).toMatchObject({ disposition, reason: text });
  }
});

test("PUT case 409: a stale or future version applies nothing and returns the current one", async () => {
  const tenant = await TestTenant.create(service.current);
  const closed = await change(tenant, await tenant.openCase(), { status: "CLOSED" });
  for (const version of [1, 3, 0, -1, Number.MAX_SAFE_INTEGER]) {
    const refused = await tenant.put(closed.case_id, { status: "OPEN", case_version: version });
    expect(expectProblem(refused, 409, "item-version-conflict").current_version).toBe(2);
  }
  expect(await tenant.read(closed.case_id)).toStrictEqual(closed);
});

test("PUT case 409: a reopen is rejected while the account has another open case, and the detail contains its id", async () => {
  const tenant = await TestTenant.create(service.current);
  const { closed, open } = await closedAndOpen(tenant);
  const refused = await tenant.put(closed.case_id, { status: "OPEN", case_version: 2 });
  expect(expectProblem(refused, 409, "item-already-exists").detail).toContain(open.case_id);
  // The version is checked first.
  expectProblem(await tenant.put(closed.case_id, { status: "OPEN", case_version: 1 }), 409, "item-version-conflict");
  expect(await tenant.read(closed.case_id)).toStrictEqual(closed);
  expect(await tenant.read(open.case_id)).toStrictEqual(open);
  await change(tenant, open, { status: "CLOSED" });
  expect(await change(tenant, closed, { status: "OPEN" })).toMatchObject({ status: "OPEN", case_version: 3 });
});

test("PUT case 200: an open case without an account does not block a reopen for another device", async () => {
  const tenant = await TestTenant.create(service.current);
  const first = await openFrom(tenant, undefined, { device_id: "device-1" });
  const closed = await change(tenant, first, { status: "CLOSED" });
  await openFrom(tenant, undefined, { device_id: "device-2" });
  expect(await change(tenant, closed, { status: "OPEN" })).toMatchObject({ status: "OPEN", website_account_id: "UNKNOWN" });
});

const open = { status: "OPEN", case_version: 1 };
const close = { status: "CLOSED", case_version: 1 };
const invalid: [name: string, body: Record<string, unknown>, ...fields: string[]][] = [
  ["no status", { case_version: 1 }, "status"],
  ["an unknown status", { ...close, status: "PENDING" }, "status"],
  ["a status in another letter case", { ...close, status: "closed" }, "status"],
  ["null as the version", { ...close, case_version: null }, "case_version"],
  ["a version in a string", { ...close, case_version: "1" }, "case_version"],
  ["a version that is not an integer", { ...close, case_version: 1.5 }, "case_version"],
  ["a version beyond 2^53-1", { ...close, case_version: 2 ** 53 }, "case_version"],
  ["an empty reason", { ...close, reason: "" }, "reason"],
  ["a reason of 1,001 characters", { ...close, reason: "x".repeat(1001) }, "reason"],
  ["null as the reason", { ...close, reason: null }, "reason"],
  ["a reason with U+0000", { ...close, reason: "a\0b" }, "reason"],
  ["a reason with a lone surrogate", { ...close, reason: "a\ud800b" }, "reason"],
  ["an unknown disposition", { ...close, disposition: "MAYBE" }, "disposition"],
  ["null as the disposition", { ...close, disposition: null }, "disposition"],
  ["a disposition with OPEN", { ...open, disposition: "INCONCLUSIVE" }, "disposition"],
  ["a read-only member", { ...close, end_user_is_blocked: true }, "end_user_is_blocked"],
  ["faults in the order of the body", { nope: 1, reason: {}, case_version: 1, status: 1 }, "nope", "reason", "status"],
];

test.concurrent.each(invalid)("PUT case 422: %s is reported by field, and nothing is applied", async (_name, body, ...fields) => {
  const tenant = await TestTenant.create(service.current);
  const before = await tenant.openCase();
  const problem = expectProblem(await tenant.put(before.case_id, body), 422, "validation-error");
  expect(problem.errors?.map((each) => each.field)).toEqual(fields);
  expect(await tenant.read(before.case_id)).toStrictEqual(before);
});

test("PUT case 404: another tenant's case is not found and stays unchanged", async () => {
  const [tenant, other] = await Promise.all([TestTenant.create(service.current), TestTenant.create(service.current)]);
  const foreign = await other.openCase();
  const refused = expectProblem(await tenant.put(foreign.case_id, close), 404, "item-not-found");
  expect(refused.detail).toBe(`Case not found: ${foreign.case_id}`);
  expect(await other.read(foreign.case_id)).toStrictEqual(foreign);
});
