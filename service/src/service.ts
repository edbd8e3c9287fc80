import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { Authenticator } from "./api/auth.ts";
import { CursorSeal } from "./api/cursor.ts";
import { docsPage } from "./api/docs.ts";
import { Issuer } from "./api/issuer.ts";
import { Metrics } from "./api/metrics.ts";
import { openapiDocument } from "./api/openapi.ts";
import type { Services } from "./api/operation.ts";
import { operations } from "./api/operations.ts";
import { Router } from "./api/router.ts";
import { ApiServer } from "./api/server.ts";
import { systemOperations } from "./api/system.ts";
import { clock } from "./clock.ts";
import { ConfigFault, type Config } from "./config.ts";
import { findAccounts } from "./db/accounts.ts";
import { findCases } from "./db/cases.ts";
import { Database } from "./db/database.ts";
import { EmbeddedPostgres } from "./db/embedded.ts";
import { gatherReads } from "./db/gather.ts";
import { MigrationFault, migrate } from "./db/migrate.ts";
import { findOrMakeSecret, savePublicUrl } from "./db/settings.ts";
import { Engine } from "./engine/loop.ts";
import { openLog } from "./log.ts";
import { bootstrap, demoCredentials, type DemoCredentials } from "./tenancy.ts";

export type Service = {
  url: string;
  port: number;
  database: Database;
  issuer: Issuer;
  metrics: Metrics;
  demo: DemoCredentials | null;
  stop: () => Promise<void>;
};

// Everything of one process, put together. Stops in the opposite order of its start.
export async function startService(config: Config, log: Logger = openLog(config.logLevel)): Promise<Service> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    return { ...(await start(config, log, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(config: Config, log: Logger, stops: (() => Promise<void>)[]): Promise<Omit<Service, "stop">> {
  stops.push(async () => log.flush());
  const embedded = config.databaseUrl === null ? await EmbeddedPostgres.forService(config.dataDir) : null;
  if (embedded) stops.push(() => embedded.stop());
  const database = new Database(embedded ? embedded.address : { connectionString: config.databaseUrl ?? "" });
  stops.push(() => database.end());
  const applied = await migrate(database).catch((error: unknown) => {
    throw embedded ? error : databaseFault(error);
  });
  if (applied.length > 0) log.info({ applied }, "migrations applied");
  const metrics = new Metrics();
  if (config.roles.has("engine")) stops.push(startEngine(database, log, metrics));
  const { url, port, issuer } = await startApi(config, { database, log, metrics, stops });
  if (config.bootstrap) await bootstrap(database, config.bootstrap, clock);
  const demo = embedded ? await demoCredentials(database, join(config.dataDir, "demo-credentials.json"), clock) : null;
  if (config.metricsPort !== null) {
    await metrics.listen(config.metricsPort).catch(asConfigFault("METRICS_PORT"));
    stops.push(() => metrics.stop());
  }
  log.info({ url, roles: [...config.roles] }, "casehound is up");
  return { url, port, database, issuer, metrics, demo };
}

function startEngine(database: Database, log: Logger, metrics: Metrics): () => Promise<void> {
  const engine = new Engine({ database, clock, log, onPass: (pass) => metrics.observePass(pass) });
  engine.start();
  return () => engine.stop();
}

type Shared = { database: Database; log: Logger; metrics: Metrics; stops: (() => Promise<void>)[] };

async function startApi(
  config: Config,
  { database, log, metrics, stops }: Shared,
): Promise<{ url: string; port: number; issuer: Issuer }> {
  const server = new ApiServer(log, metrics);
  const isServing = config.roles.has("api");
  const { port } = isServing ? await server.listen(config.host, config.port).catch(asConfigFault("HOST and PORT")) : config;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const publicUrl = config.publicUrl ?? `http://${host}:${port}`;
  const issuer = await Issuer.open(database, publicUrl);
  const authenticator = new Authenticator(database, issuer, config.trustedIssuers);
  await authenticator.start();
  stops.push(() => authenticator.stop());
  const sealKey = await database.transaction(async (tx) => {
    if (isServing) await savePublicUrl(tx, publicUrl);
    return findOrMakeSecret(tx, "cursors", randomBytes(32));
  });
  const services: Services = {
    database,
    issuer,
    publicUrl,
    cursors: new CursorSeal(sealKey),
    findCase: gatherReads((tenantId, ids) => findCases(database, tenantId, ids)),
    findAccount: gatherReads((tenantId, ids) => findAccounts(database, tenantId, ids)),
    ...clock,
  };
  const openapi = JSON.stringify(openapiDocument(publicUrl));
  const docs = docsPage(publicUrl);
  const system = systemOperations({
    database,
    issuer,
    isStopping: () => server.isStopping,
    openapi: () => openapi,
    docs: () => docs,
  });
  server.open({ services, authenticator, router: new Router(operations, system), isStrictHost: config.isStrictHost });
  if (isServing) stops.push(() => server.stop());
  return { url: publicUrl, port, issuer };
}

// A database that was named to us, and what is wrong with it, is the operator's to mend.
function databaseFault(cause: unknown): unknown {
  if (!(cause instanceof Error) || cause instanceof MigrationFault) return cause;
  const causes = cause instanceof AggregateError ? cause.errors.map((each: Error) => each.message).join(", ") : cause.message;
  return new ConfigFault(`DATABASE_URL: ${causes.replaceAll("\n", " ")}`, { cause });
}

function asConfigFault(name: string): (error: Error) => never {
  return (error) => {
    throw new ConfigFault(`${name}: ${error.message}`, { cause: error });
  };
}
