import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { createClient, createTenant } from "../src/tenancy.ts";
import { ExternalIssuer, audience, tenantClaim, trust } from "./external-issuer.ts";
import { TestTenant, expectProblem, send, useService } from "./harness.ts";
import { Browser } from "./people.ts";

const [own, narrow] = await Promise.all([ExternalIssuer.start(), ExternalIssuer.start()]);
afterAll(() => Promise.all([own, narrow].map((issuer) => issuer.close())));

const slugs = { shop: `shop-${randomUUID()}`, bank: `bank-${randomUUID()}`, other: `other-${randomUUID()}` };
const service = useService({
  roles: new Set(["api"]),
  rateLimits: { client: 1, tenant: null, collector: null },
  trustedIssuers: [trust(own, { tenants: "*" }), trust(narrow, { tenants: [slugs.shop, slugs.bank] })],
});

async function tenantOf(slug: string): Promise<TestTenant> {
  return TestTenant.of(service.current, await createTenant(service.current.database, { slug }, clock));
}

function claims(issuer: ExternalIssuer, slug: string, more: Record<string, unknown>) {
  const exp = Math.floor(Date.now() / 1000) + 600;
  return { iss: issuer.url, aud: audience, exp, scope: "create:enduseraccount read:cases", [tenantClaim]: slug, ...more };
}

async function actorsOf(tenant: TestTenant): Promise<string[]> {
  const rows = await service.current.database.query<{ actor: string }>(sql`
    select actor
    from events
    where tenant_id = ${tenant.tenantId} and type = 'account.created'
    order by event_id`);
  return rows.map(({ actor }) => actor);
}

test("external token 403: an issuer's tokens work only for the tenants that its entry lists", async () => {
  const [shop, bank, other] = [await tenantOf(slugs.shop), await tenantOf(slugs.bank), await tenantOf(slugs.other)];
  for (const tenant of [shop, bank]) {
    const token = await narrow.sign(claims(narrow, tenant.slug, { sub: "crm" }));
    expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
  }
  const token = await narrow.sign(claims(narrow, other.slug, { sub: "crm" }));
  const body = { website_account_id: "a" };
  const refused = await other.call("POST", "/enduseraccounts", { token, body });
  expectProblem(refused, 403, "access-denied");
  expect(await actorsOf(other)).toEqual([]);
  // The response is the same as for a tenant that does not exist.
  const nowhere = await narrow.sign(claims(narrow, "no-such-tenant", { sub: "crm" }));
  expect((await send(service.current.port, "POST", "/v2/no-such-tenant/enduseraccounts", { token: nowhere, body })).text).toBe(
    refused.text,
  );
});

test("external token 200: events show the issuer next to every name, so nobody can be mistaken for somebody else", async () => {
  const tenant = await tenantOf(`t-${randomUUID()}`);
  const person = await Browser.join(tenant, "lead");
  const names = [
    `Ada Lovelace <${person.signedIn.user.email}>`,
    "system",
    tenant.clientId,
    `${narrow.url} crm`,
    "a\u202eb\u0000c\ud800",
    "100%",
  ];
  for (const [index, name] of names.entries()) {
    for (const [member, issuer] of [
      ["client_id", own],
      ["azp", own],
      ["sub", own],
    ] as const) {
      const token = await issuer.sign(claims(issuer, tenant.slug, { [member]: name }));
      const body = { website_account_id: `a-${index}-${member}` };
      const answer = await tenant.call("POST", "/enduseraccounts", { token, body });
      expect(answer.status, answer.text).toBe(201);
    }
  }
  const actors = [...new Set(await actorsOf(tenant))];
  expect(actors).toEqual([
    `${own.url} Ada%20Lovelace%20%3C${person.signedIn.user.email}%3E`,
    `${own.url} system`,
    `${own.url} ${tenant.clientId}`,
    `${own.url} ${narrow.url}%20crm`,
    `${own.url} a%E2%80%AEb%00c%EF%BF%BD`,
    `${own.url} 100%25`,
  ]);
});

test("external token 401: a name of more than 255 characters is rejected and changes nothing", async () => {
  const tenant = await tenantOf(`t-${randomUUID()}`);
  const token = await own.sign(claims(own, tenant.slug, { client_id: "x".repeat(256) }));
  const body = { website_account_id: "a" };
  expectProblem(await tenant.call("POST", "/enduseraccounts", { token, body }), 401, "unauthorized");
  expect(await actorsOf(tenant)).toEqual([]);
});

test("rate limits: an external client with a local client's id uses only its own quota", async () => {
  const tenant = await tenantOf(`t-${randomUUID()}`);
  const { database, issuer } = service.current;
  const { slug, tenantId } = tenant;
  const { client_id: clientId } = await createClient(database, { slug, scopes: ["read:cases"] }, clock);
  const foreign = await own.sign(claims(own, slug, { client_id: clientId }));
  const statuses = new Set<number>();
  for (let count = 0; count < 40; count++) statuses.add((await tenant.call("GET", "/cases", { token: foreign })).status);
  expect(statuses).toEqual(new Set([200, 429]));
  const token = await issuer.mint({ clientId, tenantId, slug, scope: "read:cases", expiresInSeconds: 60 });
  expect((await tenant.call("GET", "/cases", { token })).status).toBe(200);
});
