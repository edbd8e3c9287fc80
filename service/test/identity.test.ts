import { expect, test } from "vitest";
import { addIdentityCounts } from "../src/db/identity.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { TestTenant, expectProblem, useService, type Options } from "./harness.ts";
import { makeSecret, readIdentity } from "./identity.ts";

const service = useService({ roles: new Set(["api"]) });
const dayMs = 24 * 60 * 60 * 1000;
const secretsPath = "/tenants/identity/secrets";

const dayAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

function storedSecrets(tenant: TestTenant) {
  return service.current.database.query<{ secret_id: string; secret: string }>(sql`
    select secret_id, secret
    from identity_secrets
    where tenant_id = ${tenant.tenantId}
    order by created_at, secret_id`);
}

function eventsOf(tenant: TestTenant) {
  return service.current.database.query<{ type: string; actor: string; data: unknown }>(sql`
    select type, actor, data
    from events
    where tenant_id = ${tenant.tenantId}
    order by event_id`);
}

async function settingOf(tenant: TestTenant): Promise<string> {
  const answer = await tenant.call("GET", "/tenants");
  return (answer.json.data as { identity_verification: string }).identity_verification;
}

test("GET tenants/identity 200: a new tenant has no secret, verification is off, and seven empty days are shown", async () => {
  const tenant = await TestTenant.create(service.current);
  const zeros = { signed: 0, tied: 0, unvouched: 0, bad_token: 0 };
  expect(await readIdentity(tenant)).toEqual({
    identity_verification: "off",
    secrets: [],
    days: [6, 5, 4, 3, 2, 1, 0].map((days) => ({ day: dayAgo(days), ...zeros })),
    is_snippet_only: true,
  });
});

test("GET tenants/identity 200: counts are added up by day and source, and days before the last seven are left out", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const add = (counts: Parameters<typeof addIdentityCounts>[2], to = tenant) =>
    service.current.database.transaction((tx) => addIdentityCounts(tx, to.tenantId, counts));
  await add([]);
  await add([
    { day: dayAgo(0), source: "signed", count: 2 },
    { day: dayAgo(0), source: "signed", count: 3 },
    { day: dayAgo(0), source: "bad-token", count: 1 },
    { day: dayAgo(6), source: "tied", count: 4 },
    { day: dayAgo(7), source: "unvouched", count: 100 },
  ]);
  await add([{ day: dayAgo(0), source: "signed", count: 5 }]);
  await add([{ day: dayAgo(0), source: "unvouched", count: 7 }], other);
  const { days } = await readIdentity(tenant);
  expect(days[0]).toEqual({ day: dayAgo(6), signed: 0, tied: 4, unvouched: 0, bad_token: 0 });
  expect(days[6]).toEqual({ day: dayAgo(0), signed: 10, tied: 0, unvouched: 0, bad_token: 1 });
});

test("POST identity secrets 201: the first secret is shown once and switches verification from off to observe", async () => {
  const tenant = await TestTenant.create(service.current);
  const made = await makeSecret(tenant);
  expect(Object.keys(made).toSorted()).toEqual(["identity_verification", "secret", "secret_id"]);
  expect(made.secret).toMatch(/^idsec_[\w-]{43}$/);
  expect(made.identity_verification).toBe("observe");
  expect(await settingOf(tenant)).toBe("observe");
  const shown = await readIdentity(tenant);
  expect(shown).toMatchObject({ identity_verification: "observe", is_snippet_only: false });
  expect(shown.secrets).toEqual([{ secret_id: made.secret_id, created_at: expect.any(String) }]);
  expect(JSON.stringify(shown)).not.toContain(made.secret);
  const events = await eventsOf(tenant);
  expect(events).toEqual([
    {
      type: "tenant.identity_secret_rotated",
      actor: tenant.clientId,
      data: { secret_id: made.secret_id, revoke_now: false },
    },
    { type: "tenant.updated", actor: tenant.clientId, data: { identity_verification: "observe" } },
  ]);
});

test("POST identity secrets 201: a replaced secret keeps its day through further rotations, and the setting stays", async () => {
  const tenant = await TestTenant.create(service.current);
  const first = await makeSecret(tenant);
  await tenant.call("PUT", "/tenants", { body: { identity_verification: "off" } });
  const second = await makeSecret(tenant, { body: {} });
  const third = await makeSecret(tenant, { body: { revoke_now: false } });
  expect(third.identity_verification).toBe("off");
  const { secrets } = await readIdentity(tenant);
  expect(secrets.map((each) => each.secret_id)).toEqual([third.secret_id, second.secret_id, first.secret_id]);
  expect(secrets.map((each) => each.expires_at)).toEqual([
    undefined,
    third.previous_secret_expires_at,
    second.previous_secret_expires_at,
  ]);
  const leftMs = Date.parse(second.previous_secret_expires_at ?? "") - Date.now();
  expect(leftMs).toBeGreaterThan(dayMs - 60_000);
  expect(leftMs).toBeLessThanOrEqual(dayMs);
});

test("POST identity secrets 201: revoke_now ends every older secret at once", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeSecret(tenant);
  await makeSecret(tenant);
  const last = await makeSecret(tenant, { body: { revoke_now: true } });
  expect(last).not.toHaveProperty("previous_secret_expires_at");
  expect(await storedSecrets(tenant)).toEqual([{ secret_id: last.secret_id, secret: last.secret }]);
});

test("POST identity secrets 422: a sixth valid secret is rejected and changes nothing; revoke_now makes room", async () => {
  const tenant = await TestTenant.create(service.current);
  for (let made = 0; made < 5; made++) await makeSecret(tenant);
  const [before, events] = [await storedSecrets(tenant), await eventsOf(tenant)];
  const problem = expectProblem(await tenant.call("POST", secretsPath), 422, "validation-error");
  expect(problem.errors).toEqual([{ field: "body", message: expect.stringContaining("at most 5") }]);
  expect(await storedSecrets(tenant)).toEqual(before);
  expect(await eventsOf(tenant)).toEqual(events);
  await makeSecret(tenant, { body: { revoke_now: true } });
  expect(await storedSecrets(tenant)).toHaveLength(1);
});

test("POST identity secrets 201: after two concurrent requests, one secret is current and both are valid", async () => {
  const tenant = await TestTenant.create(service.current);
  const made = await Promise.all([makeSecret(tenant), makeSecret(tenant)]);
  const { secrets } = await readIdentity(tenant);
  expect(secrets.map((each) => each.secret_id).toSorted()).toEqual(made.map((each) => each.secret_id).toSorted());
  expect(secrets.filter((each) => each.expires_at === undefined)).toHaveLength(1);
});

test.each<[string, Options, string[]]>([
  ["revoke_now is not a boolean", { body: { revoke_now: "true" } }, ["revoke_now"]],
  ["an unknown member", { body: { secret: "mine" } }, ["secret"]],
  ["an array", { body: [] }, ["body"]],
])("POST identity secrets 422: %s, and nothing changes", async (_name, options, fields) => {
  const tenant = await TestTenant.create(service.current);
  const problem = expectProblem(await tenant.call("POST", secretsPath, options), 422, "validation-error");
  expect(problem.errors?.map((each) => each.field)).toEqual(fields);
  expect(await readIdentity(tenant)).toMatchObject({ identity_verification: "off", secrets: [] });
  expect(await eventsOf(tenant)).toEqual([]);
});

test("PUT tenants 422: observe and required need a secret; without one no part of the change is applied", async () => {
  const tenant = await TestTenant.create(service.current);
  for (const identity_verification of ["observe", "required"]) {
    const body = { ip_policy: "hash", identity_verification };
    const problem = expectProblem(await tenant.call("PUT", "/tenants", { body }), 422, "validation-error");
    expect(problem.errors).toEqual([{ field: "identity_verification", message: expect.stringContaining("secret") }]);
  }
  const bad = { body: { identity_verification: "on" } };
  expectProblem(await tenant.call("PUT", "/tenants", bad), 422, "validation-error");
  expect((await tenant.call("GET", "/tenants")).json.data).toMatchObject({ ip_policy: "full", identity_verification: "off" });
  expect(await eventsOf(tenant)).toEqual([]);
});

test("PUT tenants 200: with a secret, verification can be required, observed and switched off", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeSecret(tenant);
  for (const identity_verification of ["required", "observe", "off", "required"]) {
    const answer = await tenant.call("PUT", "/tenants", { body: { identity_verification } });
    expect(answer.json.data).toMatchObject({ identity_verification });
    expect(await readIdentity(tenant)).toMatchObject({ identity_verification });
  }
});

test("GET tenants/identity 200: a tenant whose servers reported an account in the last 30 days is not snippet-only", async () => {
  const tenant = await TestTenant.create(service.current);
  const told = (day: string) => sql`
    update engine_turns
    set told = jsonb_build_object('any', ${day}::text)
    where tenant_id = ${tenant.tenantId}`;
  await service.current.database.query(told(dayAgo(31)));
  expect(await readIdentity(tenant)).toMatchObject({ is_snippet_only: true });
  await service.current.database.query(told(dayAgo(0)));
  expect(await readIdentity(tenant)).toMatchObject({ is_snippet_only: false, secrets: [] });
});
