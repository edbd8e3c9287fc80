import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import type { BulkCloseResult } from "../src/domain/bulk-close.ts";
import type { Case } from "../src/domain/case.ts";
import { TestTenant, expectProblem, send, useService, waitingText, type Answer } from "./harness.ts";

// Two services on one database, like two machines: nothing tested here may depend on the memory of one process.
const service = useService();
const second = useService({ roles: new Set(["api"]) });

const close = { status: "CLOSED", case_version: 1 };
const parallel = 50;

type Put = (id: string, body: unknown, key?: string) => Promise<Answer>;

// Sends PUTs to the two services in turn.
async function alternating(tenant: TestTenant): Promise<Put> {
  const grant = { clientId: tenant.clientId, tenantId: tenant.tenantId, slug: tenant.slug, expiresInSeconds: 600 };
  const token = await second.current.issuer.mint({ ...grant, scope: "update:case" });
  let calls = 0;
  return (id, body, key = randomUUID()) => {
    if (calls++ % 2 === 0) return tenant.put(id, body, key);
    return send(second.current.port, "PUT", `/v2/${tenant.slug}/cases/${id}`, { body, key, token });
  };
}

// Locks the row of a case, as a change that does not finish would.
async function holdCase(tenant: TestTenant, id: string) {
  const client = await service.current.database.connect();
  onTestFinished(() => client.end());
  await client.query("begin");
  await client.query("select 1 from cases where tenant_id = $1 and case_id = $2 for update", [tenant.tenantId, id]);
  const isAwaitedBy = (count: number) =>
    vi.waitFor(async () => expect((await client.query(waitingText())).rowCount).toBeGreaterThanOrEqual(count), {
      timeout: 5_000,
      interval: 10,
    });
  return { isAwaitedBy, release: () => client.query("rollback") };
}

function typesOf(answers: Answer[]): string[] {
  return answers.map((each) => (each.status === 200 ? "200" : each.json.type));
}

function isReplay(answer: Answer): boolean {
  return answer.headers.get("idempotent-replayed") === "true";
}

async function closedCases(tenant: TestTenant, account: string, count: number): Promise<Case[]> {
  const cases: Case[] = [];
  while (cases.length < count) {
    const opened = await tenant.openCase(account);
    expect((await tenant.put(opened.case_id, close)).status).toBe(200);
    cases.push(await tenant.read(opened.case_id));
  }
  return cases;
}

test("PUT case race: of 50 closes with different keys one wins, and the others get the version it created", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id: id } = await tenant.openCase();
  const put = await alternating(tenant);
  const answers = await Promise.all(Array.from({ length: parallel }, (_, n) => put(id, { ...close, reason: `close ${n}` })));
  const [won, ...rest] = answers.toSorted((a, b) => a.status - b.status) as [Answer, ...Answer[]];
  expect(won).toMatchObject({ status: 200, json: { data: { case_version: 2 } } });
  for (const lost of rest) expect(expectProblem(lost, 409, "item-version-conflict").current_version).toBe(2);
  expect(await tenant.read(id)).toStrictEqual(won.json.data);
});

test("PUT case race: 50 requests with the same key and body are one change, and all get the same bytes", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await tenant.openCase();
  const put = await alternating(tenant);
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: parallel }, () => put(before.case_id, close, key)));
  expect(new Set(answers.map((each) => `${each.status} ${each.text}`)).size).toBe(1);
  expect(answers.filter((each) => !isReplay(each))).toHaveLength(1);
  expect(await tenant.read(before.case_id)).toMatchObject({ case_version: 2, state_history: [before.current_state] });
});

test("PUT case race: of different bodies with one key, one is bound and all others are rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id: id } = await tenant.openCase();
  const put = await alternating(tenant);
  const key = randomUUID();
  const reasons = Array.from({ length: 24 }, (_, n) => `body ${n % 4}`);
  const answers = await Promise.all(reasons.map((reason) => put(id, { ...close, reason }, key)));
  const { current_state: state, case_version: version } = await tenant.read(id);
  expect(version).toBe(2);
  expect(typesOf(answers)).toEqual(reasons.map((each) => (each === state.reason ? "200" : "operation-idempotency-conflict")));
  expect(new Set(answers.filter((each) => each.status === 200).map((each) => each.text)).size).toBe(1);
  expect(answers.filter((each) => each.status === 200 && !isReplay(each))).toHaveLength(1);
});

test("PUT case race: one key used for two cases concurrently closes one of them", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await Promise.all([tenant.openCase(), tenant.openCase()]);
  const put = await alternating(tenant);
  const key = randomUUID();
  const answers = await Promise.all(cases.map((each) => put(each.case_id, close, key)));
  expect(typesOf(answers).toSorted()).toEqual(["200", "operation-idempotency-conflict"]);
  const after = await Promise.all(cases.map((each) => tenant.read(each.case_id)));
  expect(after.map((each) => each.case_version)).toEqual(answers.map((each) => (each.status === 200 ? 2 : 1)));
});

test("PUT case 409: a case that stays locked is transaction-contended; nothing is applied and the key is free", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await tenant.openCase();
  const id = before.case_id;
  const put = await alternating(tenant);
  const keys = [randomUUID(), randomUUID()] as const;
  const held = await holdCase(tenant, id);
  // The last two share a key, so the later one first waits for the earlier one.
  const refused = await Promise.all([put(id, close, keys[0]), put(id, close, keys[1]), put(id, close, keys[1])]);
  for (const each of refused) expectProblem(each, 409, "transaction-contended");
  // Reads continue meanwhile.
  expect(await tenant.read(id)).toStrictEqual(before);
  await held.release();
  expect(await tenant.read(id)).toStrictEqual(before);
  const other = await put(id, { ...close, reason: "Another body, because the key is still free." }, keys[0]);
  expect([other.status, isReplay(other)]).toEqual([200, false]);
  const same = await put(id, close, keys[1]);
  expect(expectProblem(same, 409, "item-version-conflict").current_version).toBe(2);
  expect(isReplay(same)).toBe(false);
});

test("PUT case: a duplicate in flight waits for the first and gets its result", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id: id } = await tenant.openCase();
  const put = await alternating(tenant);
  const key = randomUUID();
  const held = await holdCase(tenant, id);
  const first = put(id, close, key);
  await held.isAwaitedBy(1);
  const second = put(id, close, key);
  await held.isAwaitedBy(2);
  await held.release();
  const answers = await Promise.all([first, second]);
  expect(typesOf(answers)).toEqual(["200", "200"]);
  expect(answers.filter(isReplay)).toHaveLength(1);
  expect(answers[1].text).toBe(answers[0].text);
  expect((await tenant.read(id)).case_version).toBe(2);
});

test("PUT case 200: many requests waiting for a locked case do not delay the close of another", async () => {
  const tenant = await TestTenant.create(service.current);
  const [stuck, other] = await Promise.all([tenant.openCase(), tenant.openCase()]);
  const held = await holdCase(tenant, stuck.case_id);
  const waiting = Array.from({ length: 30 }, () => tenant.put(stuck.case_id, close));
  await held.isAwaitedBy(2);
  const answer = await tenant.put(other.case_id, close);
  await held.release();
  await Promise.all(waiting);
  expect(answer).toMatchObject({ status: 200, json: { data: { case_version: 2 } } });
});

test("PUT case race: of five concurrent reopens for one account one succeeds, and the others' details name that case", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await closedCases(tenant, "user-1", 5);
  const put = await alternating(tenant);
  const answers = await Promise.all(cases.map((each) => put(each.case_id, { status: "OPEN", case_version: 2 })));
  const winner = cases[answers.findIndex((each) => each.status === 200)]?.case_id ?? "none";
  for (const lost of answers.filter((each) => each.status !== 200))
    expect(expectProblem(lost, 409, "item-already-exists").detail).toContain(winner);
  expect((await tenant.list("status=OPEN")).map((each) => each.case_id)).toEqual([winner]);
  const after = await Promise.all(cases.map((each) => tenant.read(each.case_id)));
  expect(after.map((each) => each.case_version)).toEqual(cases.map((each) => (each.case_id === winner ? 3 : 2)));
});

// The final state for each response to the close. Nothing else is possible.
const outcomes: Record<string, string[]> = { "200": ["CLOSED 2", "OPEN 1"], "item-version-conflict": ["OPEN 2"] };

test.each(["close", "evidence"])(
  "PUT case race: with the %s first, the case is closed and a new one opened, or it is joined and the close rejected",
  async (first) => {
    const tenant = await TestTenant.create(service.current);
    const { case_id: id } = await tenant.openCase("user-1");
    const held = await holdCase(tenant, id);
    const closes: Promise<Answer>[] = [];
    const steps = [() => void closes.push(tenant.put(id, close)), () => tenant.report("user-1")];
    for (const [index, step] of (first === "close" ? steps : steps.toReversed()).entries()) {
      await step();
      await held.isAwaitedBy(index + 1);
    }
    await held.release();
    const [type = ""] = typesOf(await Promise.all(closes));
    await vi.waitFor(async () => {
      const listed = await tenant.list("website_account_id=user-1&sort=created_at");
      const found = await Promise.all(listed.map((each) => tenant.read(each.case_id)));
      expect(found.flatMap((each) => Object.keys(each.fraud_occurrences))).toHaveLength(2);
      expect(found.map((each) => `${each.status} ${each.case_version}`)).toEqual(outcomes[type]);
    }, 15_000);
  },
);

test("PUT case race: a reopen and new evidence leave one open case: the evidence joins the reopened case, or the reopen is rejected and names the new one", async () => {
  const tenant = await TestTenant.create(service.current);
  const closed = (await Promise.all(Array.from({ length: 8 }, (_, n) => closedCases(tenant, `user-${n}`, 1)))).flat();
  const put = await alternating(tenant);
  const reopen = (each: Case) => put(each.case_id, { status: "OPEN", case_version: 2 });
  // Half of the reopens come when the engine may be working, the others at once.
  const reported = closed.map((each) => tenant.report(each.website_account_id));
  const answers = await Promise.all(closed.map(async (each, n) => (await (n % 2 === 0 && reported[n]), reopen(each))));
  await Promise.all(reported);
  for (const [index, before] of closed.entries()) {
    await vi.waitFor(async () => {
      const listed = await tenant.list(`website_account_id=${before.website_account_id}&sort=created_at`);
      const shown = listed.map((each) => `${each.status} ${each.case_version}`);
      const isReopened = answers[index]?.status === 200;
      expect(shown).toEqual(isReopened ? ["OPEN 4"] : ["CLOSED 2", "OPEN 1"]);
      expect(isReopened || answers[index]?.json.detail.includes(listed[1]?.case_id ?? "none")).toBe(true);
    }, 15_000);
  }
  expect(typesOf(answers).filter((each) => each !== "200" && each !== "item-already-exists")).toEqual([]);
});

test("PUT account race: a concurrent flag and close of the account's case are both kept", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await Promise.all(Array.from({ length: 12 }, (_, n) => tenant.openCase(`user-${n}`)));
  const put = await alternating(tenant);
  const answers = await Promise.all(
    opened.flatMap((each) => [
      tenant.call("PUT", `/enduseraccounts/${each.website_account_id}`, { body: { is_blocked: true } }),
      put(each.case_id, close),
    ]),
  );
  expect(typesOf(answers)).toEqual(answers.map(() => "200"));
  const after = await Promise.all(opened.map((each) => tenant.read(each.case_id)));
  for (const each of after) expect(each).toMatchObject({ status: "CLOSED", case_version: 2, end_user_is_blocked: true });
  expect(await tenant.list("user_is_blocked=true&status=CLOSED")).toHaveLength(12);
  const accounts = await Promise.all(opened.map((each) => tenant.call("GET", `/enduseraccounts/${each.website_account_id}`)));
  for (const each of accounts) expect(each.json.data).toMatchObject({ is_blocked: true });
});

async function closeMany(tenant: TestTenant, ids: string[], key = randomUUID()): Promise<BulkCloseResult[]> {
  const body = { cases: ids.map((case_id) => ({ case_id, case_version: 1 })) };
  const answer = await tenant.call("POST", "/cases/close", { body, key });
  expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([200, null]);
  return (answer.json.data as { results: BulkCloseResult[] }).results;
}

function isHeld(index: number): boolean {
  return index === 1 || index === 3;
}

test("POST cases/close 200: a case that stays locked is reported as contended, the others are closed, and the key is not used up", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await Promise.all(Array.from({ length: 5 }, () => tenant.openCase()));
  const ids = cases.map((each) => each.case_id);
  const holds = await Promise.all(ids.filter((_, index) => isHeld(index)).map((id) => holdCase(tenant, id)));
  const key = randomUUID();
  const results = await closeMany(tenant, ids, key);
  await Promise.all(holds.map((each) => each.release()));
  const wanted = ids.map((case_id, index) =>
    isHeld(index) ? { case_id, status: 409, type: "transaction-contended" } : { case_id, status: 200, case_version: 2 },
  );
  expect(results).toStrictEqual(wanted);
  const after = await Promise.all(ids.map((id) => tenant.read(id)));
  expect(after.map((each) => each.case_version)).toEqual(ids.map((_, index) => (isHeld(index) ? 1 : 2)));
  expect(await closeMany(tenant, ids, key)).toStrictEqual(
    ids.map((case_id, index) =>
      isHeld(index)
        ? { case_id, status: 200, case_version: 2 }
        : { case_id, status: 409, type: "item-version-conflict", current_version: 2 },
    ),
  );
  const last = await Promise.all(ids.map((id) => tenant.read(id)));
  expect(last.map((each) => [each.status, each.case_version])).toEqual(ids.map(() => ["CLOSED", 2]));
});

test("POST cases/close race: lists in opposite order and single closes change each case once, and none is lost", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await Promise.all(Array.from({ length: 20 }, () => tenant.openCase()));
  const ids = cases.map((each) => each.case_id);
  const [there, back, singles] = await Promise.all([
    closeMany(tenant, ids),
    closeMany(tenant, ids.toReversed()),
    Promise.all(ids.map((id) => tenant.put(id, close))),
  ]);
  const after = await Promise.all(ids.map((id) => tenant.read(id)));
  ids.forEach((id, index) => {
    const outcomes = [there[index]?.status, back.find((each) => each.case_id === id)?.status, singles[index]?.status];
    expect(outcomes.toSorted((a = 0, b = 0) => a - b)).toEqual([200, 409, 409]);
    expect(after[index]).toMatchObject({ status: "CLOSED", case_version: 2 });
  });
});
