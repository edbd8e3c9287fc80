import { Failure } from "../../domain/failure.ts";

// The caller. Determined once per token, and cached until the token expires or its client is revoked.
export type Identity = {
  tenant: { tenant_id: string; slug: string } | null;
  actor: string;
  scopes: Set<string>;
  expiresAtMs: number;
  // Set for clients of the built-in issuer, the only ones that we can revoke.
  clientId: string | null;
  // Set if a person calls, identified by a session cookie.
  person?: { user_id: string; role: string };
  // Set if a directory calls with its own token, which works only for SCIM.
  scim?: { adoptsPeople: boolean };
};

export function unauthorized(detail: string, hadToken = true): Failure {
  const challenge = `Bearer realm="casehound"${hadToken ? ', error="invalid_token"' : ""}`;
  return new Failure("unauthorized", detail, { headers: { "www-authenticate": challenge } });
}
