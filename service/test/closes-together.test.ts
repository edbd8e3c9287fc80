import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { closeTogether, fingerprint } from "../src/api/case-update.ts";
import type { CaseUpdate } from "../src/api/operation.ts";
import { clock } from "../src/clock.ts";
import { Database } from "../src/db/postgres/database.ts";
import { gatherWrites } from "../src/db/postgres/gather.ts";
import { statement } from "../src/db/postgres/sql.ts";
import type { Case, CaseChange } from "../src/domain/case.ts";
import { TestTenant, useService, type Answer } from "./harness.ts";

const service = useService();

type Way = { version?: number; key?: string };

function closeOf(tenant: TestTenant, id: string, { version = 1, key = randomUUID() }: Way = {}): CaseUpdate {
  const change: CaseChange = { status: "CLOSED", case_version: version };
  const caller = { tenant_id: tenant.tenantId, slug: tenant.slug, actor: tenant.clientId, scopes: new Set<string>() };
  const claim = { key, fingerprint: fingerprint({ method: "PUT", path: `/cases/${id}`, body: change }), caseId: id };
  return { caller, id, change, claim: { ...claim, now: clock.now() } };
}

async function together(tenant: TestTenant, updates: CaseUpdate[]) {
  const replies = await closeTogether(service.current.database, tenant.tenantId, { updates, newId: clock.newId });
  return replies.map((reply) => reply && { status: reply.status, json: JSON.parse(reply.body) });
}

function openCases(tenant: TestTenant, count: number): Promise<Case[]> {
  return Promise.all(Array.from({ length: count }, () => tenant.openCase()));
}

async function lastEvent({ tenantId }: TestTenant): Promise<{ last: number; events: number }> {
  const [row] = await service.current.database.query<{ last: number; events: number }>(
    statement(
      `select last_event_id as last, (select count(*) from events where tenant_id = $1) as events
       from event_counters where tenant_id = $1`,
      [tenantId],
    ),
  );
  return row ?? { last: 0, events: 0 };
}

// Locks the row of a case in another transaction.
async function hold(tenant: TestTenant, id: string): Promise<() => Promise<unknown>> {
  const client = await service.current.database.connect();
  onTestFinished(() => client.end());
  await client.query("begin");
  await client.query("select 1 from cases where tenant_id = $1 and case_id = $2 for update", [tenant.tenantId, id]);
  return () => client.query("rollback");
}

test("closes together: each gets its own outcome, and those that must be retried alone change nothing", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const [first, second, stale, held, known] = (await openCases(tenant, 5)) as [Case, Case, Case, Case, Case];
  const [foreign] = (await openCases(other, 1)) as [Case];
  await hold(tenant, held.case_id);
  const [usedKey, sharedKey] = [randomUUID(), randomUUID()];
  expect((await tenant.put(known.case_id, { status: "CLOSED", case_version: 9 }, usedKey)).status).toBe(409);
  const before = await lastEvent(tenant);
  const outcomes = await together(tenant, [
    closeOf(tenant, first.case_id, { key: sharedKey }),
    closeOf(tenant, stale.case_id, { version: 7 }),
    closeOf(tenant, held.case_id),
    closeOf(tenant, known.case_id, { key: usedKey }),
    closeOf(tenant, foreign.case_id),
    closeOf(tenant, randomUUID()),
    closeOf(tenant, first.case_id),
    closeOf(tenant, known.case_id, { key: sharedKey }),
    closeOf(tenant, second.case_id),
  ]);
  expect(outcomes.map((outcome) => outcome?.status ?? null)).toEqual([200, 409, null, null, null, null, null, null, 200]);
  expect(outcomes[1]?.json).toMatchObject({ type: "item-version-conflict", current_version: 1 });
  for (const [index, { case_id }] of [first, second].entries()) {
    const read = await tenant.read(case_id);
    expect(read).toMatchObject({ status: "CLOSED", case_version: 2 });
    expect(outcomes[index === 0 ? 0 : 8]?.json.data).toStrictEqual(read);
  }
  for (const { case_id } of [stale, held, known]) expect(await tenant.read(case_id)).toMatchObject({ case_version: 1 });
  expect(await other.read(foreign.case_id)).toStrictEqual(foreign);
  expect(await lastEvent(tenant)).toEqual({ last: before.last + 2, events: before.events + 2 });
});

test("closes together: a replay returns the original response byte for byte, rejections included", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await openCases(tenant, 3);
  const wanted = cases.map(({ case_id }, n) => ({
    id: case_id,
    key: randomUUID(),
    body: { status: "CLOSED", case_version: n === 1 ? 5 : 1, reason: `close ${n}` },
  }));
  const put = ({ id, key, body }: (typeof wanted)[number]) => tenant.put(id, body, key);
  const answers = await Promise.all(wanted.map(put));
  expect(answers.map(({ status }) => status)).toEqual([200, 409, 200]);
  const replays = await Promise.all(wanted.map(put));
  expect(replays.map(({ text }) => text)).toEqual(answers.map(({ text }) => text));
  for (const replay of replays) expect(replay.headers.get("idempotent-replayed")).toBe("true");
});

test("closes together: any key works, even one that means something to the database", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await openCases(tenant, 2);
  const updates = cases.map(({ case_id }, n) => closeOf(tenant, case_id, { key: ["null", "NULL"][n] ?? "" }));
  expect((await together(tenant, updates)).map((outcome) => outcome?.status)).toEqual([200, 200]);
});

test("closes together: a locked case does not delay the others", async () => {
  const tenant = await TestTenant.create(service.current);
  const [held, ...free] = (await openCases(tenant, 9)) as [Case, ...Case[]];
  const release = await hold(tenant, held.case_id);
  const close = { status: "CLOSED", case_version: 1 };
  let isHeldAnswered = false;
  const waiting = tenant.put(held.case_id, close).then((answer) => {
    isHeldAnswered = true;
    return answer;
  });
  const answers = await Promise.all(free.map(({ case_id }) => tenant.put(case_id, close)));
  expect(answers.map(({ status }) => status)).toEqual(free.map(() => 200));
  expect(isHeldAnswered).toBe(false);
  await release();
  expect((await waiting).status).toBe(200);
});

test("closes together: concurrent closes, reopens and repeats leave one chain of versions and one event per change", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await openCases(tenant, 6);
  const before = await lastEvent(tenant);
  const answers: Answer[] = [];
  const turn = async (id: string, n: number) => {
    const { case_version: version, status } = await tenant.read(id);
    const body = { status: status === "OPEN" ? "CLOSED" : "OPEN", case_version: version, reason: `turn ${n}` };
    const key = randomUUID();
    const both = await Promise.all([tenant.put(id, body, key), tenant.put(id, body, key)]);
    expect(both[0].text).toBe(both[1].text);
    answers.push(both[0]);
  };
  for (let n = 0; n < 4; n++) await Promise.all(cases.flatMap(({ case_id }) => [turn(case_id, n), turn(case_id, n + 100)]));
  const applied = answers.filter(({ status }) => status === 200);
  expect(applied.length).toBeGreaterThanOrEqual(cases.length * 4);
  expect(answers.filter(({ status }) => status !== 200).every(({ json }) => json.type === "item-version-conflict")).toBe(true);
  for (const { case_id } of cases) {
    const made = applied
      .map(({ json }) => json.data as unknown as Case)
      .flatMap((each) => (each.case_id === case_id ? [each.case_version] : []));
    expect(made.toSorted((a, b) => a - b)).toEqual(made.map((_, index) => index + 2));
  }
  expect(await lastEvent(tenant)).toEqual({ last: before.last + applied.length, events: before.events + applied.length });
});

test("closes together: if the transaction loses a race, nothing of it is kept and each close is retried alone", async () => {
  const tenant = await TestTenant.create(service.current);
  const cases = await openCases(tenant, 2);
  const updates = cases.map(({ case_id }) => closeOf(tenant, case_id));
  // The log's counter is locked, so the last statement waits and times out.
  const client = await service.current.database.connect();
  onTestFinished(() => client.end());
  await client.query("begin");
  await client.query("select 1 from event_counters where tenant_id = $1 for update", [tenant.tenantId]);
  expect(await together(tenant, updates)).toEqual([null, null]);
  await client.query("rollback");
  for (const { case_id } of cases) expect(await tenant.read(case_id)).toMatchObject({ status: "OPEN", case_version: 1 });
  expect((await together(tenant, updates)).map((outcome) => outcome?.status)).toEqual([200, 200]);
});

test("closes together: if the database is unreachable, every close fails and none is retried", async () => {
  const tenant = await TestTenant.create(service.current);
  const away = new Database({ host: join(tmpdir(), randomUUID()), user: "casehound", database: "postgres" });
  onTestFinished(() => away.end());
  const updates = [closeOf(tenant, randomUUID())];
  const tried = closeTogether(away, tenant.tenantId, { updates, newId: clock.newId });
  await expect(tried).rejects.toMatchObject({ code: "bad-gateway" });
});

test("gather: a tenant's second transaction starts once enough writes are waiting, and a third never does", async () => {
  const under: { writes: number[]; end: () => void }[] = [];
  const write = gatherWrites(
    (_tenantId: string, writes: number[]) => {
      return new Promise<number[]>((resolve) => under.push({ writes, end: () => resolve(writes) }));
    },
    { togetherMax: 10 },
  );
  const outcomes: Promise<number>[] = [];
  const ran = () => under.map(({ writes }) => writes);
  const come = async (each: number) => {
    outcomes.push(write("a", each));
    await setImmediate();
  };
  await come(1);
  await come(2);
  expect(ran()).toEqual([[1]]);
  for (const each of [3, 4, 5]) await come(each);
  expect(ran()).toEqual([[1], [2, 3]]);
  under[1]?.end();
  await vi.waitFor(() => expect(ran()).toEqual([[1], [2, 3], [4, 5]]));
  under[2]?.end();
  await setImmediate();
  await come(6);
  expect(ran()).toEqual([[1], [2, 3], [4, 5]]);
  under[0]?.end();
  await vi.waitFor(() => expect(ran()).toEqual([[1], [2, 3], [4, 5], [6]]));
  under[3]?.end();
  expect(await Promise.all(outcomes)).toEqual([1, 2, 3, 4, 5, 6]);
});

test("gather: writes that arrive during a transaction form the next ones, per tenant, each within the maximum size", async () => {
  const ran: [tenant: string, writes: number[]][] = [];
  const write = gatherWrites(
    async (tenantId: string, writes: number[]) => {
      ran.push([tenantId, writes]);
      await setImmediate();
      if (writes.includes(13)) throw new Error("unlucky");
      return writes.map((each) => each * 2);
    },
    { togetherMax: 3, atOnceMax: 1 },
  );
  const outcomes = [write("a", 1), write("a", 2), write("b", 1)];
  await setImmediate();
  outcomes.push(...[3, 4, 5, 6].map((each) => write("a", each)));
  expect(await Promise.all(outcomes)).toEqual([2, 4, 2, 6, 8, 10, 12]);
  expect(ran).toEqual([
    ["a", [1, 2]],
    ["b", [1]],
    ["a", [3, 4, 5]],
    ["a", [6]],
  ]);
  const failed = await Promise.allSettled([write("a", 13), write("a", 14), write("b", 2)]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(await write("a", 7)).toBe(14);
});
