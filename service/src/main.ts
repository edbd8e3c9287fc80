import type { Logger } from "pino";
import { clock } from "./clock.ts";
import { readConfig, type Config } from "./config.ts";
import { EmbeddedPostgres } from "./db/postgres/embedded.ts";
import { logWarnings, openLog, openOutput, type LogOutput } from "./log.ts";
import { databaseFault, isDatabaseTrouble, isPlain, textOf } from "./operator.ts";
import type { Welcome } from "./processes/welcome.ts";
import type { DemoCredentials } from "./tenancy.ts";

const began = performance.now();

type Started = Welcome & { url: string; workers?: number; broken?: Promise<Error>; stop: () => Promise<void> };

// With one worker, this process does everything itself.
const hasCrowd = ({ roles, workers }: Config) => workers.count > 1 && (roles.has("api") || roles.has("collector"));

// PostgreSQL starts while the rest of the program is loaded, which takes longer.
async function start(config: Config, log: Logger, output: LogOutput): Promise<Started> {
  const embedded = config.databaseUrl === null ? EmbeddedPostgres.forService(config.dataDir) : undefined;
  // A failure is reported where it is awaited.
  embedded?.catch(() => {});
  if (hasCrowd(config)) return (await import("./processes/first.ts")).startCrowd(config, { log, output, embedded });
  if (config.workers.count > 1) log.warn("WORKERS has no effect without the roles api and collector");
  return (await import("./service.ts")).startService(config, log, { clock, embedded });
}

function stopWith(error: unknown): never {
  process.stderr.write(`casehound: ${textOf(error)}\n`);
  process.exit(isPlain(error) ? 2 : 1);
}

function greet({ url, demo, setUpLink, workers }: Started, { roles, bootstrap }: Config): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const how = workers === undefined ? `${seconds} s` : `${workers} workers, ${seconds} s`;
  const lines = [
    roles.has("api")
      ? `Casehound is up at ${url} (${how}). Documentation: ${url}/docs`
      : roles.has("collector")
        ? `Casehound's collector is up at ${url} (${how}).`
        : `Casehound's engine is up (${how}).`,
  ];
  if (demo) lines.push(...demoLines(url, demo));
  // Printed last, so that only the log follows it.
  if (setUpLink !== null)
    lines.push(
      "",
      "Nobody has signed up yet. This link creates the first admin; it works once, for 15 minutes:",
      `  ${setUpLink}`,
      `To print another one: npm run -s cli -- link --tenant ${demo?.tenant ?? bootstrap?.tenant}`,
    );
  process.stdout.write(`${lines.join("\n")}\n`);
}

function demoLines(url: string, { tenant, client_id, client_secret }: DemoCredentials): string[] {
  const who = ["", `  tenant         ${tenant}`, `  client_id      ${client_id}`];
  if (client_secret === null)
    return [...who, "  client_secret  was rotated; to create a new client: npm run -s cli -- client create"];
  const form = `-d grant_type=client_credentials -d client_id=${client_id} -d client_secret=${client_secret}`;
  return [
    ...who,
    `  client_secret  ${client_secret}`,
    "",
    "Try it:",
    `  curl -s ${url}/v2/oauth/token ${form}`,
    "",
    "Press Ctrl+C to stop.",
  ];
}

// Listens for signals from the beginning, so that a stop during startup leaves no PostgreSQL behind.
async function run(): Promise<void> {
  const config = readConfig();
  const output = openOutput(config.logFormat);
  const log = openLog(config.logLevel, config.logFormat, { output, ...(hasCrowd(config) && { worker: "first" }) });
  logWarnings(log);
  // Begins only after the signal handlers below are installed, because it starts PostgreSQL, and then blocks the event loop until
  // the modules are loaded.
  const starting = Promise.resolve()
    .then(() => start(config, log, output))
    .catch((error: unknown) => {
      throw isDatabaseTrouble(error) ? databaseFault(error, config.databaseUrl) : error;
    });
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      // Ctrl+C arrives twice: from the terminal, and passed on by npm. The stop has its own time limits.
      if (isStopping) return;
      isStopping = true;
      log.info({ signal }, "stopping");
      const stopped = () => {
        log.info("stopped");
        process.exit(0);
      };
      starting.then((service) => service.stop()).then(stopped, stopWith);
    });
  }
  const service = await starting;
  if (!isStopping) greet(service, config);
  const broken = await service.broken;
  if (broken === undefined || isStopping) return;
  isStopping = true;
  await service.stop();
  stopWith(broken);
}

await run().catch(stopWith);
