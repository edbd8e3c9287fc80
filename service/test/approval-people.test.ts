import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Case } from "../src/domain/case.ts";
import {
  close,
  closeAll,
  decide,
  nameOf,
  openCases,
  pair,
  readApproval,
  request,
  requested,
  seen,
  setApprovals,
} from "./approving.ts";
import { expectProblem, useService } from "./harness.ts";
import { Browser } from "./people.ts";

const service = useService();

const team = (settings: Parameters<typeof pair>[1] = {}) => pair(service.current, settings);
const blocks = { disposition: "CONFIRMED_FRAUD", reason: "The customer called.", account: { is_blocked: true } };

test("clients close as before, unless the tenant includes them; then 403, and they can neither request nor approve", async () => {
  const { tenant, ada } = await team({ blocking: true, bulk_over: 1 });
  const cases = await openCases(tenant, 5);
  const [first, second, third] = cases as [Case, Case, Case];
  expect((await close(tenant, first, blocks)).status).toBe(200);
  expect((await closeAll(tenant, [second, third])).status).toBe(200);
  await setApprovals(tenant, { blocking: true, bulk_over: 1, includes_clients: true });
  const refused = expectProblem(await close(tenant, cases[3] as Case, blocks), 403, "access-denied");
  expect(refused.detail).toContain("a person has to make this change");
  expectProblem(await closeAll(tenant, cases.slice(3)), 403, "access-denied");
  const blocking = { body: { is_blocked: true } };
  const path = `/enduseraccounts/${cases[3]?.website_account_id ?? ""}`;
  expectProblem(await tenant.call("PUT", path, blocking), 403, "access-denied");
  expectProblem(await request(tenant, { cases: seen(cases.slice(3)) }), 403, "access-denied");
  const made = await requested(ada, { cases: seen(cases.slice(3)) });
  expectProblem(await decide(tenant, made, "APPROVED"), 403, "access-denied");
  expectProblem(await decide(tenant, made, "WITHDRAWN"), 403, "access-denied");
  expect(await readApproval(tenant, made)).toMatchObject({ status: "PENDING" });
  expect((await decide(tenant, made, "REJECTED")).json.data).toMatchObject({ status: "REJECTED", decided_by: tenant.clientId });
});

test("the requester cannot approve: not in another session, as an admin, under another role or name, or with a client", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  const found = await tenant.openCase();
  const made = await requested(ada, { cases: seen([found]), ...blocks });
  const again = await Browser.signIn(service.current, ada.signedIn.user.email);
  for (const by of [ada, again]) {
    expectProblem(await decide(by, made, "APPROVED"), 403, "access-denied");
    expectProblem(await decide(by, made, "REJECTED"), 403, "access-denied");
  }
  await tenant.call("PUT", `/users/${ada.signedIn.user.user_id}`, { body: { role: "admin", name: "Ben" } });
  expectProblem(await decide(again, made, "APPROVED"), 403, "access-denied");
  const client = await again.call("POST", "/clients", {
    body: { scopes: ["update:case", "update:enduseraccount", "read:case"] },
  });
  const { client: own, client_secret } = client.json.data as { client: { client_id: string }; client_secret: string };
  const form = { grant_type: "client_credentials", client_id: own.client_id, client_secret };
  const issued = await fetch(`http://127.0.0.1:${service.current.port}/v2/oauth/token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const body = { status: "APPROVED" };
  const path = `/approvals/${made.approval_id}`;
  expectProblem(await tenant.call("PUT", path, { body, token }), 403, "access-denied");
  // If both a token and a cookie are sent, the token counts.
  const both = { authorization: `Bearer ${token}` };
  expectProblem(await ada.call("PUT", path, { body, headers: both }), 403, "access-denied");
  for (const more of [{ decided_by: nameOf(ben) }, { requested_by_id: randomUUID() }])
    expectProblem(await ada.call("PUT", path, { body: { ...body, ...more } }), 422, "validation-error");
  expect(await tenant.read(found.case_id)).toEqual(found);
  expect(await readApproval(ben, made)).toMatchObject({ status: "PENDING", requested_by: nameOf(ada) });
  expect((await decide(again, made, "WITHDRAWN")).json.data).toMatchObject({ status: "WITHDRAWN" });
  expectProblem(await decide(ben, made, "APPROVED"), 422, "validation-error");
});

test("PUT approval 403 and 422: the approver needs every scope of the close, and the requester must still be allowed to sign in", async () => {
  const { tenant, ada, ben } = await team({ blocking: true });
  await tenant.call("POST", "/lists", { body: { name: "devices", type: "device", kind: "block" } });
  const found = await tenant.openCase();
  const list_entries = [{ list: "devices", value: "d-1" }];
  const made = await requested(ada, { cases: seen([found]), ...blocks, list_entries });
  const roles: [string, string[]][] = [
    ["no-flags", ["read:case", "update:case", "update:lists"]],
    ["no-lists", ["read:case", "update:case", "update:enduseraccount"]],
    ["no-close", ["read:case", "update:enduseraccount", "update:lists"]],
  ];
  for (const [role, scopes] of roles) {
    await tenant.call("POST", "/roles", { body: { role, scopes } });
    await tenant.call("PUT", `/users/${ben.signedIn.user.user_id}`, { body: { role } });
    expectProblem(await decide(ben, made, "APPROVED"), 403, "access-denied");
  }
  await tenant.call("PUT", `/users/${ben.signedIn.user.user_id}`, { body: { role: "lead" } });
  await tenant.call("PUT", `/users/${ada.signedIn.user.user_id}`, { body: { is_disabled: true } });
  expectProblem(await decide(ben, made, "APPROVED"), 422, "validation-error");
  expect(await tenant.read(found.case_id)).toEqual(found);
  await tenant.call("PUT", `/users/${ada.signedIn.user.user_id}`, { body: { is_disabled: false } });
  expect((await decide(ben, made, "APPROVED")).status).toBe(200);
  const entries = (await tenant.call("GET", "/lists/devices/entries")).json.data as { entries: object[] };
  expect(entries.entries).toMatchObject([{ value: "d-1", added_by: nameOf(ada), from_case_id: found.case_id }]);
});
