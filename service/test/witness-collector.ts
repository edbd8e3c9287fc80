import { randomUUID } from "node:crypto";
import { send, type TestTenant } from "./harness.ts";
import type { Sample } from "./witness.ts";

async function collectorPath(tenant: TestTenant): Promise<string> {
  const answer = await tenant.call("GET", "/tenants");
  return `/collect/${(answer.json.data as { clickstream_app_id: string }).clickstream_app_id}?hashCode=00000000`;
}

// The requests for the collector and for a tenant's settings and secrets.
export const collectorTraffic: Record<string, (tenant: TestTenant) => Promise<Sample[]>> = {
  collectEvents: async (tenant) => {
    const path = await collectorPath(tenant);
    const event = { event_id: randomUUID(), event_type: "x", timestamp: Date.now() };
    return [
      { path, options: { body: [event] }, status: 200 },
      { path: "/collect/no-such-key", options: { body: [event] }, status: 403, type: "access-denied" },
      { path, options: { body: [{ padding: "x".repeat(2 * 1024 * 1024) }] }, status: 413, type: "payload-too-large" },
    ];
  },
  getTag: async () => [{ path: "/tag.js", status: 200 }],
  getSnippet: async () => [{ path: "/snippet", status: 200 }],
  updateTenant: async () => [
    { path: "/tenants", options: { body: { allowed_origins: ["https://shop.example"], url_parameters: ["q"] } }, status: 200 },
    { path: "/tenants", options: { body: { ip_policy: "hash" } }, status: 200 },
    { path: "/tenants", options: { body: { identity_verification: "required" } }, status: 422, type: "validation-error" },
  ],
  rotateAuthSecret: async () => [
    { path: "/tenants/rotate-auth-secret", options: { body: { revoke_now: false } }, status: 200 },
    { path: "/tenants/rotate-auth-secret", status: 200 },
    { path: "/tenants/rotate-auth-secret", options: { body: { revoke_now: true } }, status: 200 },
  ],
  getIdentity: async (tenant) => {
    await tenant.call("POST", "/tenants/identity/secrets");
    await tenant.call("POST", "/tenants/identity/secrets");
    return [{ path: "/tenants/identity", status: 200 }];
  },
  createIdentitySecret: async () => [
    { path: "/tenants/identity/secrets", options: { body: { revoke_now: false } }, status: 201 },
    { path: "/tenants/identity/secrets", status: 201 },
    { path: "/tenants/identity/secrets", options: { body: { revoke_now: true } }, status: 201 },
  ],
  listQuarantine: async (tenant) => {
    const path = await collectorPath(tenant);
    for (const rawBody of ["no JSON", "{}"]) await send(tenant.service.port, "POST", path, { rawBody });
    return [{ path: "/quarantine?reason=not-json&limit=1", status: 200 }];
  },
};
