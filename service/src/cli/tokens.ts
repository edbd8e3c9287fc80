import { Issuer, tokenLifeSeconds } from "../api/tokens/issuer.ts";
import { clock } from "../clock.ts";
import { migrate } from "../db/postgres/migrate.ts";
import { findClient, findPrimaryClientId, findTenant, saveRevoked } from "../db/tenants.ts";
import { Failure } from "../domain/failure.ts";
import { isScope, scopes } from "../domain/scope.ts";
import { createClient } from "../tenancy.ts";
import {
  UsageFault,
  readClientId,
  readSlug,
  tenantOption,
  textOption,
  type Call,
  type Command,
  type Option,
  type Options,
  type Outcome,
} from "./command.ts";
import { rows } from "./table.ts";

const scopeOption: Option = { type: "string", describe: "scopes, separated by spaces (default all)" };

function readScopes(options: Options): string[] {
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

export const tokenCommands: Command[] = [
  {
    name: "client create",
    usage: "client create [--tenant <slug>] [--scope <scopes>]",
    summary: "creates another client for a tenant",
    positionals: { min: 0, max: 0 },
    options: {
      tenant: tenantOption,
      scope: scopeOption,
      "client-id": { type: "string", describe: "the client's id (default: generated)" },
    },
    wants: { schema: "current", newDatabase: false },
    run: async ({ store, options }) => {
      const slug = readSlug(textOption(options, "tenant") ?? "demo");
      const result = await createClient(store.database, { slug, scopes: readScopes(options), ...readClientId(options) }, clock);
      return { result, text: `${rows(result)}\nThe secret is shown only once.` };
    },
  },
  {
    name: "client revoke",
    usage: "client revoke <client_id>",
    summary: "revokes a client: it gets no new tokens, and its existing ones stop working",
    positionals: { min: 1, max: 1 },
    options: {},
    wants: { schema: "current", newDatabase: false },
    run: async ({ store, positionals }) => {
      const client = { client_id: positionals[0] ?? "", now: clock.now() };
      const isRevoked = await store.database.transaction((tx) => saveRevoked(tx, client));
      if (!isRevoked) throw new Failure("item-not-found", `client ${client.client_id} does not exist, or was already revoked`);
      return { result: { client_id: client.client_id, revoked_at: client.now }, text: `${client.client_id} is revoked` };
    },
  },
  {
    name: "token",
    usage: "token [--tenant <slug>] [--scope <scopes>] [--expires-in <seconds>]",
    summary: "prints an access token; no client secret is needed",
    positionals: { min: 0, max: 0 },
    options: {
      tenant: tenantOption,
      scope: scopeOption,
      "client-id": { type: "string", describe: "the client that the token is for (default: the tenant's first)" },
      "expires-in": { type: "string", describe: `seconds, 1 to ${tokenLifeSeconds} (default ${tokenLifeSeconds})` },
    },
    wants: { schema: "current", newDatabase: false },
    run: mintToken,
  },
  {
    name: "keys rotate",
    usage: "keys rotate",
    summary: "signs tokens with a new key from now on; existing tokens stay valid",
    positionals: { min: 0, max: 0 },
    options: {},
    wants: { schema: "current", newDatabase: false },
    run: async ({ store }) => {
      const kid = await (await Issuer.open(store.database, await store.publicUrl())).rotate();
      return { result: { kid }, text: `tokens are now signed with ${kid}` };
    },
  },
  {
    name: "migrate",
    usage: "migrate",
    summary: "brings the database's tables up to date, as starting the service does",
    positionals: { min: 0, max: 0 },
    options: {},
    wants: { schema: "any", newDatabase: true },
    run: async ({ store }) => {
      const applied = await migrate(store.database);
      return {
        result: { applied },
        text: applied.length === 0 ? "nothing to do" : applied.map((name) => `applied ${name}`).join("\n"),
      };
    },
  },
];
