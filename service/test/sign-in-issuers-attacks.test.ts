import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { TestTenant, expectProblem, send, useService, type Answer } from "./harness.ts";
import { PeopleIssuer, clientSecret } from "./people-issuer.ts";
import { cookiesOf, invite } from "./people.ts";

const service = useService({ roles: new Set(["api"]), hasPrivateWebhooks: true });
let honest: PeopleIssuer;
// Claims to be the honest one.
let liar: Server;
let liarUrl: string;

beforeAll(async () => {
  honest = await PeopleIssuer.start();
  liar = createServer((_request, response) => {
    const document = { issuer: honest.url, authorization_endpoint: `${liarUrl}/authorize`, token_endpoint: `${liarUrl}/token` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", () => resolve()));
  // A TCP server's address is never a string.
  liarUrl = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
});
afterAll(async () => {
  liar.close();
  await honest.close();
});

async function withIssuer(issuer: string): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  const body = { issuer_key: "id", name: "Shop ID", issuer, client_id: "console", client_secret: clientSecret };
  const made = await tenant.call("POST", "/issuers", { body });
  expect(made.status, made.text).toBe(201);
  return tenant;
}

// Returns what sends the browser back, so that a test can do something before.
async function travel(tenant: TestTenant, email: string): Promise<() => Promise<Answer>> {
  await honest.admit(service.current, { isEmailInIdToken: true, paths: [`/auth/oidc/${tenant.slug}/id/callback`] });
  honest.at = { sub: randomUUID(), email, email_verified: true };
  const { callback, cookie } = await honest.travel(service.current, `/auth/oidc/${tenant.slug}/id`);
  const { pathname, search } = new URL(callback);
  return () => send(service.current.port, "GET", `${pathname}${search}`, { headers: { cookie } });
}

function problemOf(answer: Answer): string | null {
  expect(answer.status, answer.text).toBe(303);
  expect(cookiesOf(answer).get("casehound_session")).toBeUndefined();
  return new URL(answer.headers.get("location") ?? "").searchParams.get("problem");
}

test("attack: an issuer cannot take the name of another one", async () => {
  const tenant = await withIssuer(liarUrl);
  const begin = () => send(service.current.port, "GET", `/auth/oidc/${tenant.slug}/id`);
  expect(problemOf(await begin())).toBe("issuer-unreachable");
  const issuer = `${liarUrl}/.well-known/openid-configuration`;
  const body = { issuer_key: "document", name: "Shop ID", issuer, client_id: "console", client_secret: clientSecret };
  const problem = expectProblem(await tenant.call("POST", "/issuers", { body }), 422, "validation-error");
  expect(problem.errors).toEqual([{ field: "issuer", message: "must be the issuer itself, without /.well-known/" }]);
  // Even if such a URL were stored.
  const text = "update sign_in_issuers set issuer = $2 where tenant_id = $1";
  await service.current.database.query(statement(text, [tenant.tenantId, issuer]));
  expect(problemOf(await begin())).toBe("refused");
});

test("attack: an issuer that answers only after it was changed or deleted signs nobody in", async () => {
  const tenant = await withIssuer(honest.url);
  const { user } = await invite(tenant, "admin");
  const comeBack = await travel(tenant, user.email);
  const { database } = service.current;
  let answer: Promise<Answer> | undefined;
  await database.transaction(async (tx) => {
    await tx.query(statement("delete from sign_in_issuers where tenant_id = $1", [tenant.tenantId]));
    answer = comeBack();
    const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%sign_in_issuers%'";
    await vi.waitFor(async () => expect(await database.query(statement(waiting, []))).toHaveLength(1), 20_000);
  });
  expect(answer && problemOf(await answer)).toBe("expired");
  expect((await tenant.call("GET", `/users/${user.user_id}`)).json.data).toMatchObject({ has_external_sign_in: false });
});

test("attack: an issuer does not replace the second factor of a person whom it has not signed in before", async () => {
  const tenant = await withIssuer(honest.url);
  const { user } = await invite(tenant, "admin");
  const factor = "insert into user_totp (tenant_id, user_id, secret, confirmed_at, last_step) values ($1, $2, $3, now(), 0)";
  await service.current.database.query(statement(factor, [tenant.tenantId, user.user_id, Buffer.alloc(20)]));
  expect(problemOf(await (await travel(tenant, user.email))())).toBe("has-second-factor");
  await tenant.call("DELETE", `/users/${user.user_id}/second-factor`);
  const answer = await (await travel(tenant, user.email))();
  expect(answer.headers.get("location")).toBe(`${service.current.url}/`);
  const { events } = (await tenant.call("GET", "/events?limit=1000")).json.data as { events: { type: string; data?: object }[] };
  expect(events.find(({ type }) => type === "user.joined")?.data).toEqual({ issuer_key: "id" });
});

test("attack: a link on another site does not start a sign-in, and leads to the tenant's sign-in page", async () => {
  const tenant = await withIssuer(honest.url);
  const path = `/auth/oidc/${tenant.slug}/id`;
  const answer = await send(service.current.port, "GET", path, { headers: { "sec-fetch-site": "cross-site" } });
  expect(answer.headers.get("location")).toBe(`${service.current.url}/sign-in?tenant=${tenant.slug}`);
  expect(answer.headers.getSetCookie()).toEqual([]);
});
