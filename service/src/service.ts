import type { Logger } from "pino";
import { RateLimiter } from "./api/http/rate-limits.ts";
import { HistoryRoom } from "./api/history-room.ts";
import { Metrics } from "./api/metrics.ts";
import { MetricsServer } from "./api/metrics-server.ts";
import type { Issuer } from "./api/tokens/issuer.ts";
import { clock as realClock } from "./clock.ts";
import { asConfigFault, type Config } from "./config.ts";
import type { Database } from "./db/postgres/database.ts";
import type { EmbeddedPostgres } from "./db/postgres/embedded.ts";
import type { Clock } from "./engine/cases.ts";
import type { Enrichment } from "./engine/enrichment.ts";
import { openLog } from "./log.ts";
import { startApi, webhooksOf, type Life, type Place } from "./processes/api.ts";
import { openStore } from "./processes/store.ts";
import { openDemo, openEnrichment, welcome, type Welcome } from "./processes/welcome.ts";
import { startDetection } from "./workers.ts";

export type Service = Welcome & {
  url: string;
  port: number;
  database: Database;
  issuer: Issuer;
  metrics: Metrics;
  stop: () => Promise<void>;
};

// What a simulation or a test provides: its own time, its own address data, and its own limit of waiting history. `embedded` is set
// if PostgreSQL is already starting.
export type World = {
  clock: Clock;
  enrichment?: Enrichment;
  historyRoom?: HistoryRoom;
  embedded?: Promise<EmbeddedPostgres> | undefined;
};

// Assembles everything in one process. Stops in the reverse order of the start.
export async function startService(
  config: Config,
  log: Logger = openLog(config.logLevel, config.logFormat),
  world: World = { clock: realClock },
): Promise<Service> {
  return startWhole(log, async (life) => {
    const started = await start(config, log, world, life);
    life.isReady = true;
    return started;
  });
}

// If the start fails, what has started is stopped again.
export async function startWhole<T>(log: Logger, begin: (life: Life) => Promise<T>): Promise<T & { stop: () => Promise<void> }> {
  const life: Life = { isReady: false, stops: [async () => log.flush()] };
  const stop = async () => {
    life.isReady = false;
    for (const each of life.stops.splice(0).toReversed()) await each();
  };
  try {
    return { ...(await begin(life)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(config: Config, log: Logger, world: World, life: Life): Promise<Omit<Service, "stop">> {
  const { clock, historyRoom, embedded } = world;
  const { stops } = life;
  const { database } = await openStore(config, { clock, log, stops, embedded });
  const credentials = openDemo(config, database, clock);
  const enrichment = world.enrichment ?? openEnrichment(config, clock);
  const metrics = new Metrics();
  metrics.watch(database);
  const { ownUrl, ...served } = await startRoles(config, { database, clock, enrichment, historyRoom, log, metrics, life });
  const welcomed = await welcome(config, { database, credentials, clock, log, stops, url: served.url, ownUrl });
  if (config.metricsPort !== null) {
    const server = new MetricsServer(() => metrics.text());
    await server.listen(config.metricsHost, config.metricsPort).catch(asConfigFault("METRICS_HOST and METRICS_PORT"));
    stops.push(() => server.stop());
  }
  log.info({ url: served.url, roles: [...config.roles] }, "casehound is up");
  return { ...served, ...welcomed, database, metrics };
}

type Running = {
  database: Database;
  clock: Clock;
  enrichment: Enrichment;
  historyRoom?: HistoryRoom | undefined;
  log: Logger;
  metrics: Metrics;
  life: Life;
  place?: Place;
};
type Served = { url: string; ownUrl: string; port: number; issuer: Issuer };

// Starts what this process does for its roles.
export async function startRoles(config: Config, running: Running): Promise<Served> {
  const { historyRoom = new HistoryRoom(), place = null, life, ...parts } = running;
  const { assessor, stop } = await startDetection(config, { ...parts, webhooks: webhooksOf(config) });
  life.stops.push(stop);
  const limiter = new RateLimiter(config.rateLimits);
  return startApi(config, { ...parts, historyRoom, place, life, limiter, assessor });
}
