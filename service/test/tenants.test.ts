import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { findClient, saveRevoked } from "../src/db/tenants.ts";
import { createClient, createTenant } from "../src/tenancy.ts";
import { TestTenant, expectProblem, send, useService, type Options } from "./harness.ts";

const service = useService();
const dayMs = 24 * 60 * 60 * 1000;

type Rotated = { client_id: string; client_secret: string; previous_secret_expires_at?: string };

async function rotate(tenant: TestTenant, options: Options = {}): Promise<Rotated> {
  const answer = await tenant.call("POST", "/tenants/rotate-auth-secret", options);
  expect(answer).toMatchObject({ status: 200 });
  return answer.json.data;
}

async function login(tenant: TestTenant, secret: string): Promise<number> {
  const form = { grant_type: "client_credentials", client_id: tenant.clientId, client_secret: secret };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const rawBody = new URLSearchParams(form).toString();
  return (await send(service.current.port, "POST", "/v2/oauth/token", { rawBody, headers })).status;
}

function storedClient(tenant: TestTenant) {
  return findClient(service.current.database, tenant.clientId);
}

test("GET tenants 200: returns exactly the fields of the caller's tenant", async () => {
  const tenant = await TestTenant.create(service.current);
  const answer = await tenant.call("GET", "/tenants");
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({
    data: {
      tenant_name: tenant.slug,
      tenant_id: tenant.tenantId,
      client_id: tenant.clientId,
      clickstream_app_id: expect.stringMatching(/^[0-9a-f]{24}$/),
      allowed_origins: [],
      ip_policy: "full",
      identity_verification: "off",
      time_zone: "UTC",
      requires_second_factor: false,
      notification_details: "none",
      url_parameters: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  });
  expect(answer.text).not.toContain(tenant.clientSecret);
});

test("GET tenants 200: returns the origins that the tenant was created with, in order", async () => {
  const { database, issuer, port } = service.current;
  const allowedOrigins = ["https://shop.example", "http://localhost:3000"];
  const made = await createTenant(database, { slug: `t-${randomUUID()}`, allowedOrigins }, clock);
  const grant = { clientId: made.client_id, tenantId: made.tenant_id, scope: "read:tenant", expiresInSeconds: 60 };
  const token = await issuer.mint({ ...grant, slug: made.tenant });
  const answer = await send(port, "GET", `/v2/${made.tenant}/tenants`, { token });
  expect(answer.json.data).toMatchObject({ allowed_origins: allowedOrigins, clickstream_app_id: made.app_key });
});

test("GET tenants 200: the client is the one created with the tenant, whoever asks", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database, issuer } = service.current;
  const made = await createClient(database, { slug: tenant.slug, scopes: ["read:tenant"] }, clock);
  const grant = { tenantId: tenant.tenantId, slug: tenant.slug, scope: "read:tenant", expiresInSeconds: 60 };
  const token = await issuer.mint({ ...grant, clientId: made.client_id });
  expect((await tenant.call("GET", "/tenants", { token })).json.data).toMatchObject({ client_id: tenant.clientId });
});

test("POST rotate-auth-secret 200: the old secret works for another day, and the new one at once", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = Date.now();
  const rotated = await rotate(tenant);
  expect(Object.keys(rotated).toSorted()).toEqual(["client_id", "client_secret", "previous_secret_expires_at"]);
  expect(rotated.client_id).toBe(tenant.clientId);
  expect(rotated.client_secret).not.toBe(tenant.clientSecret);
  expect(rotated.client_secret.length).toBeGreaterThanOrEqual(43);
  const until = Date.parse(rotated.previous_secret_expires_at ?? "");
  expect(until).toBeGreaterThanOrEqual(before + dayMs);
  expect(until).toBeLessThanOrEqual(Date.now() + dayMs);
  expect(await login(tenant, rotated.client_secret)).toBe(200);
  expect(await login(tenant, tenant.clientSecret)).toBe(200);
  expect((await tenant.call("GET", "/tenants")).status).toBe(200);
});

test("POST rotate-auth-secret: the old secret stops working after a day", async () => {
  const tenant = await TestTenant.create(service.current);
  const { client_secret: secret } = await rotate(tenant);
  await service.current.database.transaction((tx) =>
    tx.query(sql`
      update clients
      set previous_secrets = jsonb_set(previous_secrets, '{0,until}', to_jsonb(${new Date(Date.now() - 1).toISOString()}::text))
      where client_id = ${tenant.clientId}`),
  );
  expect(await login(tenant, tenant.clientSecret)).toBe(401);
  expect(await login(tenant, secret)).toBe(200);
});

test("POST rotate-auth-secret 200: revoke_now ends every earlier secret at once", async () => {
  const tenant = await TestTenant.create(service.current);
  const second = await rotate(tenant);
  const third = await rotate(tenant, { body: { revoke_now: true } });
  expect(Object.keys(third).toSorted()).toEqual(["client_id", "client_secret"]);
  expect(await login(tenant, tenant.clientSecret)).toBe(401);
  expect(await login(tenant, second.client_secret)).toBe(401);
  expect(await login(tenant, third.client_secret)).toBe(200);
});

test("POST rotate-auth-secret 200: the body may be absent, have no members, or contain false", async () => {
  const tenant = await TestTenant.create(service.current);
  const bodies: Options[] = [{}, { rawBody: "" }, { body: {} }, { body: { revoke_now: false } }];
  const secrets = new Set<string>();
  for (const options of bodies) {
    const rotated = await rotate(tenant, options);
    expect(rotated.previous_secret_expires_at).toBeDefined();
    secrets.add(rotated.client_secret);
  }
  expect(secrets.size).toBe(bodies.length);
});

test.for<[string, Options, string[]]>([
  ["unknown members", { body: { revoke_now: true, client_secret: "chosen", grace: 1 } }, ["client_secret", "grace"]],
  ["__proto__", { rawBody: '{"__proto__":{"revoke_now":true}}' }, ["__proto__"]],
  ["revoke_now in a string", { body: { revoke_now: "true" } }, ["revoke_now"]],
  ["revoke_now as a number", { body: { revoke_now: 1 } }, ["revoke_now"]],
  ["revoke_now as null", { body: { revoke_now: null } }, ["revoke_now"]],
  ["revoke_now in a list", { body: { revoke_now: [true] } }, ["revoke_now"]],
  ["a list", { body: [] }, ["body"]],
  ["null", { body: null }, ["body"]],
])("POST rotate-auth-secret 422: %s, and the secret stays", async ([, options, fields]) => {
  const tenant = await TestTenant.create(service.current);
  const before = await storedClient(tenant);
  const problem = expectProblem(await tenant.call("POST", "/tenants/rotate-auth-secret", options), 422, "validation-error");
  expect(problem.errors?.map(({ field }) => field)).toEqual(fields);
  expect(await storedClient(tenant)).toEqual(before);
});

test("POST rotate-auth-secret 400, 415, 403: a rejected request leaves the secret unchanged", async () => {
  const tenant = await TestTenant.create(service.current);
  const before = await storedClient(tenant);
  const path = "/tenants/rotate-auth-secret";
  expectProblem(await tenant.call("POST", path, { rawBody: "{" }), 400, "bad-request");
  expectProblem(await tenant.call("POST", path, { rawBody: '{"revoke_now":true,"revoke_now":false}' }), 400, "bad-request");
  const headers = { "content-type": "text/plain" };
  expectProblem(await tenant.call("POST", path, { rawBody: "{}", headers }), 415, "unsupported-media-type");
  const token = await tenant.mint(["update:tenant", "read:tenant"]);
  const refused = await tenant.call("POST", path, { token });
  expectProblem(refused, 403, "access-denied");
  expect(refused.headers.get("www-authenticate")).toContain('scope="update:tenant_auth_secret"');
  expect(await storedClient(tenant)).toEqual(before);
});

test("POST rotate-auth-secret 200: no other tenant's secret changes", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const before = await storedClient(other);
  await rotate(tenant, { body: { revoke_now: true } });
  expect(await storedClient(other)).toEqual(before);
});

test("POST rotate-auth-secret 404: if the tenant's client was revoked, there is no secret to rotate", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database, issuer } = service.current;
  const scope = "update:tenant_auth_secret";
  const made = await createClient(database, { slug: tenant.slug, scopes: [scope] }, clock);
  const grant = { tenantId: tenant.tenantId, slug: tenant.slug, scope, expiresInSeconds: 60 };
  const token = await issuer.mint({ ...grant, clientId: made.client_id });
  await database.transaction((tx) => saveRevoked(tx, { client_id: tenant.clientId, now: clock.now() }));
  const before = await storedClient(tenant);
  expectProblem(await tenant.call("POST", "/tenants/rotate-auth-secret", { token }), 404, "item-not-found");
  expect(await storedClient(tenant)).toEqual(before);
});

test("POST rotate-auth-secret 200: the tenant's events show it with its actor and without the secret", async () => {
  const tenant = await TestTenant.create(service.current);
  await rotate(tenant);
  const events = await service.current.database.query(sql`
    select type, actor, resource_type, resource_id
    from events
    where tenant_id = ${tenant.tenantId}`);
  const event = { type: "tenant.secret_rotated", actor: tenant.clientId, resource_type: "tenant", resource_id: tenant.tenantId };
  expect(events).toEqual([event]);
});

// Returns the tables with a row whose text contains this. Binary columns are shown in hexadecimal.
async function tablesHolding(text: string): Promise<string[]> {
  const { database } = service.current;
  const tables = await database.query<{ name: string }>(sql`
    select quote_ident(table_name) as name
    from information_schema.tables
    where table_schema = current_schema() and table_type = 'BASE TABLE'`);
  expect(tables.length).toBeGreaterThan(8);
  const holding: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query(
      statement(`select 1 as found from ${name} as r where position($1 in r::text) > 0 or position($2 in r::text) > 0 limit 1`, [
        text,
        Buffer.from(text).toString("hex"),
      ]),
    );
    if (rows.length > 0) holding.push(name);
  }
  return holding;
}

test("secrets: shown once and then in no response and no table, while a client's id is found where it should be", async () => {
  const tenant = await TestTenant.create(service.current);
  const { client_secret: secret } = await rotate(tenant);
  expect([await login(tenant, secret), await login(tenant, tenant.clientSecret)]).toEqual([200, 200]);
  const later = [await tenant.call("GET", "/tenants"), await tenant.call("POST", "/tenants/rotate-auth-secret")];
  for (const { text } of later) expect(text).not.toContain(secret);
  expect(await tablesHolding(tenant.clientId)).toContain("clients");
  for (const each of [secret, tenant.clientSecret]) expect(await tablesHolding(each)).toEqual([]);
  expect((await storedClient(tenant))?.secret_hash).toMatch(/^scrypt\$/);
});
