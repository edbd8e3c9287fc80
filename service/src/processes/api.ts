import type { Logger } from "pino";
import { readConsole } from "@casehound/console/files";
import { Authenticator } from "../api/tokens/auth.ts";
import { ScimTokens } from "../api/tokens/scim-tokens.ts";
import { BudgetCases } from "../api/budget-cases.ts";
import { updateTogether } from "../api/account-update.ts";
import { closeTogether } from "../api/case-update.ts";
import { CollectorQuotas } from "../api/collector/quotas.ts";
import { Collector } from "../api/collector/collector.ts";
import { ConsolePages } from "../api/documents/console.ts";
import { CursorSeal } from "../api/http/cursor.ts";
import { Challenges } from "../api/people/challenges.ts";
import { Devices } from "../api/people/devices.ts";
import { Tickets } from "../api/people/tickets.ts";
import { EventFeed } from "../api/event-feed.ts";
import { Issuer } from "../api/tokens/issuer.ts";
import type { Metrics } from "../api/metrics.ts";
import { documentsOnRequest } from "../api/documents/on-request.ts";
import type { Audit } from "../api/operation.ts";
import { operations } from "../api/operations.ts";
import { peopleRoutes } from "../api/people/routes.ts";
import type { RateLimiter } from "../api/http/rate-limits.ts";
import { Router } from "../api/http/router.ts";
import type { SharedServices } from "../api/http/run.ts";
import { ApiServer } from "../api/http/server.ts";
import { Sessions } from "../api/people/web-sessions.ts";
import type { HistoryRoom } from "../api/history-room.ts";
import { ServedModels } from "../api/served-models.ts";
import { systemOperations } from "../api/system.ts";
import { asConfigFault, localUrl, type Config } from "../config.ts";
import { findAccounts } from "../db/accounts.ts";
import { findCases } from "../db/cases.ts";
import type { Database } from "../db/postgres/database.ts";
import { gatherReads, gatherWrites } from "../db/postgres/gather.ts";
import { insertBatches } from "../db/inbox.ts";
import { findOrMakeKeys, savePublicUrl } from "../db/settings.ts";
import { findTenantByKey } from "../db/tenants.ts";
import type { Assessor } from "../engine/assessor.ts";
import type { Clock } from "../engine/cases.ts";
import type { Enrichment } from "../engine/enrichment.ts";
import { openMailer } from "../mail/mailer.ts";

// True from the end of startup until the stop begins.
export type Life = { isReady: boolean; stops: (() => Promise<void>)[] };

// For a worker, whose port is known: it listens last, when the first process says so, because connections come as soon as it does.
export type Place = { publicUrl: string; mayListen: () => Promise<void> };

type Shared = {
  place: Place | null;
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
  // The requests of one turn that name the same key share a statement.
  const findTenant = gatherReads(async (key) => new Map([[key, await findTenantByKey(database, key, clock.now())]]));
  return new Collector({
    database,
    findTenant: (key) => findTenant(key, key),
    trustedProxies: config.trustedProxies,
    isStopping: () => server.isStopping,
    admit: (tenantId) => limiter.admitPage(tenantId),
    quotas: new CollectorQuotas(config.collectorQuotas),
    onStored: (collected) => metrics.observeCollected(collected),
    ...clock,
  });
}

// Serves the API and the collector, as far as the roles say.
export async function startApi(
  config: Config,
  { database, clock, enrichment, historyRoom, limiter, log, metrics, life, assessor, place }: Shared,
): Promise<{ url: string; ownUrl: string; port: number; issuer: Issuer }> {
  const { stops } = life;
  const server = new ApiServer(log, metrics);
  const isApi = config.roles.has("api");
  const isServing = isApi || config.roles.has("collector");
  const listen = () => server.listen(config.host, config.port).catch(asConfigFault("HOST and PORT"));
  const { port } = isServing && !place ? await listen() : config;
  const ownUrl = localUrl({ host: config.host, port });
  const publicUrl = place?.publicUrl ?? config.publicUrl ?? ownUrl;
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
  const collector = newCollector(config, { database, clock, limiter, metrics, server });
  const { trustedProxies } = config;
  const all = systemOperations({
    database,
    trustedProxies,
    issuer,
    collector,
    isReady: () => life.isReady,
    documents: documentsOnRequest(publicUrl),
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
  if (place) {
    await place.mayListen();
    life.isReady = true;
    if (isServing) await listen();
  }
  // Stops run in reverse order, so this runs before the server waits for requests in flight. A stream never ends by itself.
  stops.push(async () => feed.stop());
  return { url: publicUrl, ownUrl, port, issuer };
}

export const webhooksOf = ({ hasPrivateWebhooks }: Config) => ({ isPrivateAllowed: hasPrivateWebhooks });

// The part of the configuration that handlers use.
const settingsOf = (of: Config) => ({ webhooks: webhooksOf(of), mailer: openMailer(of.mail), retentionDays: of.retentionDays });

type Together = "closeTogether" | "updateTogether" | "acceptTogether";
type Gathered = "findCase" | "findAccount" | Together | "servedModels" | "historyRoom" | "budgetCases";

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
    updateTogether: gatherWrites((tenantId, updates) => updateTogether(database.forTenant(tenantId), tenantId, updates)),
    closeTogether: gatherWrites((tenantId, updates) => closeTogether(database.forTenant(tenantId), tenantId, { updates, newId })),
  };
}
