import { join } from "node:path";
import type { Logger } from "pino";
import { readConsole } from "@casehound/console/files";
import { tagScript } from "@casehound/tag";
import { openAddressData } from "./address-data.ts";
import { Authenticator } from "./api/tokens/auth.ts";
import { ScimTokens } from "./api/tokens/scim-tokens.ts";
import { BudgetCases } from "./api/budget-cases.ts";
import { closeTogether } from "./api/case-update.ts";
import { CollectorQuotas } from "./api/collector/quotas.ts";
import { Collector } from "./api/collector/collector.ts";
import { ConsolePages } from "./api/documents/console.ts";
import { CursorSeal } from "./api/http/cursor.ts";
import { Challenges } from "./api/people/challenges.ts";
import { Devices } from "./api/people/devices.ts";
import { Tickets } from "./api/people/tickets.ts";
import { servedDocs } from "@casehound/site/site";
import { EventFeed } from "./api/event-feed.ts";
import { Issuer } from "./api/tokens/issuer.ts";
import { Metrics } from "./api/metrics.ts";
import { problems } from "./api/http/problem.ts";
import { openapiDocument } from "./api/documents/openapi.ts";
import type { Audit } from "./api/operation.ts";
import { operations } from "./api/operations.ts";
import { makeSetUpLink } from "./api/people/links.ts";
import { peopleRoutes } from "./api/people/routes.ts";
import { RateLimiter } from "./api/http/rate-limits.ts";
import { Router } from "./api/http/router.ts";
import type { SharedServices } from "./api/http/run.ts";
import { ApiServer } from "./api/http/server.ts";
import { Sessions } from "./api/people/web-sessions.ts";
import { HistoryRoom } from "./api/history-room.ts";
import { ServedModels } from "./api/served-models.ts";
import { systemOperations } from "./api/system.ts";
import { clock as realClock } from "./clock.ts";
import { ConfigFault, isEverywhere, localUrl, type Config } from "./config.ts";
import { findAccounts } from "./db/accounts.ts";
import { findCases } from "./db/cases.ts";
import { Database } from "./db/postgres/database.ts";
import { EmbeddedPostgres } from "./db/postgres/embedded.ts";
import { gatherReads, gatherWrites } from "./db/postgres/gather.ts";
import { insertBatches } from "./db/inbox.ts";
import { migrate } from "./db/postgres/migrate.ts";
import { findOrMakeKeys, savePublicUrl } from "./db/settings.ts";
import { isBound, openTenantLock } from "./db/tenant-lock.ts";
import { findTenantsByKeys } from "./db/tenants.ts";
import { demoEnrichment, demoOrigin, startDemo } from "./demo.ts";
import type { Assessor } from "./engine/assessor.ts";
import type { Clock } from "./engine/cases.ts";
import type { Enrichment } from "./engine/enrichment.ts";
import { openLog } from "./log.ts";
import { openMailer } from "./mail/mailer.ts";
import { databaseFault } from "./operator.ts";
import { startDetection } from "./workers.ts";
import { allowOrigin, bootstrap, demoCredentials, seedRules, type DemoCredentials } from "./tenancy.ts";

export type Service = {
  url: string;
  port: number;
  database: Database;
  issuer: Issuer;
  metrics: Metrics;
  demo: DemoCredentials | null;
  // For the first user of the embedded database's tenant, while it has none.
  setUpLink: string | null;
  stop: () => Promise<void>;
};

// What a simulation or a test provides: its own time, its own address data, and its own limit of waiting history.
export type World = { clock: Clock; enrichment?: Enrichment; historyRoom?: HistoryRoom };

// True from the end of startup until the stop begins.
type Life = { isReady: boolean; stops: (() => Promise<void>)[] };

// Assembles everything in one process. Stops in the reverse order of the start.
export async function startService(
  config: Config,
  log: Logger = openLog(config.logLevel, config.logFormat),
  world: World = { clock: realClock },
): Promise<Service> {
  const life: Life = { isReady: false, stops: [] };
  const stop = async () => {
    life.isReady = false;
    for (const each of life.stops.splice(0).toReversed()) await each();
  };
  try {
    const started = await start(config, log, world, life);
    life.isReady = true;
    return { ...started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  config: Config,
  log: Logger,
  { clock, enrichment = openEnrichment(config, clock), historyRoom = new HistoryRoom() }: World,
  life: Life,
): Promise<Omit<Service, "stop">> {
  const { stops } = life;
  stops.push(async () => log.flush());
  checkPublicUrl(config, log);
  const embedded = config.databaseUrl === null ? await EmbeddedPostgres.forService(config.dataDir) : null;
  if (embedded) stops.push(() => embedded.stop());
  const database = new Database(embedded ? embedded.address : { connectionString: config.databaseUrl ?? "" });
  stops.push(() => database.end());
  const applied = await migrate(database).catch((error: unknown) => {
    throw databaseFault(error, config.databaseUrl);
  });
  if (applied.length > 0) log.info({ applied }, "migrations applied");
  await lockTenants(database, config, log);
  const metrics = new Metrics();
  metrics.watch(database);
  await seedRules(database, clock);
  const detection = await startDetection(config, { database, clock, enrichment, log, metrics, webhooks: webhooksOf(config) });
  stops.push(detection.stop);
  const { assessor } = detection;
  const limiter = new RateLimiter(config.rateLimits);
  // Runs before the API opens. Otherwise the API would reject the bootstrap client.
  if (config.bootstrap) await bootstrap(database, config.bootstrap, clock);
  const shared = { database, clock, enrichment, historyRoom, limiter, log, metrics, life, assessor };
  const { url, ownUrl, port, issuer } = await startApi(config, shared);
  const demo = embedded ? await demoCredentials(database, join(config.dataDir, "demo-credentials.json"), clock) : null;
  if (demo && demo.client_secret !== null && hasDemo(config)) {
    const { tenant, client_id: clientId, client_secret: clientSecret } = demo;
    const appKey = await allowOrigin(database, tenant, demoOrigin);
    stops.push(startDemo({ url: ownUrl, tenant, clientId, clientSecret, appKey }, log));
  }
  if (config.metricsPort !== null) {
    await metrics.listen(config.metricsHost, config.metricsPort).catch(asConfigFault("METRICS_HOST and METRICS_PORT"));
    stops.push(() => metrics.stop());
  }
  const wanted = { publicUrl: url, now: clock.now() };
  const first = demo?.tenant ?? (embedded ? config.bootstrap?.tenant : undefined);
  const setUp =
    first !== undefined && config.roles.has("api") ? await database.transaction((tx) => makeSetUpLink(tx, first, wanted)) : null;
  log.info({ url, roles: [...config.roles] }, "casehound is up");
  return { url, port, database, issuer, metrics, demo, setUpLink: setUp?.url ?? null };
}

// The address is part of every token. A wrong one would be noticed only later, when another machine or a proxy uses the service.
function checkPublicUrl({ host, publicUrl, databaseUrl, roles }: Config, log: Logger): void {
  if (publicUrl !== null || !isEverywhere(host) || !roles.has("api")) return;
  if (databaseUrl !== null)
    throw new ConfigFault(
      `PUBLIC_URL must be set if HOST is ${host}: the address that clients use, such as https://casehound.example`,
    );
  log.warn({ host }, "PUBLIC_URL is not set: tokens and links contain 127.0.0.1 and work only on this machine");
}

async function lockTenants(database: Database, { rowSecurity }: Config, log: Logger): Promise<void> {
  if (await isBound(database)) throw new ConfigFault("DATABASE_URL: the user must own the tables, or have bypassrls");
  if (rowSecurity === "off") return;
  const fault = await openTenantLock(database);
  if (fault !== null && rowSecurity === "on") throw new ConfigFault(`ROW_SECURITY: ${fault}`);
  if (fault !== null) log.warn({ fault }, "row-level security is off: only the statements separate tenants");
}

// Whether the simulated shop runs. Its visitors come from a simulated internet that no real address file covers, so
// `openEnrichment` asks too.
function hasDemo({ databaseUrl, hasDemo, roles }: Config): boolean {
  return databaseUrl === null && hasDemo && roles.has("api") && roles.has("collector") && roles.has("engine");
}

function openEnrichment(config: Config, clock: Clock): Enrichment {
  if (config.mmdbFiles.length === 0 && hasDemo(config)) return demoEnrichment(Date.parse(clock.now()));
  return openAddressData(config.mmdbFiles);
}

type Shared = {
  database: Database;
  clock: Clock;
  enrichment: Enrichment;
  historyRoom: HistoryRoom;
  limiter: RateLimiter;
  log: Logger;
  metrics: Metrics;
  life: Life;
  assessor: Assessor;
};

type Collecting = Pick<Shared, "database" | "clock" | "limiter" | "metrics"> & { server: ApiServer };

function newCollector(config: Config, { database, clock, limiter, metrics, server }: Collecting): Collector {
  const findTenant = gatherReads((_all, keys) => findTenantsByKeys(database, keys, clock.now()));
  return new Collector({
    database,
    findTenant: (key) => findTenant("", key),
    trustedProxies: config.trustedProxies,
    isStopping: () => server.isStopping,
    admit: (tenantId) => limiter.admitPage(tenantId),
    quotas: new CollectorQuotas(config.collectorQuotas),
    onStored: (collected) => metrics.observeCollected(collected),
    ...clock,
  });
}

async function startApi(
  config: Config,
  { database, clock, enrichment, historyRoom, limiter, log, metrics, life, assessor }: Shared,
): Promise<{ url: string; ownUrl: string; port: number; issuer: Issuer }> {
  const { stops } = life;
  const server = new ApiServer(log, metrics);
  const isApi = config.roles.has("api");
  const isServing = isApi || config.roles.has("collector");
  const { port } = isServing ? await server.listen(config.host, config.port).catch(asConfigFault("HOST and PORT")) : config;
  const ownUrl = localUrl({ host: config.host, port });
  const publicUrl = config.publicUrl ?? ownUrl;
  const issuer = await Issuer.open(database, publicUrl, (client) => void limiter.admit(client));
  const authenticator = new Authenticator(database, issuer, config.trustedIssuers);
  await authenticator.start();
  stops.push(() => authenticator.stop());
  if (isApi) await database.transaction((tx) => savePublicUrl(tx, publicUrl));
  const keys = await database.transaction(findOrMakeKeys);
  const audit: Audit = (what, about) => log.info({ audit: what, ...about }, "audit");
  const sessions = new Sessions({ database, publicUrl, now: clock.now });
  const devices = new Devices(keys.devices, sessions.cookies);
  const tickets = new Tickets(keys.devices, sessions.cookies);
  const challenges = new Challenges(keys.devices, sessions.cookies);
  const feed = new EventFeed(database);
  const services: SharedServices = {
    audit,
    database,
    issuer,
    publicUrl,
    cursors: new CursorSeal(keys.cursors),
    ...gathered(database, clock, historyRoom),
    assess: (tenantId, asked) => assessor.assess(tenantId, asked),
    feed,
    ...settingsOf(config),
    ...clock,
  };
  const openapi = JSON.stringify(openapiDocument(publicUrl));
  const tag = tagScript();
  const collector = newCollector(config, { database, clock, limiter, metrics, server });
  const { trustedProxies } = config;
  const all = systemOperations({
    database,
    trustedProxies,
    issuer,
    collector,
    isReady: () => life.isReady,
    openapi: () => openapi,
    docs: servedDocs(() => ({ publicUrl, document: openapiDocument(publicUrl), problems })),
    tag: () => tag,
    addressData: enrichment.files,
    people: peopleRoutes(
      { database, sessions, devices, tickets, challenges, publicUrl, audit, trustedProxies, ...clock, ...webhooksOf(config) },
      config.oidc,
    ),
  });
  const system = all.filter(({ role }) => role === undefined || config.roles.has(role));
  const router = new Router(isApi ? operations : [], system);
  const pages = isApi ? new ConsolePages(readConsole()) : null;
  const scimTokens = new ScimTokens({ database, trustedProxies, now: clock.now });
  server.open({ services, authenticator, sessions, scimTokens, limiter, router, pages, isStrictHost: config.isStrictHost });
  if (isServing) stops.push(() => server.stop());
  // Stops run in reverse order, so this runs before the server waits for requests in flight. A stream never ends by itself.
  stops.push(async () => feed.stop());
  return { url: publicUrl, ownUrl, port, issuer };
}

const webhooksOf = ({ hasPrivateWebhooks }: Config) => ({ isPrivateAllowed: hasPrivateWebhooks });

// The part of the configuration that handlers use.
const settingsOf = (of: Config) => ({ webhooks: webhooksOf(of), mailer: openMailer(of.mail), retentionDays: of.retentionDays });

type Gathered = "findCase" | "findAccount" | "closeTogether" | "acceptTogether" | "servedModels" | "historyRoom" | "budgetCases";

// What requests share. Simultaneous calls of the same kind become one query or transaction, and a model is parsed once.
function gathered(database: Database, { newId }: Clock, historyRoom: HistoryRoom): Pick<SharedServices, Gathered> {
  return {
    servedModels: new ServedModels(),
    historyRoom,
    budgetCases: new BudgetCases(),
    findCase: gatherReads((tenantId, ids) => findCases(database.forTenant(tenantId), tenantId, ids)),
    findAccount: gatherReads((tenantId, ids) => findAccounts(database.forTenant(tenantId), tenantId, ids)),
    acceptTogether: gatherWrites(
      (tenantId, batches) => database.forTenant(tenantId).transaction((tx) => insertBatches(tx, tenantId, batches)),
      { togetherMax: 1_000, weightOf: (batch) => batch.length },
    ),
    closeTogether: gatherWrites((tenantId, updates) => closeTogether(database.forTenant(tenantId), tenantId, { updates, newId })),
  };
}

function asConfigFault(name: string): (error: Error) => never {
  return (error) => {
    throw new ConfigFault(`${name}: ${error.message}`, { cause: error });
  };
}
