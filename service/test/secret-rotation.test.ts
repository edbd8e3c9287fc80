import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { clock } from "../src/clock.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { findClient } from "../src/db/tenants.ts";
import { startService, type Service } from "../src/service.ts";
import { createClient } from "../src/tenancy.ts";
import { TestTenant, expectProblem, send, testConfig, useService, type Answer } from "./harness.ts";

// Two processes of one service: a token from one works in the other.
const shared = { roles: new Set(["api" as const]), publicUrl: "http://cases.example" };
const service = useService(shared);
let other: Service;
beforeAll(async () => {
  other = await startService(testConfig(shared));
});
afterAll(() => other.stop());

const dayMs = 24 * 60 * 60 * 1000;

type Rotated = { client_id: string; client_secret: string; previous_secret_expires_at?: string };
// The two operations that rotate a secret: that of the tenant's first client, and that of any client.
type Subject = { tenant: TestTenant; clientId: string; secret: string; path: string };

async function firstClient(): Promise<Subject> {
  const tenant = await TestTenant.create(service.current);
  return { tenant, clientId: tenant.clientId, secret: tenant.clientSecret, path: "/tenants/rotate-auth-secret" };
}

async function furtherClient(): Promise<Subject> {
  const tenant = await TestTenant.create(service.current);
  type Made = { client: { client_id: string }; client_secret: string };
  const made = (await tenant.call("POST", "/clients", { body: { scopes: ["read:cases"] } })).json.data as Made;
  const { client_id: clientId } = made.client;
  return { tenant, clientId, secret: made.client_secret, path: `/clients/${clientId}/rotate-secret` };
}

const both: [string, () => Promise<Subject>][] = [
  ["POST rotate-auth-secret", firstClient],
  ["POST rotate-secret", furtherClient],
];

// Uses an admin's token, which the rotation does not end.
async function adminToken({ tenant }: Subject): Promise<string> {
  const { slug, tenantId } = tenant;
  const scopes = (await findClient(service.current.database, tenant.clientId))?.scopes ?? [];
  const made = await createClient(service.current.database, { slug, scopes }, clock);
  const grant = { clientId: made.client_id, tenantId, slug, scope: scopes.join(" "), expiresInSeconds: 600 };
  return service.current.issuer.mint(grant);
}

async function rotate(subject: Subject, body: { revoke_now?: boolean } = {}, token?: string): Promise<Rotated> {
  const answer = await subject.tenant.call("POST", subject.path, { body, ...(token !== undefined && { token }) });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

function ask(subject: Subject, secret: string, at = service.current): Promise<Answer> {
  const form = { grant_type: "client_credentials", client_id: subject.clientId, client_secret: secret };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return send(at.port, "POST", "/v2/oauth/token", { rawBody: new URLSearchParams(form).toString(), headers });
}

async function tokenOf(subject: Subject, secret: string, at = service.current): Promise<string> {
  const answer = await ask(subject, secret, at);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json as unknown as { access_token: string }).access_token;
}

async function use({ tenant }: Subject, token: string, at = service.current): Promise<number> {
  return (await send(at.port, "GET", `/v2/${tenant.slug}/cases`, { token })).status;
}

test("POST rotate-auth-secret 403: a caller with only this scope cannot rotate the secret of a client with more scopes", async () => {
  const subject = await firstClient();
  const { tenant } = subject;
  const { database } = service.current;
  const scopes = ["update:tenant_auth_secret", "read:cases"];
  const made = await createClient(database, { slug: tenant.slug, scopes }, clock);
  const token = await tokenOf({ ...subject, clientId: made.client_id }, made.client_secret);
  const before = await findClient(database, tenant.clientId);
  for (const body of [{}, { revoke_now: true }]) {
    const answer = await tenant.call("POST", subject.path, { token, body });
    expectProblem(answer, 403, "access-denied");
    expect(answer.text).not.toContain("client_secret");
  }
  expect(await findClient(database, tenant.clientId)).toEqual(before);
  const events = await database.query(sql`select type from events where tenant_id = ${tenant.tenantId}`);
  expect(events).toEqual([]);
});

test.for(both)("%s 200: every replaced secret works for the promised day, through further rotations", async ([, make]) => {
  const subject = await make();
  const token = await adminToken(subject);
  const secrets = [subject.secret];
  const until: string[] = [];
  for (let count = 0; count < 5; count++) {
    const rotated = await rotate(subject, {}, token);
    secrets.push(rotated.client_secret);
    until.push(rotated.previous_secret_expires_at ?? "");
  }
  for (const secret of secrets) expect((await ask(subject, secret)).status).toBe(200);
  for (const secret of secrets) expect((await ask(subject, secret, other)).status).toBe(200);
  // The list shows the latest end of all earlier secrets.
  const { clients } = (await subject.tenant.call("GET", "/clients", { token })).json.data as {
    clients: { client_id: string; previous_secret_expires_at?: string }[];
  };
  expect(clients.find((each) => each.client_id === subject.clientId)?.previous_secret_expires_at).toBe(until.at(-1));
});

test.for(both)("%s 429: a sixth rotation within a day ends no earlier secret, and revoke_now still works", async ([, make]) => {
  const subject = await make();
  const token = await adminToken(subject);
  const secrets = [subject.secret];
  for (let count = 0; count < 5; count++) secrets.push((await rotate(subject, {}, token)).client_secret);
  const { database } = service.current;
  const before = await findClient(database, subject.clientId);
  const refused = await subject.tenant.call("POST", subject.path, { token });
  expectProblem(refused, 429, "rate-limited");
  const seconds = Number(refused.headers.get("retry-after"));
  expect(seconds > 86_000 && seconds <= 86_400).toBe(true);
  expect(await findClient(database, subject.clientId)).toEqual(before);
  for (const secret of secrets) expect((await ask(subject, secret)).status).toBe(200);
  const last = await rotate(subject, { revoke_now: true }, token);
  for (const secret of secrets) expect((await ask(subject, secret)).status).toBe(401);
  expect((await ask(subject, last.client_secret)).status).toBe(200);
});

test("POST rotate-auth-secret 200: an earlier secret that has ended makes room for the next rotation", async () => {
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs).toISOString();
  const later = await startService(testConfig({ roles: new Set(["api"]) }), undefined, { clock: { ...clock, now } });
  try {
    const tenant = await TestTenant.create(later);
    const path = "/tenants/rotate-auth-secret";
    for (let count = 0; count < 5; count++) expect((await tenant.call("POST", path)).status).toBe(200);
    expectProblem(await tenant.call("POST", path), 429, "rate-limited");
    aheadMs = dayMs + 60_000;
    expect((await tenant.call("POST", path)).status).toBe(200);
    expect((await findClient(later.database, tenant.clientId))?.previous_secrets.length).toBe(1);
  } finally {
    await later.stop();
  }
});

test.for(both)("%s 200: revoke_now ends the tokens of every revoked secret, in every process", async ([, make]) => {
  const subject = await make();
  const token = await adminToken(subject);
  const second = await rotate(subject, {}, token);
  const fetched = [await tokenOf(subject, subject.secret), await tokenOf(subject, second.client_secret, other)];
  // Both processes cache them.
  for (const each of fetched) for (const at of [service.current, other]) expect(await use(subject, each, at)).toBe(200);
  const third = await rotate(subject, { revoke_now: true }, token);
  const fresh = await tokenOf(subject, third.client_secret);
  for (const at of [service.current, other]) {
    await vi.waitFor(async () => {
      for (const each of fetched) expect(await use(subject, each, at)).toBe(401);
    });
    expect(await use(subject, fresh, at)).toBe(200);
  }
  // Tokens of other clients continue to work.
  expect(await use(subject, token)).toBe(200);
});

test("POST rotate-auth-secret 200: tokens of the new secret work even in the second of the revocation", async () => {
  const subject = await firstClient();
  const token = await adminToken(subject);
  const ended: string[] = [];
  let secret = subject.secret;
  for (let count = 0; count < 4; count++) {
    const fetched = await tokenOf(subject, secret);
    expect(await use(subject, fetched)).toBe(200);
    ended.push(fetched);
    secret = (await rotate(subject, { revoke_now: true }, token)).client_secret;
  }
  const last = await tokenOf(subject, secret);
  expect(await use(subject, last)).toBe(200);
  await vi.waitFor(async () => {
    for (const each of ended) expect(await use(subject, each)).toBe(401);
  });
  expect(await use(subject, last)).toBe(200);
});

test("POST rotate-auth-secret 200: revoke_now does not end tokens that the operator made without a secret", async () => {
  const subject = await firstClient();
  await rotate(subject, { revoke_now: true });
  for (const at of [service.current, other]) expect(await use(subject, subject.tenant.token, at)).toBe(200);
});

test("POST rotate-auth-secret 200: a rotation without revoke_now ends no token", async () => {
  const subject = await firstClient();
  const fetched = await tokenOf(subject, subject.secret);
  await rotate(subject);
  for (const at of [service.current, other]) expect(await use(subject, fetched, at)).toBe(200);
});

test("POST rotate-auth-secret 200: parallel rotations end no earlier secret before its time", async () => {
  const subject = await firstClient();
  const rotated = await Promise.all(Array.from({ length: 5 }, () => rotate(subject)));
  for (const secret of [subject.secret, ...rotated.map((each) => each.client_secret)])
    expect((await ask(subject, secret)).status).toBe(200);
});

test("audit: rotations are logged with the actor and the client, and without a secret", async () => {
  const lines: string[] = [];
  const log = pino({ level: "info", base: null }, { write: (line: string) => void lines.push(line) });
  const logging = await startService(testConfig({ roles: new Set(["api"]) }), log);
  try {
    const tenant = await TestTenant.create(logging);
    const { client_secret: secret } = (await tenant.call("POST", "/tenants/rotate-auth-secret")).json.data as Rotated;
    const audit = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line["msg"] === "audit");
    const { slug, clientId } = tenant;
    expect(audit).toMatchObject([{ audit: "client secret rotated", tenant: slug, actor: clientId, client_id: clientId }]);
    expect(lines.join("")).not.toContain(secret);
  } finally {
    await logging.stop();
  }
});
