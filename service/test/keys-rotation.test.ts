import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from "jose";
import { expect, test, vi } from "vitest";
import { clock } from "../src/clock.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { insertSigningKey } from "../src/db/issuer.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { saveRevoked } from "../src/db/tenants.ts";
import { startService, type Service } from "../src/service.ts";
import { createClient } from "../src/tenancy.ts";
import { TestTenant, expectProblem, send, testConfig, useOwnDatabase, useService, type Answer } from "./harness.ts";

// Keys and listening connections belong to a whole database, so these tests have their own.
const databaseUrl = useOwnDatabase("keys_rotation");

// Two processes of one installation.
const overrides = { databaseUrl, publicUrl: "https://casehound.example", roles: new Set(["api"] as const) };
const first = useService(overrides);
const second = useService(overrides);

const soon = { timeout: 5_000, interval: 20 };
const hourMs = 3_600_000;

function use(service: Service, tenant: TestTenant, token: string): Promise<Answer> {
  return send(service.port, "GET", `/v2/${tenant.slug}/cases`, { token });
}

// Returns the status of a token at both processes.
async function statuses(tenant: TestTenant, token: string): Promise<number[]> {
  return [(await use(first.current, tenant, token)).status, (await use(second.current, tenant, token)).status];
}

async function mintFor(tenant: TestTenant, clientId: string, expiresInSeconds = 600): Promise<string> {
  const grant = { tenantId: tenant.tenantId, slug: tenant.slug, scope: "read:cases", clientId, expiresInSeconds };
  return first.current.issuer.mint(grant);
}

async function anotherClient(tenant: TestTenant): Promise<string> {
  const made = await createClient(first.current.database, { slug: tenant.slug, scopes: ["read:cases"] }, clock);
  return made.client_id;
}

function revoke(tx: Queryable, clientId: string): Promise<boolean> {
  return saveRevoked(tx, { client_id: clientId, now: clock.now() });
}

// Returns once the listeners are gone, so that nobody hears what the transaction does next.
// Each of the two processes listens for changes of keys and clients, and for assessments.
const listeners = 4;

async function cutListeners(tx: Queryable): Promise<number> {
  const rows = await tx.query(sql`
    select pg_terminate_backend(pid, 5000) as is_gone
    from pg_stat_activity
    where datname = current_database() and query like 'listen %'`);
  return rows.filter((row) => row["is_gone"] === true).length;
}

async function countListeners(): Promise<number> {
  const rows = await first.current.database.query(sql`
    select pid
    from pg_stat_activity
    where datname = current_database() and query like 'listen %' and state = 'idle'`);
  return rows.length;
}

async function publishedKids(service: Service): Promise<unknown[]> {
  const answer = await send(service.port, "GET", "/.well-known/jwks.json");
  return (JSON.parse(answer.text) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
}

function askToken(service: Service, { clientId, clientSecret }: TestTenant): Promise<Answer> {
  const form = new URLSearchParams({ grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return send(service.port, "POST", "/v2/oauth/token", { rawBody: form.toString(), headers });
}

async function tokenFrom(service: Service, tenant: TestTenant): Promise<string> {
  const answer = await askToken(service, tenant);
  return (JSON.parse(answer.text) as { access_token: string }).access_token;
}

function kidOf(token: string): unknown {
  return decodeProtectedHeader(token).kid;
}

test("revocation 401: a token in use stops working at every process, and other clients' tokens do not", async () => {
  const tenant = await TestTenant.create(first.current);
  const clientId = await anotherClient(tenant);
  const [used, unused] = [await mintFor(tenant, clientId), await mintFor(tenant, clientId)];
  expect(await statuses(tenant, used)).toEqual([200, 200]);
  expect(await statuses(tenant, tenant.token)).toEqual([200, 200]);
  expect(await first.current.database.transaction((tx) => revoke(tx, clientId))).toBe(true);
  await vi.waitFor(async () => expect(await statuses(tenant, used)).toEqual([401, 401]), soon);
  expect(await statuses(tenant, unused)).toEqual([401, 401]);
  expect(await statuses(tenant, tenant.token)).toEqual([200, 200]);
  const answer = await use(second.current, tenant, used);
  expectProblem(answer, 401, "unauthorized");
  expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="casehound", error="invalid_token"');
});

test("revocation 401: tokens first used at the moment of revocation are not cached past it", async () => {
  const tenant = await TestTenant.create(first.current);
  const clientId = await anotherClient(tenant);
  const tokens = await Promise.all(Array.from({ length: 30 }, () => mintFor(tenant, clientId)));
  const uses = tokens.slice(0, 15).map((token) => statuses(tenant, token));
  const revoked = first.current.database.transaction((tx) => revoke(tx, clientId));
  uses.push(...tokens.slice(15).map((token) => statuses(tenant, token)));
  await Promise.all([revoked, ...uses]);
  await vi.waitFor(async () => {
    const after = await Promise.all(tokens.map((token) => statuses(tenant, token)));
    expect(new Set(after.flat())).toEqual(new Set([401]));
  }, soon);
});

test("revocation: a revocation that is rolled back leaves the token valid", async () => {
  const tenant = await TestTenant.create(first.current);
  expect(await statuses(tenant, tenant.token)).toEqual([200, 200]);
  const revoked = first.current.database.transaction(async (tx) => {
    await revoke(tx, tenant.clientId);
    throw new Error("changed our mind");
  });
  await expect(revoked).rejects.toThrow("changed our mind");
  expect(await statuses(tenant, tenant.token)).toEqual([200, 200]);
});

test("expiry 401: a token in use stops working when it expires", async () => {
  const tenant = await TestTenant.create(first.current);
  const token = await mintFor(tenant, tenant.clientId, 3);
  expect(await statuses(tenant, token)).toEqual([200, 200]);
  await vi.waitFor(async () => expect(await statuses(tenant, token)).toEqual([401, 401]), soon);
  expect(Date.now()).toBeGreaterThanOrEqual(Number(decodeJwt(token).exp) * 1000);
  expect(expectProblem(await use(first.current, tenant, token), 401, "unauthorized").detail).toBe("The token has expired.");
});

test("listening cut off: a revocation that no process was notified of still applies, and the next notification arrives again", async () => {
  const tenant = await TestTenant.create(first.current);
  const clientId = await anotherClient(tenant);
  const token = await mintFor(tenant, clientId);
  await vi.waitFor(async () => expect(await countListeners()).toBe(listeners), soon);
  expect(await statuses(tenant, token)).toEqual([200, 200]);
  const cut = await first.current.database.transaction(async (tx) => {
    const gone = await cutListeners(tx);
    await revoke(tx, clientId);
    return gone;
  });
  expect(cut).toBe(listeners);
  expect(await statuses(tenant, tenant.token)).toEqual([200, 200]);
  await vi.waitFor(async () => expect(await statuses(tenant, token)).toEqual([401, 401]), soon);
  await vi.waitFor(async () => expect(await countListeners()).toBe(listeners), soon);
  expect(await statuses(tenant, token)).toEqual([401, 401]);
  expect(await statuses(tenant, tenant.token)).toEqual([200, 200]);
  await first.current.database.transaction((tx) => revoke(tx, tenant.clientId));
  await vi.waitFor(async () => expect(await statuses(tenant, tenant.token)).toEqual([401, 401]), soon);
});

test("rotation: old tokens stay valid, new ones use the new key, and both keys are published", async () => {
  const tenant = await TestTenant.create(first.current);
  const [used, unused] = [tenant.token, await tenant.mint()];
  const oldKid = kidOf(used);
  expect(await statuses(tenant, used)).toEqual([200, 200]);
  const newKid = await first.current.issuer.rotate();
  expect(newKid).not.toBe(oldKid);
  const fresh = await tenant.mint();
  expect(kidOf(fresh)).toBe(newKid);
  // The second process may not have heard of the key yet, but must not reject its tokens.
  expect((await use(second.current, tenant, fresh)).status).toBe(200);
  expect((await use(first.current, tenant, fresh)).status).toBe(200);
  expect(kidOf(await tokenFrom(first.current, tenant))).toBe(newKid);
  for (const old of [used, unused]) expect(await statuses(tenant, old)).toEqual([200, 200]);
  for (const service of [first.current, second.current])
    expect(await publishedKids(service)).toEqual(expect.arrayContaining([oldKid, newKid]));
});

test("rotation: every process soon signs with the new key, and one that starts later does so from the beginning", async () => {
  const tenant = await TestTenant.create(first.current);
  const kid = await first.current.issuer.rotate();
  await vi.waitFor(async () => expect(kidOf(await tokenFrom(second.current, tenant))).toBe(kid), soon);
  const third = await startService(testConfig(overrides));
  try {
    expect(kidOf(await tokenFrom(third, tenant))).toBe(kid);
    expect(await publishedKids(third)).toEqual(await publishedKids(first.current));
    expect((await use(third, tenant, tenant.token)).status).toBe(200);
  } finally {
    await third.stop();
  }
});

test("rotation: two concurrent rotations create two keys, and tokens of both are valid at both processes", async () => {
  const tenant = await TestTenant.create(first.current);
  const services = [first.current, second.current];
  const kids = await Promise.all(services.map((service) => service.issuer.rotate()));
  expect(new Set(kids).size).toBe(2);
  for (const service of services) {
    expect(await statuses(tenant, await tokenFrom(service, tenant))).toEqual([200, 200]);
    await vi.waitFor(async () => expect(await publishedKids(service)).toEqual(expect.arrayContaining(kids)), soon);
  }
});

test("rotation: a process that missed the notification soon publishes the new key and signs with it", async () => {
  const tenant = await TestTenant.create(first.current);
  await vi.waitFor(async () => expect(await countListeners()).toBe(listeners), soon);
  expect(await first.current.database.transaction(cutListeners)).toBe(listeners);
  const kid = await first.current.issuer.rotate();
  await vi.waitFor(async () => expect(await publishedKids(second.current)).toContain(kid), soon);
  expect(kidOf(await tokenFrom(second.current, tenant))).toBe(kid);
});

// A connection to the database that can be cut for one service alone.
class Gate {
  readonly #folder = mkdtempSync(join(tmpdir(), "gate-"));
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  get databaseUrl(): string {
    return databaseUrl.replace(/host=[^&]*/, `host=${encodeURIComponent(this.#folder)}`);
  }

  async open(): Promise<void> {
    const host = new URLSearchParams(databaseUrl.split("?")[1]).get("host") ?? "";
    const server = createServer((near) => {
      const far = connect(join(host, ".s.PGSQL.5432"));
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        one
          .on("error", () => {})
          .on("close", () => other.destroy())
          .pipe(other);
      }
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(join(this.#folder, ".s.PGSQL.5432"), resolve));
  }

  remove(): void {
    this.shut();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  shut(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

test("database away 502: neither the token request nor the token is reported as invalid, and both work once the database is back", async () => {
  const gate = new Gate();
  await gate.open();
  const service = await startService(testConfig({ ...overrides, databaseUrl: gate.databaseUrl }));
  try {
    const tenant = await TestTenant.create(service);
    expect((await use(service, tenant, tenant.token)).status).toBe(200);
    gate.shut();
    expectProblem(await use(service, tenant, tenant.token), 502, "bad-gateway");
    const refused = await askToken(service, tenant);
    expectProblem(refused, 502, "bad-gateway");
    expect(refused.json).toMatchObject({ error: expect.any(String), error_description: expect.any(String) });
    await gate.open();
    await vi.waitFor(async () => expect((await use(service, tenant, await tokenFrom(service, tenant))).status).toBe(200), soon);
  } finally {
    await service.stop();
    gate.remove();
  }
});

// Inserts a key that was created the given number of hours ago.
async function insertAgedKey(hours: number): Promise<string> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { kid: `aged-${randomUUID()}`, created_at: new Date(Date.now() - hours * hourMs).toISOString() };
  const jwk = { ...(await exportJWK(privateKey)), kid: key.kid };
  await first.current.database.transaction((tx) => insertSigningKey(tx, { ...key, private_jwk: jwk }, false));
  return key.kid;
}

test("rotation: a key replaced longer ago than a token lives is deleted, and one replaced later is kept", async () => {
  // Replaced 27 hours ago, and just now: a key's own age does not count.
  const [gone, kept] = [await insertAgedKey(60), await insertAgedKey(27)];
  const services = [first.current, second.current];
  for (const service of services)
    await vi.waitFor(async () => expect(await publishedKids(service)).toEqual(expect.arrayContaining([gone, kept])), soon);
  await first.current.issuer.rotate();
  for (const service of services) await vi.waitFor(async () => expect(await publishedKids(service)).not.toContain(gone), soon);
  for (const service of services) expect(await publishedKids(service)).toContain(kept);
  const left = await first.current.database.query(sql`select kid from signing_keys where kid = ${gone}`);
  expect(left).toEqual([]);
});
