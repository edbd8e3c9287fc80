import { Issuer, tokenLifeSeconds } from "../api/tokens/issuer.ts";
import { findClient, findPrimaryClientId, findTenant } from "../db/tenants.ts";
import { Failure } from "../domain/failure.ts";
import { isScope, scopes } from "../domain/scope.ts";
import { UsageFault, readSlug, textOption, type Call, type Options, type Outcome } from "./command.ts";

export function readScopes(options: Options): string[] {
  const given = textOption(options, "scope");
  if (given === undefined) return [...scopes];
  const named = given.split(/[ ,]+/).filter((scope) => scope !== "");
  const unknown = named.find((scope) => !isScope(scope));
  if (unknown !== undefined || named.length === 0)
    throw new UsageFault(`there is no scope "${unknown ?? ""}"; valid scopes are ${scopes.join(" ")}`);
  return named;
}

export async function mintToken({ store, options }: Call): Promise<Outcome> {
  const slug = readSlug(textOption(options, "tenant") ?? "demo");
  const seconds = Number(textOption(options, "expires-in") ?? tokenLifeSeconds);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > tokenLifeSeconds) {
    throw new UsageFault(`--expires-in must be 1 to ${tokenLifeSeconds} seconds`);
  }
  const wanted = readScopes(options);
  const tenant = await findTenant(store.database, slug);
  if (!tenant) throw new Failure("item-not-found", `there is no tenant ${slug}`);
  const clientId = textOption(options, "client-id") ?? (await findPrimaryClientId(store.database, tenant.tenant_id));
  const client = clientId === undefined ? undefined : await findClient(store.database, clientId);
  if (!client || client.tenant_id !== tenant.tenant_id || client.revoked_at !== null) {
    throw new Failure("item-not-found", `tenant ${slug} has no such client`);
  }
  const lacking = textOption(options, "scope") === undefined ? undefined : wanted.find((scope) => !client.scopes.includes(scope));
  if (lacking !== undefined) throw new Failure("access-denied", `client ${client.client_id} does not have the scope ${lacking}`);
  const scope = wanted.filter((each) => client.scopes.includes(each)).join(" ");
  const issuer = await Issuer.open(store.database, await store.publicUrl());
  const text = await issuer.mint({
    clientId: client.client_id,
    tenantId: tenant.tenant_id,
    slug,
    scope,
    expiresInSeconds: seconds,
  });
  return { result: { access_token: text, token_type: "Bearer", expires_in: seconds }, text };
}
