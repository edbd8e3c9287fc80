import { CasehoundClient, type Operations } from "@casehound/client";
import { Issuer, tokenLifeSeconds } from "../api/issuer.ts";
import { clientIdFault } from "../config.ts";
import { migrate } from "../db/migrate.ts";
import { findClient, findPrimaryClientId, findTenant, saveRevoked } from "../db/tenants.ts";
import { Failure } from "../domain/failure.ts";
import { isScope, scopes } from "../domain/scope.ts";
import { slugFault } from "../domain/tenant.ts";
import { clock } from "../clock.ts";
import { createClient } from "../tenancy.ts";
import type { Store, Wants } from "./store.ts";

export class UsageFault extends Error {}

type Option = { type: "string" | "boolean"; multiple?: boolean; describe: string };
export type Options = Record<string, string | boolean | (string | boolean)[] | undefined>;
export type Call = { store: Store; positionals: string[]; options: Options };
export type Outcome = { result: unknown; text: string; isFailure?: boolean };

export type Command = {
  name: string;
  usage: string;
  summary: string;
  positionals: { min: number; max: number };
  options: Record<string, Option>;
  wants: Wants;
  // What can be refused before a database is opened, or even made.
  check?: (call: Omit<Call, "store">) => Promise<void>;
  run: (call: Call) => Promise<Outcome>;
};

export const tenantOption: Option = { type: "string", describe: "the tenant's slug (default demo)" };
const scopeOption: Option = { type: "string", describe: "scopes, separated by spaces (default all)" };

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

function readScopes(options: Options): string[] {
  const given = textOption(options, "scope");
  if (given === undefined) return [...scopes];
  const named = given.split(/[ ,]+/).filter((scope) => scope !== "");
  const unknown = named.find((scope) => !isScope(scope));
  if (unknown !== undefined || named.length === 0)
    throw new UsageFault(`there is no scope "${unknown ?? ""}"; the scopes are ${scopes.join(" ")}`);
  return named;
}

export function readSlug(slug: string): string {
  const fault = slugFault(slug);
  if (fault !== null) throw new UsageFault(fault);
  return slug;
}

export function readClientId(options: Options): { clientId?: string } {
  const clientId = textOption(options, "client-id");
  const fault = clientId === undefined ? null : clientIdFault(clientId);
  if (fault !== null) throw new UsageFault(fault);
  return clientId === undefined ? {} : { clientId };
}

export function rows(result: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  return Object.entries(result)
    .map(([name, value]) => `${name.padEnd(width)}  ${String(value)}`)
    .join("\n");
}

async function token({ store, options }: Call): Promise<Outcome> {
  const slug = readSlug(textOption(options, "tenant") ?? "demo");
  const seconds = Number(textOption(options, "expires-in") ?? tokenLifeSeconds);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > tokenLifeSeconds) {
    throw new UsageFault(`--expires-in takes 1 to ${tokenLifeSeconds} seconds`);
  }
  const wanted = readScopes(options);
  const tenant = await findTenant(store.database, slug);
  if (!tenant) throw new Failure("item-not-found", `there is no tenant ${slug}`);
  const clientId = textOption(options, "client-id") ?? (await findPrimaryClientId(store.database, tenant.tenant_id));
  const client = clientId === undefined ? undefined : await findClient(store.database, clientId);
  if (!client || client.tenant_id !== tenant.tenant_id || client.revoked_at !== null) {
    throw new Failure("item-not-found", `the tenant ${slug} has no such client`);
  }
  const lacking = textOption(options, "scope") === undefined ? undefined : wanted.find((scope) => !client.scopes.includes(scope));
  if (lacking !== undefined) throw new Failure("access-denied", `the client ${client.client_id} lacks the scope ${lacking}`);
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

type ListedCase = Operations["listCases"]["data"]["cases"][number];

async function cases(call: Call): Promise<Outcome> {
  const { store, options, positionals } = call;
  const tenant = readSlug(textOption(options, "tenant") ?? "demo");
  const status = textOption(options, "status");
  const query = { ...(status !== undefined && { status: readStatus(status) }), limit: readLimit(options) };
  const { text: minted } = await token({ ...call, options: { tenant } });
  const baseUrl = textOption(options, "url") ?? (await store.publicUrl());
  const client = new CasehoundClient({ baseUrl, tenant, credentials: { token: minted }, attemptsMax: 1 });
  try {
    if (positionals[0] !== undefined) {
      const found = await client.call("getCase", { params: { case_id: positionals[0] } });
      return { result: found, text: JSON.stringify(found, null, 2) };
    }
    const listed = await client.call("listCases", { query });
    return { result: listed, text: caseTable(listed) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure("bad-gateway", `no service answers at ${baseUrl}: start it with npm start, or name it with --url`, {
      cause: error,
    });
  }
}

function readStatus(status: string): "OPEN" | "CLOSED" {
  if (status !== "OPEN" && status !== "CLOSED") throw new UsageFault("--status takes OPEN or CLOSED");
  return status;
}

function readLimit(options: Options): number {
  const limit = Number(textOption(options, "limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new UsageFault("--limit takes 1 to 1000");
  return limit;
}

function caseTable({ cases: listed, next_cursor: next }: Operations["listCases"]["data"]): string {
  if (listed.length === 0) return "no cases";
  const more = next === null ? [] : [`... and more: --limit, to 1000, shows them`];
  return [...listed.map(caseLine), ...more].join("\n");
}

function caseLine(each: ListedCase): string {
  const blocked = each.end_user_is_blocked ? " (blocked)" : "";
  return `${each.case_id}  ${each.status.padEnd(6)}  v${each.case_version}  ${each.overall_risk_score}  ${each.primary_fraud_label.padEnd(16)}  ${each.created_at}  ${each.website_account_id}${blocked}`;
}

export const dataCommands: Command[] = [
  {
    name: "client create",
    usage: "client create [--tenant <slug>] [--scope <scopes>]",
    summary: "a further client of a tenant",
    positionals: { min: 0, max: 0 },
    options: {
      tenant: tenantOption,
      scope: scopeOption,
      "client-id": { type: "string", describe: "the client's id (default: made up)" },
    },
    wants: { migrations: true, newDatabase: false },
    run: async ({ store, options }) => {
      const slug = readSlug(textOption(options, "tenant") ?? "demo");
      const result = await createClient(store.database, { slug, scopes: readScopes(options), ...readClientId(options) }, clock);
      return { result, text: `${rows(result)}\nThe secret is shown this once.` };
    },
  },
  {
    name: "client revoke",
    usage: "client revoke <client_id>",
    summary: "ends a client: no new tokens, and those it has stop working",
    positionals: { min: 1, max: 1 },
    options: {},
    wants: { migrations: true, newDatabase: false },
    run: async ({ store, positionals }) => {
      const client = { client_id: positionals[0] ?? "", now: clock.now() };
      const isRevoked = await store.database.transaction((tx) => saveRevoked(tx, client));
      if (!isRevoked) throw new Failure("item-not-found", `there is no client ${client.client_id} that could be revoked`);
      return { result: { client_id: client.client_id, revoked_at: client.now }, text: `${client.client_id} is revoked` };
    },
  },
  {
    name: "token",
    usage: "token [--tenant <slug>] [--scope <scopes>] [--expires-in <seconds>]",
    summary: "an access token, without a secret",
    positionals: { min: 0, max: 0 },
    options: {
      tenant: tenantOption,
      scope: scopeOption,
      "client-id": { type: "string", describe: "the client it is for (default: the tenant's first)" },
      "expires-in": { type: "string", describe: `seconds, 1 to ${tokenLifeSeconds} (default ${tokenLifeSeconds})` },
    },
    wants: { migrations: true, newDatabase: false },
    run: token,
  },
  {
    name: "cases",
    usage: "cases [<case_id>] [--tenant <slug>] [--status OPEN|CLOSED]",
    summary: "lists cases, or shows one, over the running service's API",
    positionals: { min: 0, max: 1 },
    options: {
      tenant: tenantOption,
      status: { type: "string", describe: "OPEN or CLOSED" },
      limit: { type: "string", describe: "how many, 1 to 1000 (default 20)" },
      url: { type: "string", describe: "where the service answers" },
    },
    wants: { migrations: true, newDatabase: false },
    run: cases,
  },
  {
    name: "keys rotate",
    usage: "keys rotate",
    summary: "a new key signs tokens from now on; tokens of the old ones stay good",
    positionals: { min: 0, max: 0 },
    options: {},
    wants: { migrations: true, newDatabase: false },
    run: async ({ store }) => {
      const kid = await (await Issuer.open(store.database, await store.publicUrl())).rotate();
      return { result: { kid }, text: `tokens are signed with ${kid} now` };
    },
  },
  {
    name: "migrate",
    usage: "migrate",
    summary: "brings the database's tables up to date, as a start of the service does",
    positionals: { min: 0, max: 0 },
    options: {},
    wants: { migrations: false, newDatabase: true },
    run: async ({ store }) => {
      const applied = await migrate(store.database);
      return {
        result: { applied },
        text: applied.length === 0 ? "nothing to do" : applied.map((name) => `applied ${name}`).join("\n"),
      };
    },
  },
];
