import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { hashSecret, isClientSecret, newSecret } from "./api/tokens/secret.ts";
import { ConfigFault, type Config } from "./config.ts";
import type { Database, Queryable } from "./db/postgres/database.ts";
import { appendEvents } from "./db/events.ts";
import {
  findDefaultsVersion,
  insertDefaults,
  insertRuleVersion,
  listRules,
  listTenantsBefore,
  listTenantsWithoutRules,
  lockSettings,
  raiseRevision,
  saveDefaultsVersion,
} from "./db/rules.ts";
import { findClient, findTenant, insertClient, hasTenants, insertTenant, lockTenant, saveTenant } from "./db/tenants.ts";
import { defaultRules, defaultsVersion } from "./detection/default-rules.ts";
import { Failure } from "./domain/failure.ts";
import { changeRule, changedMembers } from "./domain/rule.ts";
import { scopes } from "./domain/scope.ts";

type Credentials = { tenant: string; tenant_id: string; client_id: string; client_secret: string; app_key: string };

// Allows the simulated shop's pages to send events to the tenant. Returns the app key that they use.
export async function allowOrigin(database: Database, slug: string, origin: string): Promise<string> {
  return database.transaction(async (tx) => {
    const tenant = await lockTenant(tx, slug);
    if (!tenant) throw new Failure("item-not-found", `there is no tenant ${slug}`);
    if (!tenant.allowed_origins.includes(origin)) {
      await saveTenant(tx, { ...tenant, allowed_origins: [...tenant.allowed_origins, origin] });
    }
    return tenant.app_key;
  });
}

// The secret is null if it was rotated, because then it is not known here.
export type DemoCredentials = { tenant: string; client_id: string; client_secret: string | null };

type Clock = { now: () => string };

type NewTenant = { slug: string; clientId?: string; clientSecret?: string; allowedOrigins?: string[] };

// Creates a tenant with its first client, which has every scope. The secret is returned only here.
export async function createTenant(database: Database, wanted: NewTenant, clock: Clock): Promise<Credentials> {
  const secret = wanted.clientSecret ?? newSecret();
  const tenant = {
    tenant_id: randomUUID(),
    slug: wanted.slug,
    app_key: randomBytes(12).toString("hex"),
    allowed_origins: wanted.allowedOrigins ?? [],
    created_at: clock.now(),
  };
  const client = {
    tenant_id: tenant.tenant_id,
    client_id: wanted.clientId ?? `${wanted.slug}-${randomBytes(6).toString("hex")}`,
    scopes: [...scopes],
    is_primary: true,
    secret_hash: await hashSecret(secret),
    created_at: tenant.created_at,
  };
  await database.transaction(async (tx) => {
    if (!(await insertTenant(tx, tenant))) throw new Failure("item-already-exists", `tenant ${wanted.slug} already exists`);
    if (!(await insertClient(tx, client)))
      throw new Failure("item-already-exists", `client id ${client.client_id} is already in use`);
    await insertDefaults(tx, tenant.tenant_id, defaultRules, tenant.created_at);
    await saveDefaultsVersion(tx, tenant.tenant_id, defaultsVersion);
  });
  return {
    tenant: tenant.slug,
    tenant_id: tenant.tenant_id,
    client_id: client.client_id,
    client_secret: secret,
    app_key: tenant.app_key,
  };
}

// Adds the default rules to tenants that the first release created without any.
export async function seedRules(database: Database, clock: Clock): Promise<void> {
  for (const tenantId of await listTenantsWithoutRules(database)) {
    await database.transaction((tx) => insertDefaults(tx, tenantId, defaultRules, clock.now()));
  }
}

// Upgrades the default rules of tenants that an earlier release created.
export async function upgradeDefaultRules(database: Database, clock: Clock): Promise<void> {
  for (const tenantId of await listTenantsBefore(database, defaultsVersion)) {
    await database.transaction((tx) => upgradeRules(tx, tenantId, clock.now()));
  }
}

// Replaces each rule whose latest version is by `system` and differs from this release's default. The tenant's defaults_version
// is raised in the same transaction, so that this happens once and a process of an earlier release does not undo it.
async function upgradeRules(tx: Queryable, tenantId: string, now: string): Promise<void> {
  await lockSettings(tx, tenantId, now);
  if ((await findDefaultsVersion(tx, tenantId)) >= defaultsVersion) return;
  const byId = new Map(defaultRules.map((rule) => [rule.rule_id, rule]));
  const actor = { name: "system", now };
  const upgraded = (await listRules(tx, tenantId)).flatMap((rule) => {
    const wanted = rule.updated_by === actor.name ? byId.get(rule.rule_id) : undefined;
    if (!wanted) return [];
    const changed = changeRule(rule, { ...wanted, rule_version: rule.rule_version }, actor);
    return changed === rule ? [] : [{ rule: changed, changed: changedMembers(rule, changed) }];
  });
  for (const { rule } of upgraded) await insertRuleVersion(tx, tenantId, rule);
  if (upgraded.length > 0) await raiseRevision(tx, tenantId);
  await saveDefaultsVersion(tx, tenantId, defaultsVersion);
  await appendEvents(
    tx,
    tenantId,
    upgraded.map(({ rule, changed }) => ({
      type: "rule.changed" as const,
      occurred_at: now,
      actor: actor.name,
      resource: { type: "rule" as const, id: rule.rule_id, version: rule.rule_version },
      data: { state: rule.state, changed },
    })),
  );
}

type NewClient = { slug: string; clientId?: string; scopes: string[] };

export async function createClient(database: Database, wanted: NewClient, clock: Clock): Promise<Omit<Credentials, "app_key">> {
  const tenant = await findTenant(database, wanted.slug);
  if (!tenant) throw new Failure("item-not-found", `there is no tenant ${wanted.slug}`);
  const secret = newSecret();
  const clientId = wanted.clientId ?? `${wanted.slug}-${randomBytes(6).toString("hex")}`;
  const client = {
    tenant_id: tenant.tenant_id,
    client_id: clientId,
    scopes: wanted.scopes,
    is_primary: false,
    secret_hash: await hashSecret(secret),
    created_at: clock.now(),
  };
  const isNew = await database.transaction((tx) => insertClient(tx, client));
  if (!isNew) throw new Failure("item-already-exists", `client id ${clientId} is already in use`);
  return { tenant: tenant.slug, tenant_id: tenant.tenant_id, client_id: clientId, client_secret: secret };
}

// Creates the tenant and the client if they do not exist. If many processes start at once, one creates them and the others find
// them.
export async function bootstrap(database: Database, wanted: NonNullable<Config["bootstrap"]>, clock: Clock): Promise<void> {
  const { tenant: slug, clientId, clientSecret } = wanted;
  const existing = await findClient(database, clientId);
  if (existing && existing.slug !== slug) throw new ConfigFault(`BOOTSTRAP_CLIENT_ID ${clientId} belongs to another tenant`);
  if (existing) return;
  const found = await findTenant(database, slug);
  if (!found) {
    await createTenant(database, { slug, clientId, clientSecret }, clock).catch(ignoreExisting);
    return;
  }
  const client = {
    tenant_id: found.tenant_id,
    client_id: clientId,
    scopes: [...scopes],
    is_primary: false,
    secret_hash: await hashSecret(clientSecret),
    created_at: clock.now(),
  };
  await database.transaction((tx) => insertClient(tx, client));
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Failure) || error.code !== "item-already-exists") throw error;
}

// The trial tenant's credentials are stored beside its data, because the database contains only a hash of the secret. If the file
// is lost, or was never written because the first start was killed, the tenant gets another client. A database with other
// tenants, such as a restored one, is not a trial: it gets no credentials, and the result is null.
export async function demoCredentials(database: Database, file: string, clock: Clock): Promise<DemoCredentials | null> {
  const kept = readKept(file);
  const client = kept && (await findClient(database, kept.client_id));
  if (kept && client) return (await isClientSecret(kept.client_secret, client)) ? kept : { ...kept, client_secret: null };
  const slug = "demo";
  const isThere = (await findTenant(database, slug)) !== undefined;
  if (!isThere && (await hasTenants(database))) return null;
  const credentials = isThere
    ? await createClient(database, { slug, scopes: [...scopes] }, clock)
    : await createTenant(database, { slug }, clock);
  writeFileSync(`${file}.new`, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  // Rename in one step, so that a kill leaves no partial file.
  renameSync(`${file}.new`, file);
  return credentials;
}

function readKept(file: string): (DemoCredentials & { client_secret: string }) | null {
  try {
    // Only `demoCredentials` writes the file, so its shape is known.
    return JSON.parse(readFileSync(file, "utf8")) as DemoCredentials & { client_secret: string };
  } catch {
    return null;
  }
}
