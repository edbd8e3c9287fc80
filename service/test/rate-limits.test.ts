import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { clock } from "../src/clock.ts";
import type { Case } from "../src/domain/case.ts";
import { startService, type Service } from "../src/service.ts";
import { createClient } from "../src/tenancy.ts";
import { TestTenant, expectProblem, send, testConfig, useService, type Answer } from "./harness.ts";
import { Browser, somewhere } from "./people.ts";
import { Site, browserEvent, shop } from "./site.ts";

// Two processes of one service: one for preparation, and one whose limits the test reaches. Both accept the same tokens.
const publicUrl = "http://cases.example";
const plain = useService({ publicUrl, rateLimits: { client: null, tenant: null, collector: null } });
let strict: Service;
const lines: string[] = [];
// Ten times as many are allowed at once.
const rateLimits = { client: 2, tenant: 3, collector: 1 };
beforeAll(async () => {
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  strict = await startService(testConfig({ publicUrl, rateLimits }), log);
});
afterAll(() => strict.stop());

const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));
const get = (tenant: TestTenant, token = tenant.token, path = "/cases") =>
  send(strict.port, "GET", `/v2/${tenant.slug}${path}`, { token });

// Sends until no more requests are accepted for now.
async function flood(tenant: TestTenant, token = tenant.token): Promise<Answer[]> {
  const answers = await times(60, () => get(tenant, token));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  return answers;
}

// Sends a request right after others used up the limit. Retries if time passed in between.
async function refused(ask: () => Promise<Answer>): Promise<Answer> {
  return vi.waitFor(
    async () => {
      const answer = (await times(30, ask)).at(-1);
      expect(answer?.status).toBe(429);
      return answer as Answer;
    },
    { timeout: 60_000 },
  );
}

function recovered(ask: () => Promise<Answer>, status = 200): Promise<Answer> {
  return vi.waitFor(
    async () => {
      const answer = await ask();
      expect(answer.status, answer.text).toBe(status);
      return answer;
    },
    { timeout: 60_000, interval: 300 },
  );
}

async function otherToken(tenant: TestTenant): Promise<string> {
  const { client_id: clientId } = await createClient(
    tenant.service.database,
    { slug: tenant.slug, scopes: ["read:cases"] },
    clock,
  );
  const grant = { clientId, tenantId: tenant.tenantId, slug: tenant.slug, scope: "read:cases", expiresInSeconds: 600 };
  return tenant.service.issuer.mint(grant);
}

test("429: a client over its limit gets Retry-After and the draft's RateLimit fields, and is accepted again later", async () => {
  const tenant = await TestTenant.create(plain.current);
  const answers = await flood(tenant);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(20);
  for (const answer of answers.filter(({ status }) => status === 429)) {
    expect(expectProblem(answer, 429, "rate-limited").detail).toMatch(/^This client /);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(answer.headers.get("ratelimit-policy")).toBe('"client";q=20;w=10, "tenant";q=30;w=10');
    expect(answer.headers.get("ratelimit")).toMatch(/^"client";r=0;t=1, "tenant";r=\d+;t=\d+$/);
  }
  await recovered(() => get(tenant));
  const ofLimit = lines.filter((line) => line.includes(`"actor":"${tenant.clientId}"`) && line.includes('"limit":"client"'));
  expect(ofLimit.length).toBeGreaterThan(0);
  expect(await strict.metrics.text()).toMatch(/^casehound_rate_limited_total\{limit="client"\} [1-9]/m);
});

test("429: the clients of a tenant share its limit; neither its people nor other tenants are affected", async () => {
  const [tenant, other] = [await TestTenant.create(plain.current), await TestTenant.create(plain.current)];
  const ada = await Browser.join(tenant, "lead");
  const second = await otherToken(tenant);
  await vi.waitFor(
    async () => {
      await times(30, () => get(tenant));
      const answers = await times(30, () => get(tenant, second));
      const limited = answers.filter(
        ({ status, json }) => status === 429 && json.detail.startsWith("The clients of this tenant "),
      );
      expect(limited.length).toBeGreaterThan(0);
      expect(limited[0]?.headers.get("ratelimit")).toMatch(/^"client";r=\d+;t=\d+, "tenant";r=0;t=1$/);
    },
    { timeout: 60_000 },
  );
  for (let n = 0; n < 5; n++) {
    expect((await ada.call("GET", "/cases", {}, strict)).status).toBe(200);
    expect((await get(other)).status).toBe(200);
  }
  expect(await strict.metrics.text()).toMatch(/^casehound_rate_limited_total\{limit="tenant"\} [1-9]/m);
});

test("429: credentials and routes are checked before the limit, and everything else after it", async () => {
  const tenant = await TestTenant.create(plain.current);
  expect((await refused(() => get(tenant))).headers.get("retry-after")).toBe("1");
  expectProblem(await get(tenant, "no.good.token"), 401, "unauthorized");
  expectProblem(await send(strict.port, "GET", `/v2/${tenant.slug}/cases?access_token=x`), 401, "unauthorized");
  expectProblem(await get(tenant, tenant.token, "/nothing/here/at/all"), 404, "item-not-found");
  expectProblem(await send(strict.port, "PATCH", `/v2/${tenant.slug}/cases`, { token: tenant.token }), 405, "method-not-allowed");
  const foreign = () => send(strict.port, "GET", "/v2/some-other-tenant/cases", { token: tenant.token });
  expectProblem(await refused(foreign), 429, "rate-limited");
  const noScope = await tenant.mint(["read:metrics"]);
  expectProblem(await refused(() => get(tenant, noScope)), 429, "rate-limited");
  expectProblem(await refused(() => get(tenant, tenant.token, "/cases?limit=0")), 429, "rate-limited");
});

test("429: requests with a rejected token count against nobody", async () => {
  const tenant = await TestTenant.create(plain.current);
  const [head = "", claims = ""] = tenant.token.split(".");
  await times(80, () => get(tenant, `${head}.${claims}.AAAA`));
  expect((await get(tenant)).status).toBe(200);
});

// If the close is accepted, the quota has refilled meanwhile. Then this tries again with another case.
async function refuseClose(tenant: TestTenant, reason: string): Promise<{ opened: Case; key: string }> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const [opened, key] = [await tenant.openCase(), randomUUID()];
    await times(60, () => get(tenant));
    const answer = await close(tenant, { opened, key, reason });
    if (answer.status === 429) return { opened, key };
  }
  throw new Error("no close was refused");
}

function close(tenant: TestTenant, { opened, key, reason }: { opened: Case; key: string; reason: string }): Promise<Answer> {
  const body = { status: "CLOSED", case_version: opened.case_version, reason };
  return send(strict.port, "PUT", `/v2/${tenant.slug}/cases/${opened.case_id}`, { token: tenant.token, key, body });
}

test("429: a rejected write applies nothing, and its key stays free", async () => {
  const tenant = await TestTenant.create(plain.current);
  const { opened, key } = await refuseClose(tenant, "early");
  expect(await tenant.read(opened.case_id)).toEqual(opened);
  const done = await recovered(() => close(tenant, { opened, key, reason: "late" }));
  expect(done.headers.get("idempotent-replayed")).toBeNull();
  expect(done.json.data).toMatchObject({ status: "CLOSED", current_state: { reason: "late" } });
  const again = await recovered(() => close(tenant, { opened, key, reason: "late" }));
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.text).toBe(done.text);
});

const form = { "content-type": "application/x-www-form-urlencoded" };

type Client = { clientId: string; clientSecret: string };

// From its own address, because wrong secrets are counted per address.
function askToken({ clientId, clientSecret }: Client): Promise<Answer> {
  const fields = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const headers = { ...form, ...somewhere() };
  return send(strict.port, "POST", "/v2/oauth/token", { rawBody: new URLSearchParams(fields).toString(), headers });
}

test("POST token 429: token requests count for their client once the secret is right", async () => {
  const tenant = await TestTenant.create(plain.current);
  for (let n = 0; n < 25; n++) expect((await askToken({ clientId: tenant.clientId, clientSecret: "wrong" })).status).toBe(401);
  expect((await askToken(tenant)).status).toBe(200);
  const answer = await refused(() => askToken(tenant));
  expectProblem(answer, 429, "rate-limited");
  expect(answer.json).toMatchObject({ error: "temporarily_unavailable" });
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(answer.headers.get("ratelimit")).toMatch(/^"client";r=0;t=1, /);
  await recovered(() => askToken(tenant));
});

test("POST token: a flood of guesses at one client's secret does not block another client", async () => {
  const [tenant, other] = [await TestTenant.create(plain.current), await TestTenant.create(plain.current)];
  const guesses = times(80, () => askToken({ clientId: tenant.clientId, clientSecret: "wrong" }));
  expect((await askToken(other)).status).toBe(200);
  expect(new Set((await guesses).map(({ status }) => status))).toEqual(new Set([401, 429]));
});

test("POST collect 503: pages over the limit keep their events, and nobody else is affected", async () => {
  const [site, other] = [await Site.create(plain.current), await Site.create(plain.current)];
  const collect = ({ key }: Site) =>
    send(strict.port, "POST", `/collect/${key}`, { body: [browserEvent()], headers: { origin: shop } });
  const answers = await times(40, () => collect(site));
  const kept = answers.filter(({ status }) => status === 503);
  expect(kept.length).toBeGreaterThan(0);
  expect(answers.filter(({ status }) => status === 200).length).toBe(answers.length - kept.length);
  for (const answer of kept) {
    expectProblem(answer, 503, "service-unavailable");
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(answer.headers.get("access-control-allow-origin")).toBe(shop);
  }
  const preflight = { headers: { origin: shop, "access-control-request-method": "POST" } };
  expect((await fetch(`http://127.0.0.1:${strict.port}/collect/${site.key}`, { method: "OPTIONS", ...preflight })).status).toBe(
    204,
  );
  expect((await collect(other)).status).toBe(200);
  expect((await get(site.tenant)).status).toBe(200);
  await recovered(() => collect(site));
  expect(await strict.metrics.text()).toMatch(/^casehound_rate_limited_total\{limit="collector"\} [1-9]/m);
});

test("200: four hundred concurrent requests of one client wait for their turn, and none is rejected", async () => {
  const service = await startService(testConfig());
  const tenant = await TestTenant.create(service);
  const answers = await times(400, () => tenant.call("GET", "/cases"));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await service.stop();
});
