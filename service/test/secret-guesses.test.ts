import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { Derivations } from "../src/api/tokens/derivations.ts";
import { clock } from "../src/clock.ts";
import { saveRevoked } from "../src/db/tenants.ts";
import { TestTenant, expectProblem, send, useService, type Answer } from "./harness.ts";
import { somewhere } from "./people.ts";

const service = useService({ roles: new Set(["api"]) });

type Guess = { clientId: string; secret: string; headers?: Record<string, string> };

function ask({ clientId, secret, headers = somewhere() }: Guess): Promise<Answer> {
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: secret };
  const type = { "content-type": "application/x-www-form-urlencoded" };
  const rawBody = new URLSearchParams(form).toString();
  return send(service.current.port, "POST", "/v2/oauth/token", { rawBody, headers: { ...type, ...headers } });
}

async function guesses(clientId: string, count: number, headers: Record<string, string>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let tried = 0; tried < count; tried++) answers.push(await ask({ clientId, secret: `wrong-${tried}`, headers }));
  return answers;
}

test("POST token 401: an unknown client id costs the same work as a known one", async () => {
  const [known, rotated, revoked] = [
    await TestTenant.create(service.current),
    await TestTenant.create(service.current),
    await TestTenant.create(service.current),
  ];
  for (let count = 0; count < 3; count++) await rotated.call("POST", "/tenants/rotate-auth-secret");
  const { database } = service.current;
  await database.transaction((tx) => saveRevoked(tx, { client_id: revoked.clientId, now: clock.now() }));
  const run = vi.spyOn(Derivations.prototype, "run");
  const enter = vi.spyOn(Derivations.prototype, "enter");
  try {
    for (const clientId of [known.clientId, rotated.clientId, revoked.clientId, "nobody", `${known.clientId}-x`]) {
      for (const secret of ["wrong", known.clientSecret.toLowerCase(), "x".repeat(200)]) {
        run.mockClear();
        expectProblem(await ask({ clientId, secret }), 401, "unauthorized");
        expect(run, `${clientId} ${secret}`).toHaveBeenCalledTimes(1);
      }
      run.mockClear();
      expectProblem(await ask({ clientId, secret: "with\0zero" }), 401, "unauthorized");
      expect(run).not.toHaveBeenCalled();
    }
    // The guessers of each id are counted separately.
    const keys = new Set<string>();
    for (const clientId of ["nobody", "nobody", "somebody"]) {
      enter.mockClear();
      await ask({ clientId, secret: "wrong" });
      keys.add(String(enter.mock.calls[0]?.[0]));
    }
    expect(keys.size).toBe(2);
  } finally {
    run.mockRestore();
    enter.mockRestore();
  }
});

test("POST token 429: wrong secrets for one client from one address are slowed down, whether or not the client exists", async () => {
  const tenant = await TestTenant.create(service.current);
  const texts = new Set<string>();
  for (const clientId of [tenant.clientId, "nobody-at-all"]) {
    const here = somewhere();
    const answers = await guesses(clientId, 11, here);
    expect(answers.slice(0, 10).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 401));
    const [refused] = answers.slice(10);
    if (!refused) throw new Error("there is no eleventh response");
    expectProblem(refused, 429, "rate-limited");
    expect(refused.json).toMatchObject({ error: "temporarily_unavailable", error_description: expect.any(String) });
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds >= 1 && seconds <= 6).toBe(true);
    texts.add(refused.text);
  }
  expect(texts.size).toBe(1);
});

test("POST token 200: guesses at a client lock out neither the same client at other addresses, nor other clients at the same address", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const attacker = somewhere();
  expect((await guesses(tenant.clientId, 12, attacker)).at(-1)?.status).toBe(429);
  expect((await ask({ clientId: other.clientId, secret: other.clientSecret, headers: attacker })).status).toBe(200);
  expect((await ask({ clientId: tenant.clientId, secret: tenant.clientSecret })).status).toBe(200);
  // By now this process has verified the secret, so even clients at the attacker's address get their tokens.
  expect((await ask({ clientId: tenant.clientId, secret: tenant.clientSecret, headers: attacker })).status).toBe(200);
  expect((await ask({ clientId: tenant.clientId, secret: "wrong", headers: attacker })).status).toBe(429);
});

test("POST token 200: many concurrent requests with the right secret do not count as guesses", async () => {
  const tenant = await TestTenant.create(service.current);
  const headers = somewhere();
  const all = Array.from({ length: 20 }, () => ask({ clientId: tenant.clientId, secret: tenant.clientSecret, headers }));
  expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]));
});

test("POST token 200: somebody who invents client ids at one address does not hold up the others", async () => {
  const tenants: TestTenant[] = [];
  for (let count = 0; count < 5; count++) tenants.push(await TestTenant.create(service.current));
  const headers = somewhere();
  const invent = () => Array.from({ length: 60 }, () => ask({ clientId: `id-${randomUUID()}`, secret: "wrong", headers }));
  const [guessed, asked]: [Promise<Answer>[], Answer[]] = [[], []];
  for (const { clientId, clientSecret: secret } of tenants) {
    guessed.push(...invent());
    await Promise.race(guessed.slice(-60));
    asked.push(await ask({ clientId, secret }));
  }
  const statuses = new Set((await Promise.all(guessed)).map(({ status }) => status));
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(statuses).toEqual(new Set([401, 429]));
});
