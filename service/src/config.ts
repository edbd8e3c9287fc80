import type { BlockList } from "node:net";
import { resolve } from "node:path";
import { readServers } from "./db/postgres/database-url.ts";
import { clientIdFault, slugFault } from "./domain/slug.ts";
import { readMailSettings, type MailSettings } from "./mail/settings.ts";
import { readProxies } from "./proxies.ts";
import { readWorkers, type WorkerCount } from "./processes/worker-count.ts";

// The only reader of the environment. A fault in it is reported in one line, with exit code 2.
export class ConfigFault extends Error {}

// The same error as a fault of the variable.
export function asConfigFault(name: string): (error: Error) => never {
  return (error) => {
    throw new ConfigFault(`${name}: ${error.message}`, { cause: error });
  };
}

export type TrustedIssuer = {
  issuer: string;
  audience: string;
  jwks_uri: string;
  tenant_claim: string;
  scope_claim: string;
  // The slugs of the tenants that it may issue tokens for, or all tenants.
  tenants: string[] | "*";
};

// The identity provider through which people may sign in, and the tenant that they belong to.
export type OidcSettings = { issuer: string; clientId: string; clientSecret: string; tenant: string };

const roles = ["api", "collector", "engine"] as const;
export type Role = (typeof roles)[number];

const rowSecurities = ["auto", "on", "off"] as const;

const logFormats = ["json", "pretty"] as const;
export type LogFormat = (typeof logFormats)[number];

export type Config = {
  host: string;
  port: number;
  // Whether HOST or PORT gives an address where the service can be called.
  isAddressGiven: boolean;
  publicUrl: string | null;
  databaseUrl: string | null;
  dataDir: string;
  hasDemo: boolean;
  roles: Set<Role>;
  workers: WorkerCount;
  metricsHost: string;
  metricsPort: number | null;
  logLevel: string;
  logFormat: LogFormat;
  isStrictHost: boolean;
  // `auto` means on, unless the database does not allow it.
  rowSecurity: (typeof rowSecurities)[number];
  bootstrap: { tenant: string; clientId: string; clientSecret: string } | null;
  trustedIssuers: TrustedIssuer[];
  oidc: OidcSettings | null;
  // Address databases in the MaxMind format.
  mmdbFiles: string[];
  retentionDays: number;
  // Requests per second that the processes of one service accept together. Null means no limit.
  rateLimits: { client: number | null; tenant: number | null; collector: number | null };
  // Quotas per second on what pages send: events, and new devices and sessions, for one address and for one app key. Null means
  // no quota.
  collectorQuotas: Record<"address" | "key", { events: number | null; names: number | null }>;
  // Whether webhooks may go to private addresses and use plain http.
  hasPrivateWebhooks: boolean;
  // Null if the operator has not set up e-mail.
  mail: MailSettings | null;
  // The proxies that are trusted to say where a request comes from.
  trustedProxies: BlockList;
};

export type Environment = Record<string, string | undefined>;

// Only what needs attention is logged to a terminal, so that the addresses printed at the start stay in sight.
const terminal = { format: "pretty", level: "warn" } as const;
const elsewhere = { format: "json", level: "info" } as const;

export function readConfig(env: Environment = process.env, isTerminal = process.stderr.isTTY): Config {
  const usual = isTerminal ? terminal : elsewhere;
  const databaseUrl = text(env, "DATABASE_URL");
  const servers = databaseUrl === null ? null : readServers(databaseUrl);
  if (typeof servers === "string") throw new ConfigFault(`DATABASE_URL ${servers}`);
  return {
    host: text(env, "HOST") ?? "127.0.0.1",
    port: port(env, "PORT", 8080),
    isAddressGiven: isAddressGiven(env),
    publicUrl: baseUrl(text(env, "PUBLIC_URL"), "PUBLIC_URL"),
    databaseUrl,
    dataDir: resolve(text(env, "DATA_DIR") ?? "data"),
    hasDemo: oneOf(env, "DEMO", ["on", "off"], "on") === "on",
    roles: readRoles(text(env, "ROLES")),
    workers: orFault(readWorkers(text(env, "WORKERS"))),
    metricsHost: text(env, "METRICS_HOST") ?? "127.0.0.1",
    metricsPort: text(env, "METRICS_PORT") === "off" ? null : port(env, "METRICS_PORT", 9464),
    logLevel: oneOf(env, "LOG_LEVEL", ["silent", "error", "warn", "info", "debug"], usual.level),
    logFormat: oneOf(env, "LOG_FORMAT", logFormats, usual.format),
    isStrictHost: oneOf(env, "STRICT_HOST", ["on", "off"], "off") === "on",
    rowSecurity: oneOf(env, "ROW_SECURITY", rowSecurities, "off"),
    bootstrap: readBootstrap(env),
    trustedIssuers: readIssuers(text(env, "TRUSTED_ISSUERS")),
    oidc: readOidc(env),
    mmdbFiles: (text(env, "MMDB_FILES") ?? "").split(",").filter((path) => path.trim() !== ""),
    retentionDays: days(env, "RETENTION_DAYS", 90),
    rateLimits: {
      client: rate(env, "RATE_LIMIT_CLIENT", "requests", 10_000),
      tenant: rate(env, "RATE_LIMIT_TENANT", "requests", 20_000),
      collector: rate(env, "RATE_LIMIT_COLLECTOR", "requests", 5_000),
    },
    collectorQuotas: {
      address: { events: rate(env, "QUOTA_ADDRESS_EVENTS", "events", 500), names: rate(env, "QUOTA_ADDRESS_NAMES", "names", 50) },
      key: { events: rate(env, "QUOTA_KEY_EVENTS", "events", 5_000), names: rate(env, "QUOTA_KEY_NAMES", "names", 2_000) },
    },
    hasPrivateWebhooks: oneOf(env, "WEBHOOK_ADDRESSES", ["public", "any"], "public") === "any",
    mail: orFault(readMailSettings({ url: text(env, "SMTP_URL"), from: text(env, "MAIL_FROM") })),
    trustedProxies: orFault(readProxies(text(env, "TRUSTED_PROXIES") ?? "127.0.0.0/8, ::1")),
  };
}

const inUrl = (host: string) => (host.includes(":") ? `[${host}]` : host);

// Whether HOST means all addresses of the machine, in any notation. A server can listen on it, but a client cannot connect to it.
export function isEverywhere(host: string): boolean {
  const hostname = URL.parse(`http://${inUrl(host)}`)?.hostname ?? "";
  return ["0.0.0.0", "[::]", "[::ffff:0:0]"].includes(hostname);
}

// The address of a service with these settings, as seen from its own machine.
export function localUrl({ host, port }: Pick<Config, "host" | "port">): string {
  return `http://${isEverywhere(host) ? "127.0.0.1" : inUrl(host)}:${port}`;
}

// Clients can connect neither to "all addresses" nor to "any free port".
function isAddressGiven(env: Environment): boolean {
  const [host, port] = [text(env, "HOST"), text(env, "PORT")];
  return port === null ? host !== null && !isEverywhere(host) : Number(port) !== 0;
}

function orFault<T>(read: T | string): T {
  if (typeof read === "string") throw new ConfigFault(read);
  return read;
}

// An empty variable counts as not set, as in most shell scripts.
function text(env: Environment, name: string): string | null {
  const value = env[name];
  return value === undefined || value === "" ? null : value;
}

function port(env: Environment, name: string, fallback: number): number {
  const value = text(env, name);
  if (value === null) return fallback;
  const number = Number(value);
  if (!/^\d{1,5}$/.test(value) || number > 65535)
    throw new ConfigFault(`${name} must be a port from 0 to 65535, not ${JSON.stringify(value)}`);
  return number;
}

function days(env: Environment, name: string, fallback: number): number {
  const value = text(env, name) ?? String(fallback);
  const number = Number(value);
  if (!/^\d{1,4}$/.test(value) || number < 1 || number > 3650)
    throw new ConfigFault(`${name} must be a number of days from 1 to 3650, not ${JSON.stringify(value)}`);
  return number;
}

function rate(env: Environment, name: string, unit: string, fallback: number): number | null {
  const value = text(env, name) ?? String(fallback);
  if (value === "off") return null;
  const number = Number(value);
  if (!/^\d{1,7}$/.test(value) || number < 1 || number > 1_000_000)
    throw new ConfigFault(
      `${name} must be a number of ${unit} per second from 1 to 1000000, or off, not ${JSON.stringify(value)}`,
    );
  return number;
}

function oneOf<T extends string>(env: Environment, name: string, allowed: readonly T[], fallback: NoInfer<T>): T {
  const value = text(env, name) ?? fallback;
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw new ConfigFault(`${name} must be one of ${allowed.join(", ")}, not ${JSON.stringify(value)}`);
  return found;
}

// Returns the address without a trailing slash, so that paths can be appended.
function baseUrl(value: string | null, name: string): string | null {
  if (value === null) return null;
  const url = httpUrl(value, name);
  if (url.search !== "" || url.hash !== "")
    throw new ConfigFault(`${name} must be an address without a query, not ${JSON.stringify(value)}`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function httpUrl(value: string, name: string): URL {
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new ConfigFault(`${name} must be an http or https address, not ${JSON.stringify(value)}`);
  return url;
}

function readRoles(value: string | null): Set<Role> {
  if (value === null) return new Set(roles);
  const named = value.split(",").map((role) => role.trim());
  const known = roles.filter((role) => named.includes(role));
  if (known.length !== named.length)
    throw new ConfigFault(`ROLES must be a list of ${roles.join(", ")}, not ${JSON.stringify(value)}`);
  return new Set(known);
}

function readBootstrap(env: Environment): Config["bootstrap"] {
  const tenant = text(env, "BOOTSTRAP_TENANT");
  const clientId = text(env, "BOOTSTRAP_CLIENT_ID");
  const clientSecret = text(env, "BOOTSTRAP_CLIENT_SECRET");
  if (tenant === null && clientId === null && clientSecret === null) return null;
  if (tenant === null || clientId === null || clientSecret === null) {
    throw new ConfigFault("BOOTSTRAP_TENANT, BOOTSTRAP_CLIENT_ID and BOOTSTRAP_CLIENT_SECRET must be set together");
  }
  const fault = slugFault(tenant);
  if (fault !== null) throw new ConfigFault(`BOOTSTRAP_TENANT: ${fault}`);
  const fault2 = clientIdFault(clientId) ?? secretFault(clientSecret);
  if (fault2 !== null) throw new ConfigFault(`BOOTSTRAP_CLIENT_ID and BOOTSTRAP_CLIENT_SECRET: ${fault2}`);
  return { tenant, clientId, clientSecret };
}

function readOidc(env: Environment): Config["oidc"] {
  const names = ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_TENANT"] as const;
  const [issuer, clientId, clientSecret, tenant] = names.map((name) => text(env, name) ?? "");
  if (!issuer && !clientId && !clientSecret && !tenant) return null;
  if (!issuer || !clientId || !clientSecret || !tenant) throw new ConfigFault(`${names.join(", ")} must be set together`);
  const url = httpUrl(issuer, "OIDC_ISSUER");
  const isHere = ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  if (url.protocol === "http:" && !isHere) throw new ConfigFault("OIDC_ISSUER must be an https address, except on this machine");
  const fault = slugFault(tenant);
  if (fault !== null) throw new ConfigFault(`OIDC_TENANT: ${fault}`);
  return { issuer, clientId, clientSecret, tenant };
}

function secretFault(secret: string): string | null {
  return /^[\x20-\x7e]{24,256}$/.test(secret) ? null : "a client secret must have 24 to 256 ASCII characters";
}

function readIssuers(value: string | null): TrustedIssuer[] {
  if (value === null) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    throw new ConfigFault("TRUSTED_ISSUERS must be JSON: [{issuer, audience, jwks_uri, tenant_claim, tenants, scope_claim?}]");
  }
  if (!Array.isArray(parsed)) throw new ConfigFault("TRUSTED_ISSUERS must be a JSON array");
  const read = parsed.map((entry: unknown, index) => readIssuer(entry, `TRUSTED_ISSUERS[${index}]`));
  const again = read.findIndex(({ issuer }, index) => read.findIndex((other) => other.issuer === issuer) < index);
  if (again !== -1) throw new ConfigFault(`TRUSTED_ISSUERS[${again}].issuer is listed twice`);
  return read;
}

function readIssuer(entry: unknown, name: string): TrustedIssuer {
  const given: Record<string, unknown> = typeof entry === "object" && entry !== null ? { ...entry } : {};
  const member = (key: string, fallback?: string): string => {
    const value = given[key] ?? fallback;
    if (typeof value !== "string" || value === "") throw new ConfigFault(`${name}.${key} must be a string`);
    return value;
  };
  const jwks = member("jwks_uri");
  httpUrl(jwks, `${name}.jwks_uri`);
  const issuer = member("issuer");
  // The audit trail separates the issuer from the name with a space.
  if (/\s/.test(issuer)) throw new ConfigFault(`${name}.issuer must not contain spaces`);
  return {
    issuer,
    audience: member("audience"),
    jwks_uri: jwks,
    tenant_claim: member("tenant_claim"),
    scope_claim: member("scope_claim", "scope"),
    tenants: readTenants(given["tenants"], name),
  };
}

// Required, because an issuer that is trusted for one tenant must not be able to issue tokens for all.
function readTenants(value: unknown, name: string): string[] | "*" {
  if (value === "*") return value;
  const isList = Array.isArray(value) && value.length > 0;
  const slugs = isList ? value.filter((slug: unknown) => typeof slug === "string" && slugFault(slug) === null) : [];
  if (!isList || slugs.length < value.length) {
    throw new ConfigFault(
      `${name}.tenants must list the tenants that the issuer may issue tokens for, as in "tenants": ["shop"], or be "*" for all tenants`,
    );
  }
  return slugs;
}
