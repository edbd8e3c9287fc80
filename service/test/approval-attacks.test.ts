import { randomUUID } from "node:crypto";
import { afterAll, expect, test, vi } from "vitest";
import { deleteAccount, lockAccount } from "../src/db/accounts.ts";
import { sql } from "../src/db/postgres/sql.ts";
import type { Case } from "../src/domain/case.ts";
import { decide, listed, nameOf, openCases, pair, request, requested, seen, setApprovals } from "./approving.ts";
import { ExternalIssuer, audience, tenantClaim, trust } from "./external-issuer.ts";
import { expectProblem, TestTenant, useService } from "./harness.ts";

const issuer = await ExternalIssuer.start();
afterAll(() => issuer.close());
const service = useService();
const trusting = useService({ trustedIssuers: [trust(issuer, { tenants: "*" })] });
const patience = { timeout: 30_000, interval: 50 };
const team = (settings: Parameters<typeof pair>[1] = {}) => pair(service.current, settings);
const blocks = { account: { is_blocked: true } };

test("PUT approval 422: the first person's role must still allow the close", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const made = await requested(ada, { cases: seen([found]), ...blocks });
  const roles: [string, string[]][] = [
    ["no-flags", ["read:case", "update:case"]],
    ["no-close", ["read:case", "update:enduseraccount"]],
  ];
  for (const [role, scopes] of roles) {
    await tenant.call("POST", "/roles", { body: { role, scopes } });
    await tenant.call("PUT", `/users/${ada.signedIn.user.user_id}`, { body: { role } });
    expectProblem(await decide(ben, made, "APPROVED"), 422, "validation-error");
  }
  expect(await tenant.read(found.case_id)).toEqual(found);
  await tenant.call("PUT", `/users/${ada.signedIn.user.user_id}`, { body: { role: "lead" } });
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
});

test("PUT approval 422: the first person must still be allowed to add to the list", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const setRole = async (who: typeof ada, role: string) =>
    expect(await tenant.call("PUT", `/users/${who.signedIn.user.user_id}`, { body: { role } })).toMatchObject({ status: 200 });
  for (const each of [ada, ben]) await setRole(each, "lead");
  await tenant.call("POST", "/lists", { body: { name: "known", type: "device", kind: "allow" } });
  const found = await tenant.openCase();
  const made = await requested(ada, { cases: seen([found]), list_entries: [{ list: "known", value: "d-1" }] });
  await setRole(ada, "investigator");
  expectProblem(await decide(ben, made, "APPROVED"), 422, "validation-error");
  expect(await tenant.read(found.case_id)).toEqual(found);
  await setRole(ada, "lead");
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
});

test("POST approvals check: names people only to those who may read cases", async () => {
  const { tenant, ada, ben } = await team({ blocking: true, includes_clients: true });
  const body = { cases: seen([await tenant.openCase()]), ...blocks };
  const check = async (scopes: string[]) => {
    const token = await tenant.mint(["update:case", "update:enduseraccount", ...scopes]);
    return (await tenant.call("POST", "/approvals/check", { body, token })).json.data;
  };
  expect(await check(["read:case"])).toMatchObject({ needs_approval: true, approvers: [nameOf(ada), nameOf(ben)] });
  expect(await check([])).toMatchObject({ needs_approval: true, approvers: [] });
});

test("PUT approval 422: an own disposition that counts as something else than at the request", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const define = async (version: number, disposition: string) =>
    expect(
      await tenant.call("PUT", "/dispositions", {
        body: { own_dispositions: [{ name: "Refund", disposition }], dispositions_version: version },
      }),
    ).toMatchObject({ status: 200 });
  await define(1, "FALSE_POSITIVE");
  const made = await requested(ada, { cases: seen([found]), own_disposition: "Refund" });
  expect(made.closing).toMatchObject({ own_disposition: "Refund", disposition: "FALSE_POSITIVE" });
  await define(2, "CONFIRMED_FRAUD");
  expectProblem(await decide(ben, made, "APPROVED"), 422, "validation-error");
  expect(await tenant.read(found.case_id)).toEqual(found);
  await define(3, "FALSE_POSITIVE");
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  expect((await tenant.read(found.case_id)).current_state).toMatchObject({ disposition: "FALSE_POSITIVE" });
});

test("PUT approval 422: a list that was changed or recreated after the request", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const list = { name: "devices", type: "device", kind: "block" };
  await tenant.call("POST", "/lists", { body: list });
  await tenant.call("PUT", `/users/${ben.signedIn.user.user_id}`, { body: { role: "lead" } });
  const ask = () => requested(ada, { cases: seen([found]), list_entries: [{ list: "devices", value: "d-1" }] });
  const first = await ask();
  expect((await tenant.call("PUT", "/lists/devices", { body: { kind: "allow" } })).status).toBe(200);
  expectProblem(await decide(ben, first, "APPROVED"), 422, "validation-error");
  expect((await tenant.call("PUT", "/lists/devices", { body: { kind: "block" } })).status).toBe(200);
  const second = await ask();
  expect((await tenant.call("DELETE", "/lists/devices")).status).toBe(204);
  expectProblem(await decide(ben, second, "APPROVED"), 422, "validation-error");
  await tenant.call("POST", "/lists", { body: { ...list, kind: "allow" } });
  expectProblem(await decide(ben, second, "APPROVED"), 422, "validation-error");
  expect(await tenant.read(found.case_id)).toEqual(found);
  expect((await tenant.call("GET", "/lists/devices/entries")).json.data).toMatchObject({ entries: [] });
});

const login = (type: string, account: string) => {
  const base = { activity_id: randomUUID(), type, occurred_at: new Date().toISOString() };
  return { ...base, website_account_id: account, ip: "192.0.2.7" };
};

test("members: a case that the attack opened after the request stays open when the request is approved", async () => {
  const { tenant, ada, ben } = await team({ bulk_over: 2 });
  const send = (activities: object[]) => tenant.call("POST", "/activities", { body: { activities } });
  const openOnes = (count: number) =>
    vi.waitFor(async () => {
      const open = await tenant.list("status=OPEN");
      expect(open).toHaveLength(count);
      return open;
    }, patience);
  await send(Array.from({ length: 30 }, (_, at) => login("login_failed", `user-${at}`)));
  await send([10, 11].map((at) => login("login_succeeded", `user-${at}`)));
  const source = (await openOnes(3)).find(({ website_account_id: account }) => account === "UNKNOWN") as unknown as Case;
  const made = await requested(ada, { cases: seen([source]), disposition: "FALSE_POSITIVE", members: "same" });
  await send([login("login_succeeded", "user-12")]);
  await openOnes(4);
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  const [left] = await openOnes(1);
  expect(left).toMatchObject({ website_account_id: "user-12" });
});

test("bulk: many closes at once with a token of another issuer cannot pass the limit together", async () => {
  const tenant = await TestTenant.create(trusting.current);
  await setApprovals(tenant, { bulk_over: 3, includes_clients: true });
  const cases = await openCases(tenant, 8);
  const exp = Math.floor(Date.now() / 1000) + 600;
  const claims = { iss: issuer.url, aud: audience, exp, scope: "update:case", [tenantClaim]: tenant.slug, sub: "crm" };
  const token = await issuer.sign(claims);
  const answers = await Promise.all(
    cases.map(({ case_id, case_version }) =>
      tenant.call("PUT", `/cases/${case_id}`, { body: { status: "CLOSED", case_version }, key: randomUUID(), token }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 403]));
  expect(await tenant.list("status=CLOSED")).toHaveLength(3);
});

test("race: a request about an account waits for its erasure, and is then refused", async () => {
  const { tenant, ada } = await team({ blocking: true });
  const { website_account_id: account } = await tenant.openCase();
  const { database } = service.current;
  const { asked } = await database.transaction(async (tx) => {
    await lockAccount(tx, tenant.tenantId, account);
    const [own] = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    const waits = sql`select 1 as one from pg_stat_activity where ${own?.pid} = any(pg_blocking_pids(pid))`;
    const answer = request(ada, { website_account_id: account, ...blocks, note: `Jane is ${account}` });
    await Promise.race([answer, vi.waitFor(async () => expect(await database.query(waits)).toHaveLength(1), patience)]);
    await deleteAccount(tx, tenant.tenantId, account);
    return { asked: answer };
  });
  expectProblem(await asked, 404, "item-not-found");
  expect(await listed(ada)).toEqual([]);
});
