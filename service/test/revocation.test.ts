import { Agent, get } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { clock } from "../src/clock.ts";
import { saveRevoked } from "../src/db/tenants.ts";
import { createClient } from "../src/tenancy.ts";
import { TestTenant, useService } from "./harness.ts";

const service = useService({ roles: new Set(["api"]) });

// Sends requests one after the other on a single open connection, and returns their status.
function onOneConnection({ slug }: TestTenant) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return (token: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const path = `/v2/${slug}/cases`;
      const options = { agent, port: service.current.port, path, headers: { authorization: `Bearer ${token}` } };
      get(options, (answer) => answer.resume().on("end", () => resolve(answer.statusCode))).on("error", reject);
    });
}

test("revocation 401: of two tokens used in turn on one connection, the revoked one stops and the other continues", async () => {
  const { database, issuer } = service.current;
  const tenant = await TestTenant.create(service.current);
  const { tenantId, slug } = tenant;
  const { client_id: clientId } = await createClient(database, { slug, scopes: ["read:cases"] }, clock);
  const token = await issuer.mint({ tenantId, slug, scope: "read:cases", clientId, expiresInSeconds: 600 });
  const use = onOneConnection(tenant);
  for (const each of [token, token, token, tenant.token, token, tenant.token, token]) expect(await use(each)).toBe(200);
  await database.transaction((tx) => saveRevoked(tx, { client_id: clientId, now: clock.now() }));
  await vi.waitFor(async () => expect(await use(token)).toBe(401), { timeout: 5_000, interval: 20 });
  for (const each of [tenant.token, tenant.token]) expect(await use(each)).toBe(200);
  expect(await use(token)).toBe(401);
});

test("expiry 401: an expired token is rejected on the connection where it was valid", async () => {
  const tenant = await TestTenant.create(service.current);
  const token = await tenant.mint(["read:cases"], 4);
  const use = onOneConnection(tenant);
  for (const each of [token, token]) expect(await use(each)).toBe(200);
  await vi.waitFor(async () => expect(await use(token)).toBe(401), { timeout: 15_000, interval: 50 });
});
