import { Issuer, tokenLifeSeconds } from "../api/tokens/issuer.ts";
import { clock } from "../clock.ts";
import { migrate } from "../db/postgres/migrate.ts";
import { saveRevoked } from "../db/tenants.ts";
import { Failure } from "../domain/failure.ts";
import { createClient } from "../tenancy.ts";
import { readClientId, readSlug, tenantOption, textOption, type Command, type Option } from "./command.ts";
import { mintToken, readScopes } from "./mint.ts";
import { rows } from "./table.ts";

const scopeOption: Option = { type: "string", describe: "scopes, separated by spaces (default all)" };

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
