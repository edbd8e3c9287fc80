import type { TSchema } from "typebox";
import { rotateIdentitySecret } from "../api/identity.ts";
import { saveTenantChange, shownTenant } from "../api/tenants.ts";
import { validate } from "../api/http/validate.ts";
import { clock } from "../clock.ts";
import { findPrimaryClientId, listTenants } from "../db/tenants.ts";
import { Failure } from "../domain/failure.ts";
import { TenantChange, tenantChangeFaults } from "../domain/tenant.ts";
import { createTenant } from "../tenancy.ts";
import {
  UsageFault,
  readClientId,
  readSlug,
  textOption,
  type Call,
  type Command,
  type Options,
  type Outcome,
} from "./command.ts";
import { rows, table } from "./table.ts";

const originOption = {
  type: "string",
  multiple: true,
  describe: "a web origin that may send browser events; can be repeated",
} as const;
const schema: TSchema = TenantChange;
// The actor in the tenant's events.
const actor = "command line";

function readChange(options: Options): TenantChange {
  const [origins, parameters] = [texts(options, "origin"), texts(options, "url-parameter")];
  const [policy, days] = [textOption(options, "ip-policy"), textOption(options, "retention-days")];
  const [verification, zone] = [textOption(options, "identity-verification"), textOption(options, "time-zone")];
  const change = {
    ...(origins && { allowed_origins: origins }),
    ...(policy !== undefined && { ip_policy: policy }),
    ...(parameters && { url_parameters: parameters }),
    ...(days !== undefined && { retention_days: readDays(days) }),
    ...(verification !== undefined && { identity_verification: verification }),
    ...(zone !== undefined && { time_zone: zone }),
  };
  try {
    validate(schema, change, tenantChangeFaults);
  } catch (error) {
    const [fault] = (error instanceof Failure && error.errors) || [];
    throw fault ? new UsageFault(`${fault.field} ${fault.message}`) : error;
  }
  // The schema was validated above.
  return change as TenantChange;
}

// The schema rejects anything that is not a number.
function readDays(days: string): number | string {
  if (days === "default") return 0;
  return /^\d{1,9}$/.test(days) ? Number(days) : days;
}

// Undefined if the option was not given. An empty text empties the list.
function texts(options: Options, name: string): string[] | undefined {
  const given = options[name];
  return Array.isArray(given) ? given.map(String).filter((text) => text !== "") : undefined;
}

async function create({ store, positionals, options }: Call): Promise<Outcome> {
  const slug = readSlug(positionals[0] ?? "");
  const wanted = { slug, allowedOrigins: readChange(options).allowed_origins ?? [], ...readClientId(options) };
  const result = await createTenant(store.database, wanted, clock);
  return { result, text: `${rows(result)}\nThe secret is shown only once.` };
}

async function update({ store, positionals, options }: Call): Promise<Outcome> {
  const slug = readSlug(positionals[0] ?? "");
  const change = readChange(options);
  if (Object.keys(change).length === 0) throw new UsageFault("nothing to change: give an option");
  const result = await store.database.transaction(async (tx) => {
    const tenant = await saveTenantChange(tx, slug, { change, actor, now: clock.now() });
    return shownTenant(tenant, await findPrimaryClientId(tx, tenant.tenant_id));
  });
  return { result, text: rows(result) };
}

async function makeIdentitySecret({ store, positionals, options }: Call): Promise<Outcome> {
  const slug = readSlug(positionals[0] ?? "");
  const now = clock.now();
  const by = { isRevoking: options["revoke-now"] === true, actor, now, secretId: clock.newId(now) };
  const result = await store.database.transaction((tx) => rotateIdentitySecret(tx, slug, by));
  return { result, text: `${rows(result)}\nThe secret is shown only once.` };
}

async function list({ store }: Call): Promise<Outcome> {
  const tenants = await listTenants(store.database);
  const lines = tenants.map((each) => [each.slug, each.app_key, each.ip_policy, each.created_at, each.allowed_origins.join(" ")]);
  const text = tenants.length === 0 ? "no tenants" : table(["tenant", "app key", "addresses", "created", "origins"], lines);
  return { result: { tenants }, text };
}

export const tenantCommands: Command[] = [
  {
    name: "tenant create",
    usage: "tenant create <slug> [--origin <origin>]...",
    summary: "creates a tenant, with a client that has every scope",
    positionals: { min: 1, max: 1 },
    options: {
      "client-id": { type: "string", describe: "the client's id (default: generated)" },
      origin: originOption,
    },
    wants: { schema: "migrated", newDatabase: true },
    run: create,
  },
  {
    name: "tenant list",
    usage: "tenant list",
    summary: "lists the tenants of this database",
    positionals: { min: 0, max: 0 },
    options: {},
    wants: { schema: "current", newDatabase: false },
    run: list,
  },
  {
    name: "tenant update",
    usage:
      "tenant update <slug> [--origin <origin>]... [--ip-policy <policy>] [--retention-days <days>] [--identity-verification <setting>] [--time-zone <zone>]",
    summary: "changes the given settings; a list replaces the previous one",
    positionals: { min: 1, max: 1 },
    options: {
      origin: originOption,
      "ip-policy": { type: "string", describe: "how IP addresses are stored: full, truncate or hash" },
      "url-parameter": { type: "string", multiple: true, describe: "a query parameter to keep in page URLs; can be repeated" },
      "retention-days": {
        type: "string",
        describe: "days to keep raw activity: 1 to 3650, or default to use RETENTION_DAYS",
      },
      "time-zone": { type: "string", describe: "the zone in which hours and weekends are counted, such as Europe/Berlin" },
      "identity-verification": {
        type: "string",
        describe: "whether pages must prove which user is signed in: off, observe or required",
        values: ["off", "observe", "required"],
      },
    },
    wants: { schema: "current", newDatabase: false },
    run: update,
  },
  {
    name: "tenant identity-secret",
    usage: "tenant identity-secret <slug> [--revoke-now]",
    summary: "creates a new secret for signing identity tokens; older ones work for another day",
    positionals: { min: 1, max: 1 },
    options: { "revoke-now": { type: "boolean", describe: "revoke the older secrets at once" } },
    wants: { schema: "current", newDatabase: false },
    run: makeIdentitySecret,
  },
];
