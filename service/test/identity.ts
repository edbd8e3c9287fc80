import { expect } from "vitest";
import { signIdentity } from "../src/api/tokens/identity-token.ts";
import type { IdentityDay, IdentitySecret } from "../src/domain/identity.ts";
import type { Options, TestTenant } from "./harness.ts";

export type Made = { secret_id: string; secret: string; identity_verification: string; previous_secret_expires_at?: string };
export type Shown = {
  identity_verification: string;
  secrets: IdentitySecret[];
  days: IdentityDay[];
  is_snippet_only: boolean;
};

export async function makeSecret(tenant: TestTenant, options: Options = {}): Promise<Made> {
  const answer = await tenant.call("POST", "/tenants/identity/secrets", options);
  expect(answer.status, answer.text).toBe(201);
  return answer.json.data;
}

export async function readIdentity(tenant: TestTenant): Promise<Shown> {
  const answer = await tenant.call("GET", "/tenants/identity");
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

type Signed = { secret: string; accountId?: string; expiresInSeconds?: number };

// A token as a site's server creates it.
export function tokenOf({ secret, accountId = "user-42", expiresInSeconds = 3600 }: Signed): string {
  const expiry = String(Math.floor(Date.now() / 1000) + expiresInSeconds);
  return `v1.${expiry}.${signIdentity(secret, { accountId, expiry })}`;
}
