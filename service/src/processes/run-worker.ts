import { Metrics } from "../api/metrics.ts";
import { clock } from "../clock.ts";
import { readConfig, type Config } from "../config.ts";
import { Database } from "../db/postgres/database.ts";
import { logWarnings, openLog } from "../log.ts";
import { databaseFault, isDatabaseTrouble, isOperators, textOf } from "../operator.ts";
import { startRoles, startWhole } from "../service.ts";
import { lockTenants } from "./store.ts";
import type { FromWorker, Task, ToWorker } from "./task.ts";
import { openEnrichment } from "./welcome.ts";

type Link = {
  send: (message: FromWorker) => void;
  listenTo: <K extends ToWorker["kind"]>(kind: K, handle: (message: Extract<ToWorker, { kind: K }>) => void) => void;
};

// Does what the task says, until the first process stops it.
export async function runWorker(task: Task, { send, listenTo }: Link): Promise<void> {
  const whole = readConfig();
  const config: Config = { ...whole, roles: new Set(task.roles), port: task.port };
  const log = openLog(config.logLevel, config.logFormat, { worker: task.name });
  logWarnings(log);
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "an unexpected error ends this worker");
    process.exit(1);
  });
  const mayListen = Promise.withResolvers<void>();
  listenTo("listen", () => mayListen.resolve());
  const metrics = new Metrics();
  listenTo("measure", ({ id }) => {
    metrics.snapshot().then(
      (snapshot) => send({ kind: "measured", id, snapshot }),
      (error: unknown) => log.error({ err: error }, "the metrics could not be read"),
    );
  });
  const place = {
    publicUrl: task.publicUrl,
    mayListen: () => {
      send({ kind: "built" });
      return mayListen.promise;
    },
  };
  const starting = startWhole(log, async (life) => {
    const database = new Database(task.address ?? { connectionString: config.databaseUrl ?? "" }, {
      writersMax: task.writersMax,
    });
    life.stops.push(() => database.end());
    await lockTenants(database, config, log);
    const enrichment = openEnrichment(whole, clock);
    return startRoles(config, { database, clock, enrichment, log, metrics, life, place });
  });
  listenTo("stop", () => {
    // A worker that is still waiting to listen starts and stops at once.
    mayListen.resolve();
    starting
      .then((started) => started.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  });
  try {
    await starting;
    log.info({ pid: process.pid, roles: task.roles }, "the worker is ready");
    send({ kind: "ready" });
  } catch (error) {
    const isAway = isDatabaseTrouble(error);
    const shown = isAway ? databaseFault(error, config.databaseUrl) : error;
    const fault = { kind: "fault", text: textOf(shown), isOperators: isOperators(shown), isAway } as const;
    process.send?.(fault, undefined, undefined, () => process.exit(isOperators(shown) ? 2 : 1));
  }
}
