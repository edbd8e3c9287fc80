import { randomUUID } from "node:crypto";
import type { CaseDigest } from "@casehound/client";
import { expect, test } from "vitest";
import { claimsMax, type Claim } from "../src/domain/claim.ts";
import type { LoggedEvent } from "../src/domain/event.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { expectProblem, useService, TestTenant, type Answer } from "./harness.ts";
import { Browser } from "./people.ts";

const service = useService();

type Claimed = { case_id: string; claim?: Claim };

function claimOf(answer: Answer): Claimed {
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

async function eventsOf(tenant: TestTenant, caseId: string): Promise<LoggedEvent[]> {
  const answer = await tenant.call("GET", `/cases/${caseId}/events`);
  return (answer.json.data as { events: LoggedEvent[] }).events;
}

// Makes every claim of the tenant lapse.
async function lapse(tenant: TestTenant): Promise<void> {
  const text = "update case_leases set expires_at = now() - interval '1 millisecond' where tenant_id = $1";
  await service.current.database.query(statement(text, [tenant.tenantId]));
}

const path = (caseId: string) => `/cases/${caseId}/claim`;

// A tenant with a client and a person, who have different names.
async function team() {
  const tenant = await TestTenant.create(service.current);
  const ada = await Browser.join(tenant, "investigator");
  const { name, email } = ada.signedIn.user;
  const adas = `${name} <${email}>`;
  return { tenant, ada, adas };
}

test("PUT claim 200: it lasts 60 minutes, changes neither the case nor its version, and is an event", async () => {
  const tenant = await TestTenant.create(service.current);
  const found = await tenant.openCase();
  const own = path(found.case_id);
  expect(claimOf(await tenant.call("GET", own))).toEqual({ case_id: found.case_id });
  const { claim } = claimOf(await tenant.call("PUT", own));
  expect(claim?.claimed_by).toBe(tenant.clientId);
  expect(Date.parse(claim?.expires_at ?? "") - Date.parse(claim?.claimed_at ?? "")).toBe(60 * 60_000);
  expect(claimOf(await tenant.call("GET", own))).toEqual({ case_id: found.case_id, claim });
  expect(await tenant.read(found.case_id)).toEqual(found);
  const [last] = await eventsOf(tenant, found.case_id);
  expect(last).toMatchObject({ type: "case.claimed", actor: tenant.clientId, resource: { version: found.case_version } });
});

test("PUT claim 200: claiming again renews the lease, keeps the time of the claim, and is no further event", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const own = path(case_id);
  const first = claimOf(await tenant.call("PUT", own, { body: {} })).claim;
  const count = (await eventsOf(tenant, case_id)).length;
  const text = "update case_leases set expires_at = now() + interval '1 minute' where tenant_id = $1";
  await service.current.database.query(statement(text, [tenant.tenantId]));
  const again = claimOf(await tenant.call("PUT", own, { body: { take_over: false } })).claim;
  expect(again?.claimed_at).toBe(first?.claimed_at);
  expect(Date.parse(again?.expires_at ?? "")).toBeGreaterThanOrEqual(Date.parse(first?.expires_at ?? ""));
  expect(await eventsOf(tenant, case_id)).toHaveLength(count);
});

test("PUT claim 409: another holder keeps the claim, unless it is taken over", async () => {
  const { tenant, ada, adas } = await team();
  const { case_id } = await tenant.openCase();
  await tenant.call("PUT", path(case_id));
  const refused = expectProblem(await ada.call("PUT", path(case_id)), 409, "item-already-exists");
  expect(refused.detail).toContain(tenant.clientId);
  expect(claimOf(await tenant.call("GET", path(case_id))).claim?.claimed_by).toBe(tenant.clientId);
  const taken = claimOf(await ada.call("PUT", path(case_id), { body: { take_over: true } }));
  expect(taken.claim?.claimed_by).toBe(adas);
  const [last] = await eventsOf(tenant, case_id);
  expect(last).toMatchObject({ type: "case.claimed", actor: adas, data: { taken_from: tenant.clientId } });
});

test("PUT claim: of many at once, one gets the case and the others learn who has it", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const people = await Promise.all(Array.from({ length: 6 }, () => Browser.join(tenant, "investigator")));
  const answers = await Promise.all(people.map((each) => each.call("PUT", path(case_id))));
  const holders = answers.flatMap((answer, at) => (answer.status === 200 ? [people[at]?.signedIn.user.email] : []));
  expect(holders).toHaveLength(1);
  for (const answer of answers.filter(({ status }) => status !== 200))
    expect(expectProblem(answer, 409, "item-already-exists").detail).toContain(holders[0]);
});

test("a lapsed claim is nobody's, and anybody can claim the case", async () => {
  const { tenant, ada, adas } = await team();
  const { case_id } = await tenant.openCase();
  await tenant.call("PUT", path(case_id));
  await lapse(tenant);
  expect(claimOf(await tenant.call("GET", path(case_id))).claim).toBeUndefined();
  const answer = await ada.call("PUT", path(case_id));
  expect(claimOf(answer).claim?.claimed_by).toBe(adas);
  const [last] = await eventsOf(tenant, case_id);
  expect(last?.data).toBeUndefined();
});

test("DELETE claim 204: it ends the caller's own claim only, and can be repeated", async () => {
  const { tenant, ada, adas } = await team();
  const { case_id } = await tenant.openCase();
  await ada.call("PUT", path(case_id));
  expect((await tenant.call("DELETE", path(case_id))).status).toBe(204);
  expect(claimOf(await tenant.call("GET", path(case_id))).claim?.claimed_by).toBe(adas);
  for (const _ of [1, 2]) expect((await ada.call("DELETE", path(case_id))).status).toBe(204);
  expect(claimOf(await tenant.call("GET", path(case_id))).claim).toBeUndefined();
  const events = await eventsOf(tenant, case_id);
  expect(events.map(({ type, actor }) => ({ type, actor })).slice(0, 2)).toEqual([
    { type: "case.released", actor: adas },
    { type: "case.claimed", actor: adas },
  ]);
});

test("a claim prevents no change to the case by others, and a close ends it", async () => {
  const { tenant, ada } = await team();
  const found = await tenant.openCase();
  await ada.call("PUT", path(found.case_id));
  expect((await tenant.put(found.case_id, { status: "CLOSED", case_version: found.case_version })).status).toBe(200);
  expect(claimOf(await tenant.call("GET", path(found.case_id))).claim).toBeUndefined();
  const many = await tenant.openCase();
  await ada.call("PUT", path(many.case_id));
  const cases = [{ case_id: many.case_id, case_version: many.case_version }];
  await tenant.call("POST", "/cases/close", { body: { cases }, key: randomUUID() });
  expect(claimOf(await tenant.call("GET", path(many.case_id))).claim).toBeUndefined();
});

test("claims 404: an absent case, a malformed id, and another tenant's case, which keeps its claim", async () => {
  const tenant = await TestTenant.create(service.current);
  const other = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  await tenant.call("PUT", path(case_id));
  for (const method of ["GET", "PUT", "DELETE"]) {
    for (const id of [randomUUID(), "x", case_id]) expectProblem(await other.call(method, path(id)), 404, "item-not-found");
  }
  expect(claimOf(await tenant.call("GET", path(case_id))).claim?.claimed_by).toBe(tenant.clientId);
});

test("claims 403 and 422: reading does not claim, and unknown members are rejected", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const token = await tenant.mint(["read:case", "read:cases"]);
  for (const method of ["PUT", "DELETE"])
    expectProblem(await tenant.call(method, path(case_id), { token }), 403, "access-denied");
  const body = { take_over: "true", claimed_by: "somebody" };
  const problem = expectProblem(await tenant.call("PUT", path(case_id), { body }), 422, "validation-error");
  expect(problem.errors?.map(({ field }) => field)).toEqual(["take_over", "claimed_by"]);
  expect(claimOf(await tenant.call("GET", path(case_id))).claim).toBeUndefined();
});

test("PUT claim 422: one person or client cannot claim more than the maximum", async () => {
  const tenant = await TestTenant.create(service.current);
  const { case_id } = await tenant.openCase();
  const text = `
    insert into case_leases (tenant_id, case_id, claimed_by, claimed_at, expires_at)
    select $1, gen_random_uuid(), $2, now(), now() + interval '1 hour' from generate_series(1, $3::int)`;
  await service.current.database.query(statement(text, [tenant.tenantId, tenant.clientId, claimsMax]));
  expectProblem(await tenant.call("PUT", path(case_id)), 422, "validation-error");
  await lapse(tenant);
  expect((await tenant.call("PUT", path(case_id))).status).toBe(200);
});

test("GET cases?claimed_by: mine, nobody's and a colleague's, in every order and with other filters", async () => {
  const { tenant, ada, adas } = await team();
  const open = [];
  for (let at = 0; at < 4; at++) open.push(await tenant.openCase());
  const [mine, hers, ...free] = open.map(({ case_id }) => case_id);
  await tenant.call("PUT", path(mine ?? ""));
  await ada.call("PUT", path(hers ?? ""));
  const listed = async (query: string) => (await tenant.list(query)).map(({ case_id }) => case_id);
  for (const sort of ["-created_at", "-overall_risk_score", "-updated_at"]) {
    expect(await listed(`claimed_by=me&sort=${sort}`)).toEqual([mine]);
    expect(await listed(`claimed_by=${encodeURIComponent(adas)}&status=OPEN&sort=${sort}`)).toEqual([hers]);
    expect(await listed(`claimed_by=none&status=OPEN&min_score=2&sort=${sort}`)).toEqual(free.toReversed());
  }
  expect(await listed("claimed_by=none&sort=created_at")).toEqual(free);
  expect(await listed(`claimed_by=me&website_account_id=${open[1]?.website_account_id ?? ""}`)).toEqual([]);
  expect(await listed("claimed_by=me&label=Bot")).toEqual([]);
  expect(await listed("claimed_by=nobody-known")).toEqual([]);
  expectProblem(await tenant.call("GET", "/cases?claimed_by="), 400, "bad-request");
  await lapse(tenant);
  expect(await listed("claimed_by=none")).toHaveLength(4);
  expect(await listed("claimed_by=me")).toEqual([]);
});

test("GET cases?claimed_by: pages neither skip nor repeat a case, and a cursor belongs to its own filter", async () => {
  const tenant = await TestTenant.create(service.current);
  for (let at = 0; at < 3; at++) await tenant.call("PUT", path((await tenant.openCase()).case_id));
  const seen: string[] = [];
  let query = "limit=1&claimed_by=me";
  for (let at = 0; at < 3; at++) {
    const { cases, next_cursor } = (await tenant.call("GET", `/cases?${query}`)).json.data as {
      cases: { case_id: string }[];
      next_cursor: string | null;
    };
    seen.push(...cases.map(({ case_id }) => case_id));
    query = `limit=1&claimed_by=me&cursor=${encodeURIComponent(next_cursor ?? "")}`;
    if (at === 0) expectProblem(await tenant.call("GET", `/cases?${query.replace("=me", "=none")}`), 400, "bad-request");
  }
  expect(new Set(seen).size).toBe(3);
});

test("digests and counts show claims that have not lapsed", async () => {
  const { tenant, ada } = await team();
  const { case_id } = await tenant.openCase();
  const digest = async () => {
    const answer = await tenant.call("GET", `/cases/digests?case_ids=${case_id}`);
    return (answer.json.data as { case_digests: CaseDigest[] }).case_digests[0];
  };
  const count = async () => ((await ada.call("GET", "/cases/counts")).json.data as { claimed_by_me: number }).claimed_by_me;
  expect([(await digest())?.claim, await count()]).toEqual([undefined, 0]);
  const { claim } = claimOf(await ada.call("PUT", path(case_id)));
  expect([(await digest())?.claim, await count()]).toEqual([claim, 1]);
  await lapse(tenant);
  expect([(await digest())?.claim, await count()]).toEqual([undefined, 0]);
});
