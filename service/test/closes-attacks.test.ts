import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { sql } from "../src/db/postgres/sql.ts";
import type { Case } from "../src/domain/case.ts";
import { closeMembers } from "../src/engine/member-closes.ts";
import { dieEverywhere } from "./dying.ts";
import { snapshot } from "./engine-lab.ts";
import { expectProblem, TestTenant, useOwnDatabase, useService, type Answer } from "./harness.ts";
import { apply, listed, sendScored } from "./labels-lab.ts";

// What a client that may close cases could try with `members` and `occurrence_ids`. No engine runs here.
const url = useOwnDatabase("closes_attacks");
const service = useService({ databaseUrl: url, roles: new Set(["api"]) });

const login = (type: string, index: number) => ({
  activity_id: randomUUID(),
  type,
  occurred_at: new Date().toISOString(),
  website_account_id: `user-${index}`,
  ip: "192.0.2.7",
});

// Somebody tries 30 accounts from one address and gets into two of them.
async function attacked(): Promise<{ tenant: TestTenant; source: Case; own: Case[] }> {
  const tenant = await TestTenant.create(service.current);
  const tries = Array.from({ length: 30 }, (_, index) => login("login_failed", index));
  await sendScored(tenant, [...tries, login("login_succeeded", 10), login("login_succeeded", 11)]);
  const cases = await Promise.all((await tenant.list()).map(({ case_id }) => tenant.read(case_id)));
  const source = cases.find(({ website_account_id: account }) => account === "UNKNOWN");
  const own = cases.filter(({ details }) => details.campaign_case_id !== undefined);
  if (!source || own.length !== 2) throw new Error("there must be a case about the source and two others");
  return { tenant, source, own };
}

const closing = ({ case_version }: Case, more = {}) => ({
  status: "CLOSED",
  case_version,
  disposition: "FALSE_POSITIVE",
  ...more,
});
const together = (found: Case) => closing(found, { members: "same" });

async function closeWaiting({ tenantId }: TestTenant): Promise<number> {
  let closed = 0;
  for (let last = 1; last > 0; closed += last) last = await closeMembers({ database: service.current.database, clock }, tenantId);
  return closed;
}

async function statuses(tenant: TestTenant, cases: Case[]): Promise<string[]> {
  return Promise.all(cases.map(async ({ case_id }) => (await tenant.read(case_id)).status));
}

const changed = (answer: Answer): Case => {
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
};

test("PUT case 409: a used key with `members` or `occurrence_ids` added closes nothing more", async () => {
  const { tenant, source, own } = await attacked();
  const key = randomUUID();
  changed(await tenant.put(source.case_id, closing(source), key));
  const [occurrence = ""] = Object.keys(source.fraud_occurrences);
  for (const body of [together(source), closing(source, { occurrence_ids: [occurrence] })])
    expectProblem(await tenant.put(source.case_id, body, key), 409, "operation-idempotency-conflict");
  expect(await closeWaiting(tenant)).toBe(0);
  expect(await statuses(tenant, own)).toEqual(["OPEN", "OPEN"]);
});

test("PUT case: of five closes with `members` at once one counts, and two workers close each member once", async () => {
  const { tenant, source, own } = await attacked();
  const answers = await Promise.all(Array.from({ length: 5 }, () => tenant.put(source.case_id, together(source))));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 200)) expectProblem(answer, 409, "item-version-conflict");
  const closed = await Promise.all([closeWaiting(tenant), closeWaiting(tenant), closeWaiting(tenant)]);
  expect(closed.reduce((sum, each) => sum + each, 0)).toBe(2);
  const { events } = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: { type: string }[] };
  expect(events.filter(({ type }) => type === "case.closed")).toHaveLength(3);
  expect(await statuses(tenant, own)).toEqual(["CLOSED", "CLOSED"]);
});

test("PUT case: a case that is reopened and closed alone does not close the members that the first close named", async () => {
  const { tenant, source, own } = await attacked();
  const first = changed(await tenant.put(source.case_id, together(source)));
  const reopened = changed(await tenant.put(source.case_id, { status: "OPEN", case_version: first.case_version }));
  changed(await tenant.put(source.case_id, closing(reopened)));
  expect(await closeWaiting(tenant)).toBe(0);
  expect(await statuses(tenant, own)).toEqual(["OPEN", "OPEN"]);
});

test("PUT case: a member's case with evidence from after the close stays open", async () => {
  const { tenant, source, own } = await attacked();
  changed(await tenant.put(source.case_id, together(source)));
  const [first] = own;
  await tenant.report(first?.website_account_id);
  await sendScored(tenant, [login("logout", 99)]);
  expect((await tenant.read(first?.case_id ?? "")).case_version).toBeGreaterThan(first?.case_version ?? 0);
  expect(await closeWaiting(tenant)).toBe(1);
  expect(await statuses(tenant, own)).toEqual(["OPEN", "CLOSED"]);
});

test("PUT case: the case of a member that is erased after the close is closed under its pseudonym", async () => {
  const { tenant, source, own } = await attacked();
  changed(await tenant.put(source.case_id, together(source)));
  expect((await tenant.call("DELETE", `/enduseraccounts/${own[0]?.website_account_id ?? ""}`)).status).toBe(204);
  await closeWaiting(tenant);
  expect(
    await service.current.database.query(sql`select 1 as found from member_closes where tenant_id = ${tenant.tenantId}`),
  ).toEqual([]);
  expect((await tenant.read(own[0]?.case_id ?? "")).website_account_id).toMatch(/^erased-/);
  expect(await statuses(tenant, own)).toEqual(["CLOSED", "CLOSED"]);
});

test("PUT case 422: `occurrence_ids` with names of built-in members, of another case or tenant, or too many, change nothing", async () => {
  const [{ tenant, source, own }, other] = [await attacked(), await attacked()];
  const [mine] = own;
  if (!mine) throw new Error("there is a case");
  const names = ["__proto__", "constructor", "toString", "", "x".repeat(65), "a\0", "\ud800"];
  const foreign = [source, other.source].flatMap(({ fraud_occurrences }) => Object.keys(fraud_occurrences).slice(0, 1));
  const [known = ""] = Object.keys(mine.fraud_occurrences);
  const lists = [...[...names, ...foreign].map((id) => [id]), Array.from({ length: 101 }, () => known), [known, ...foreign]];
  for (const occurrence_ids of lists)
    expectProblem(await tenant.put(mine.case_id, closing(mine, { occurrence_ids })), 422, "validation-error");
  expect(await tenant.read(mine.case_id)).toEqual(mine);
  // The same occurrence a hundred times is one occurrence.
  const occurrence_ids = Array.from({ length: 100 }, () => known);
  changed(await tenant.put(mine.case_id, closing(mine, { occurrence_ids })));
  await apply(tenant);
  expect(await listed(tenant, "source=case")).toHaveLength(1);
});

const membersPath = (caseId: string, query: string) => `/cases/${caseId}/members?limit=1${query}`;

test("GET case members 400: a cursor of another case or another tenant is rejected", async () => {
  const [{ tenant, source, own }, other] = [await attacked(), await attacked()];
  const { next_cursor: cursor }: { next_cursor: string } = (await tenant.call("GET", membersPath(source.case_id, ""))).json.data;
  const query = `&cursor=${cursor}`;
  expect((await tenant.call("GET", membersPath(source.case_id, query))).status).toBe(200);
  expectProblem(await tenant.call("GET", membersPath(own[0]?.case_id ?? "", query)), 400, "bad-request");
  expectProblem(await other.tenant.call("GET", membersPath(other.source.case_id, query)), 400, "bad-request");
  expectProblem(await other.tenant.call("GET", membersPath(source.case_id, query)), 404, "item-not-found");
});

test("crash: a worker that dies at any statement closes no member, and the next one closes each once", async () => {
  const { tenant, source, own } = await attacked();
  const { database } = service.current;
  changed(await tenant.put(source.case_id, together(source)));
  const before = await snapshot({ url, database }, tenant.tenantId);
  const { result, steps } = await dieEverywhere(
    database,
    (dying) => closeMembers({ database: dying, clock }, tenant.tenantId),
    async () => expect(await snapshot({ url, database }, tenant.tenantId)).toEqual(before),
  );
  expect(result).toBe(2);
  expect(steps).toBeGreaterThan(6);
  expect(await statuses(tenant, own)).toEqual(["CLOSED", "CLOSED"]);
});
