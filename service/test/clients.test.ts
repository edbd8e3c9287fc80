import { expect, test, vi } from "vitest";
import type { ApiClient } from "../src/domain/client.ts";
import { TestTenant, expectProblem, send, useService } from "./harness.ts";
import { Browser } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });

type Made = { client: ApiClient; client_secret: string };

async function make(tenant: TestTenant, scopes: string[]): Promise<Made> {
  const answer = await tenant.call("POST", "/clients", { body: { scopes } });
  expect(answer.status, answer.text).toBe(201);
  return answer.json.data;
}

async function list(tenant: TestTenant): Promise<ApiClient[]> {
  return ((await tenant.call("GET", "/clients")).json.data as { clients: ApiClient[] }).clients;
}

async function tokenOf(id: string, secret: string): Promise<string | null> {
  const rawBody = new URLSearchParams({ grant_type: "client_credentials", client_id: id, client_secret: secret }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const answer = await send(service.current.port, "POST", "/v2/oauth/token", { rawBody, headers });
  return answer.status === 200 ? (JSON.parse(answer.text) as { access_token: string }).access_token : null;
}

test("POST clients 201: the secret works for its scopes only, and no list shows it", async () => {
  const tenant = await TestTenant.create(service.current);
  const { client, client_secret: secret } = await make(tenant, ["read:cases", "read:cases", "read:tenant"]);
  expect(client).toMatchObject({ scopes: ["read:cases", "read:tenant"], is_primary: false });
  const token = await tokenOf(client.client_id, secret);
  expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
  expectProblem(await tenant.call("GET", "/rules", { token }), 403, "access-denied");
  const clients = await list(tenant);
  expect(clients.map(({ client_id: id }) => id)).toEqual([tenant.clientId, client.client_id]);
  const shown = ["client_id", "created_at", "is_primary", "scopes"];
  for (const each of clients) expect(Object.keys(each).toSorted()).toEqual(shown);
});

test("POST clients 403, 422: a caller cannot grant a scope that it lacks or that does not exist", async () => {
  const tenant = await TestTenant.create(service.current);
  const token = await tenant.mint(["manage:clients", "read:cases"]);
  const ask = (scopes: unknown) => tenant.call("POST", "/clients", { token, body: { scopes } });
  expectProblem(await ask(["read:cases", "update:case"]), 403, "access-denied");
  for (const scopes of [[], ["all"], "read:cases", null]) expectProblem(await ask(scopes), 422, "validation-error");
  expect((await list(tenant)).length).toBe(1);
  expect((await ask(["read:cases"])).status).toBe(201);
});

test("POST rotate 200: the previous secret works for another day, or not at all with revoke_now", async () => {
  const tenant = await TestTenant.create(service.current);
  const { client, client_secret: first } = await make(tenant, ["read:cases"]);
  const path = `/clients/${client.client_id}/rotate-secret`;
  const second = (await tenant.call("POST", path)).json.data as { client_secret: string; previous_secret_expires_at: string };
  expect((await list(tenant))[1]).toMatchObject({ previous_secret_expires_at: second.previous_secret_expires_at });
  for (const secret of [first, second.client_secret]) expect(await tokenOf(client.client_id, secret)).not.toBeNull();
  const third = (await tenant.call("POST", path, { body: { revoke_now: true } })).json.data as { client_secret: string };
  for (const secret of [first, second.client_secret]) expect(await tokenOf(client.client_id, secret)).toBeNull();
  expect(await tokenOf(client.client_id, third.client_secret)).not.toBeNull();
});

test("DELETE client 204: the client gets no more tokens, and its tokens stop working; another tenant cannot delete it", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const { client, client_secret: secret } = await make(tenant, ["read:cases"]);
  const token = await tokenOf(client.client_id, secret);
  const path = `/clients/${client.client_id}`;
  for (const [method, at] of [
    ["DELETE", path],
    ["POST", `${path}/rotate-secret`],
  ] as const) {
    expectProblem(await other.call(method, at), 404, "item-not-found");
  }
  expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
  expect((await tenant.call("DELETE", path)).status).toBe(204);
  await vi.waitFor(async () => expect((await tenant.call("GET", "/cases", { token })).status).toBe(401));
  expect(await tokenOf(client.client_id, secret)).toBeNull();
  expect((await list(tenant))[1]).toMatchObject({ revoked_at: expect.any(String) });
  expectProblem(await tenant.call("DELETE", path), 404, "item-not-found");
});

test("clients: an admin manages them in the browser under their own name; a lead cannot", async () => {
  const tenant = await TestTenant.create(service.current);
  const [admin, lead] = [await Browser.join(tenant, "admin"), await Browser.join(tenant, "lead")];
  const body = { scopes: ["read:cases"] };
  expectProblem(await lead.call("POST", "/clients", { body }), 403, "access-denied");
  const { client } = (await admin.call("POST", "/clients", { body })).json.data as Made;
  const database = await service.current.database.connect();
  const { rows } = await database.query("select actor, type from events where tenant_id = $1 and resource_id = $2", [
    tenant.tenantId,
    client.client_id,
  ]);
  await database.end();
  expect(rows).toEqual([{ type: "client.created", actor: `Ada Lovelace <${admin.signedIn.user.email}>` }]);
});
