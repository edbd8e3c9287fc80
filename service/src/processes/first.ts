import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { ApiServer } from "../api/http/server.ts";
import { Metrics } from "../api/metrics.ts";
import { MetricsServer } from "../api/metrics-server.ts";
import { clock } from "../clock.ts";
import { asConfigFault, localUrl, type Config, type Role } from "../config.ts";
import { readConnectionLimit } from "../db/connection-limit.ts";
import type { EmbeddedAddress, EmbeddedPostgres } from "../db/postgres/embedded.ts";
import type { LogOutput } from "../log.ts";
import { startWhole } from "../service.ts";
import type { Life } from "./api.ts";
import { fitWorkers, writersOfFirst } from "./connections.ts";
import { Crew } from "./crew.ts";
import { openStore } from "./store.ts";
import { SummedMetrics } from "./summed-metrics.ts";
import type { Task } from "./task.ts";
import { openDemo, welcome, type Welcome } from "./welcome.ts";

export type Crowd = Welcome & {
  url: string;
  workers: number;
  // Resolves if a worker ends again and again.
  broken: Promise<Error>;
  stop: () => Promise<void>;
};

// The first of several processes. It owns the embedded PostgreSQL, prepares the database, holds the port until the workers are
// ready, replaces workers that die, and adds up their metrics. It serves no requests itself.
export function startCrowd(config: Config, parts: Omit<Parts, "life">): Promise<Crowd> {
  return startWhole(parts.log, (life) => start(config, { ...parts, life }));
}

// `embedded` is set if PostgreSQL is already starting.
type Parts = { log: Logger; output: LogOutput; life: Life; embedded?: Promise<EmbeddedPostgres> | undefined };

async function start(config: Config, { log, output, life, ...parts }: Parts): Promise<Omit<Crowd, "stop">> {
  const { stops } = life;
  const opening = { clock, log, stops, embedded: parts.embedded, writersMax: writersOfFirst };
  const { embedded, database } = await openStore(config, opening);
  const credentials = openDemo(config, database, clock);
  const limit = await readConnectionLimit(database);
  const { count, writersMax } = fitWorkers(config.workers, limit, database.tenantRole !== null);
  if (count < config.workers.count)
    log.warn({ workers: count, connections: limit }, "PostgreSQL allows too few connections for more workers");
  // Answers 503 until the workers are built, and makes sure that the port is free.
  const door = new ApiServer(log, new Metrics());
  const { port } = await door.listen(config.host, config.port).catch(asConfigFault("HOST and PORT"));
  const closeDoor = () => door.stop();
  stops.push(closeDoor);
  const ownUrl = localUrl({ host: config.host, port });
  const url = config.publicUrl ?? ownUrl;
  const metrics = new SummedMetrics(database);
  const tasks = tasksOf(config, { port, publicUrl: url, address: embedded?.address ?? null, shares: count, writersMax });
  for (const { name } of tasks) metrics.expect(name);
  const crew = new Crew({
    tasks,
    env: { LOG_LEVEL: config.logLevel, LOG_FORMAT: config.logFormat },
    log,
    output,
    isJson: config.logFormat === "json",
    onBuilt: async () => {
      stops.splice(stops.indexOf(closeDoor), 1);
      await closeDoor();
    },
    onDeath: (name, last) =>
      void metrics.observeDeath(name, last).catch((error: unknown) => log.error({ err: error }, "a death could not be counted")),
  });
  stops.push(() => crew.stop());
  await crew.start();
  const welcomed = await welcome(config, { database, credentials, clock, log, stops, url, ownUrl });
  if (config.metricsPort !== null) {
    const server = new MetricsServer(async () => metrics.text(await crew.measure(), crew.readyCount));
    await server.listen(config.metricsHost, config.metricsPort).catch(asConfigFault("METRICS_HOST and METRICS_PORT"));
    stops.push(() => server.stop());
  }
  log.info({ url, roles: [...config.roles], workers: count }, "casehound is up");
  return { url, workers: count, broken: crew.broken, ...welcomed };
}

type Common = Pick<Task, "port" | "publicUrl" | "shares" | "writersMax"> & { address: EmbeddedAddress | null };

// One engine is enough: it keeps its tenants' rules and models in memory, and a tenant's turn lets only one engine work anyway. It
// has a process of its own, so that scoring and training never delay a request.
function tasksOf({ roles }: Config, common: Common): Task[] {
  const salt = randomBytes(16).toString("hex");
  const serving = [...roles].filter((role): role is Role => role !== "engine");
  const tasks = Array.from({ length: common.shares }, (_, at) => ({ ...common, salt, name: `api-${at + 1}`, roles: serving }));
  if (!roles.has("engine")) return tasks;
  return [...tasks, { ...common, salt, name: "engine", roles: ["engine"], shares: 1, writersMax: 10 }];
}
