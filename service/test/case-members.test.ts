import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { lockCasesById } from "../src/db/cases.ts";
import { sql } from "../src/db/postgres/sql.ts";
import type { Case } from "../src/domain/case.ts";
import type { CaseMember } from "../src/domain/member.ts";
import { expectProblem, TestTenant, useService, type Answer } from "./harness.ts";
import { findTraces } from "./traces.ts";

const service = useService();
const patience = { timeout: 30_000, interval: 50 };

const login = (type: string, account: string, more = {}) => ({
  activity_id: randomUUID(),
  type,
  occurred_at: new Date().toISOString(),
  website_account_id: account,
  ip: "192.0.2.7",
  ...more,
});

async function post(tenant: TestTenant, activities: unknown[]): Promise<void> {
  const answer = await tenant.call("POST", "/activities", { body: { activities } });
  expect(answer.status, answer.text).toBe(202);
}

async function membersOf(tenant: TestTenant, caseId: string, query = ""): Promise<CaseMember[]> {
  const answer = await tenant.call("GET", `/cases/${caseId}/members?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return pageOf(answer).members;
}

type Page = { members: CaseMember[]; next_cursor: string | null };
const pageOf = ({ json }: Answer) => json.data as Page;

// Somebody tries 30 accounts from one address and gets into two of them. Another of the accounts has a case of its own.
async function attacked(): Promise<{ tenant: TestTenant; source: Case; own: Case[]; other: Case }> {
  const tenant = await TestTenant.create(service.current);
  const other = await tenant.openCase("user-20");
  await post(
    tenant,
    Array.from({ length: 30 }, (_, index) => login("login_failed", `user-${index}`)),
  );
  await post(
    tenant,
    [10, 11, 20].map((index) => login("login_succeeded", `user-${index}`)),
  );
  const cases = await vi.waitFor(async () => {
    const open = await tenant.list("status=OPEN");
    expect(open).toHaveLength(4);
    return Promise.all(open.map(({ case_id }) => tenant.read(case_id)));
  }, patience);
  const source = cases.find(({ website_account_id: account }) => account === "UNKNOWN");
  if (!source) throw new Error("there is no case about the source");
  const own = cases.filter(({ details }) => details.campaign_case_id === source.case_id);
  return { tenant, source, own, other };
}

test("GET case members 200: lists all accounts in pages, entered accounts first, with their own cases", async () => {
  const { tenant, source, own } = await attacked();
  const { members } = await tenant.read(source.case_id).then(({ details }) => details);
  const all = await membersOf(tenant, source.case_id);
  expect(all).toHaveLength(members?.count ?? 0);
  expect(all.slice(0, 3).map(({ website_account_id: account, state }) => [account, state])).toEqual([
    ["user-10", "entered"],
    ["user-11", "entered"],
    ["user-20", "entered"],
  ]);
  expect(all.filter(({ case_id }) => case_id !== undefined)).toMatchObject([
    { website_account_id: "user-10", case_status: "OPEN" },
    { website_account_id: "user-11", case_status: "OPEN" },
  ]);
  expect(new Set(all.flatMap(({ case_id }) => case_id ?? []))).toEqual(new Set(own.map(({ case_id }) => case_id)));
  const paged: CaseMember[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const answer = await tenant.call(
      "GET",
      `/cases/${source.case_id}/members?limit=7${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    paged.push(...pageOf(answer).members);
    cursor = pageOf(answer).next_cursor;
  }
  expect(paged).toEqual(all);
  const digest = await tenant.call("GET", `/cases/digests?case_ids=${source.case_id}`);
  expect((digest.json.data as { case_digests: unknown }).case_digests).toMatchObject([
    { subject: { kind: "address", id: "192.0.2.7" }, members: members?.count },
  ]);
});

test("GET case members 404 without the case; 200 and empty for a case about an account", async () => {
  const { tenant, own } = await attacked();
  expectProblem(await tenant.call("GET", `/cases/${randomUUID()}/members`), 404, "item-not-found");
  expect(await membersOf(tenant, own[0]?.case_id ?? "")).toEqual([]);
});

test("PUT case 200: with members `same`, the cases that the attack opened are closed with the same outcome, and no others", async () => {
  const { tenant, source, own, other } = await attacked();
  const current = await tenant.read(source.case_id);
  const body = { status: "CLOSED", case_version: current.case_version, disposition: "CONFIRMED_FRAUD", members: "same" };
  const key = randomUUID();
  const closed = await tenant.put(source.case_id, body, key);
  expect(closed.status, closed.text).toBe(200);
  const { changed_by } = (closed.json.data as Case).current_state;
  await expectClosed(tenant, own, {
    disposition: "CONFIRMED_FRAUD",
    reason: `Closed together with case ${source.case_id}.`,
    changed_by,
  });
  await expectNoneWaiting(tenant);
  expect((await tenant.read(other.case_id)).status).toBe("OPEN");
  // A repeat under the same key closes nothing again.
  const reopened = await tenant.read(own[0]?.case_id ?? "");
  expect((await tenant.put(reopened.case_id, { status: "OPEN", case_version: reopened.case_version })).status).toBe(200);
  const again = await tenant.put(source.case_id, body, key);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  await expectNoneWaiting(tenant);
  expect((await tenant.read(reopened.case_id)).status).toBe("OPEN");
});

async function expectClosed(tenant: TestTenant, own: Case[], state: object): Promise<void> {
  for (const { case_id } of own)
    await vi.waitFor(
      async () => expect((await tenant.read(case_id)).current_state).toMatchObject({ case_status: "CLOSED", ...state }),
      patience,
    );
}

const waiting = ({ tenantId }: TestTenant) =>
  service.current.database.query(sql`select case_id from member_closes where tenant_id = ${tenantId}`);

async function expectNoneWaiting(tenant: TestTenant): Promise<void> {
  await vi.waitFor(async () => expect(await waiting(tenant)).toEqual([]), patience);
}

test("PUT case 200: with members `same`, the response does not wait for a member's locked case, which is closed later with the given reason", async () => {
  const { tenant, source, own } = await attacked();
  const { case_version } = await tenant.read(source.case_id);
  const body = { status: "CLOSED", case_version, disposition: "FALSE_POSITIVE", reason: "A test of our own.", members: "same" };
  await service.current.database.transaction(async (tx) => {
    const [held] = await lockCasesById(
      tx,
      tenant.tenantId,
      own.map(({ case_id }) => case_id),
    );
    const closed = await tenant.put(source.case_id, body);
    expect(closed.status, closed.text).toBe(200);
    expect(held?.document.status).toBe("OPEN");
  });
  await expectClosed(tenant, own, { disposition: "FALSE_POSITIVE", reason: "A test of our own." });
});

test("PUT case 409: with a stale version, members `same` closes nothing; 422 with the status OPEN", async () => {
  const { tenant, source, own } = await attacked();
  const stale = { status: "CLOSED", case_version: 99, disposition: "FALSE_POSITIVE", members: "same" };
  expectProblem(await tenant.put(source.case_id, stale), 409, "item-version-conflict");
  expect(await waiting(tenant)).toEqual([]);
  for (const { case_id } of own) expect((await tenant.read(case_id)).status).toBe("OPEN");
  const opening = await tenant.put(source.case_id, { status: "OPEN", case_version: 1, members: "same" });
  expect(opening.status).toBe(422);
});

test("DELETE account 204: a case that lists the account keeps its count and only a pseudonym", async () => {
  const { tenant, source } = await attacked();
  const account = "user-25-to-be-erased";
  await post(tenant, [login("login_failed", account), login("login_succeeded", account)]);
  await vi.waitFor(async () => expect(await findTraces(tenant, account)).toContain("case_members"), patience);
  const before = await tenant.read(source.case_id);
  expect((await tenant.call("DELETE", `/enduseraccounts/${account}`)).status).toBe(204);
  expect(await findTraces(tenant, account)).toEqual([]);
  const after = await tenant.read(source.case_id);
  expect(after.details.members?.count).toBe(before.details.members?.count);
  expect(await membersOf(tenant, source.case_id)).toHaveLength(after.details.members?.count ?? 0);
});
