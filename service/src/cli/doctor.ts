import { ConfigFault, readConfig, type Config } from "../config.ts";
import { readWaiting, type Waiting } from "../db/waiting.ts";
import { isDatabaseTrouble, tellDatabase } from "../operator.ts";
import type { Command, Terminal } from "./command.ts";
import {
  checkAddressData,
  checkDatabase,
  checkDatabaseClock,
  checkDisk,
  checkEngine,
  checkFolder,
  checkLock,
  checkMachine,
  checkNode,
  checkSchema,
  checkTenants,
  checkWebhooks,
  fail,
  ok,
  type Check,
} from "./doctor-checks.ts";
import { checkHosts } from "./doctor-hosts.ts";
import { checkNodes } from "./doctor-nodes.ts";
import { checkMail, checkMails } from "./doctor-mail.ts";
import { checkService } from "./doctor-service.ts";
import { openStore, type Store } from "./store.ts";

// Runs one check after the other. Each relies on the previous ones, so the first fatal failure ends the examination.
async function* examine({ env }: Terminal): AsyncGenerator<Check> {
  yield checkNode();
  yield* await tried("memory", null, checkMachine);
  let config: Config;
  try {
    config = readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    yield fail("configuration", error.message, "correct the variable, or leave it unset");
    return;
  }
  yield ok("configuration", "the environment variables are valid");
  yield* await tried("address data", null, () => checkAddressData(config));
  yield* await tried("e-mail", null, () => checkMail(config));
  if (config.databaseUrl === null) {
    const folder = await tried("data folder", null, () => checkFolder(config));
    yield* folder;
    if (folder.some(({ isOk }) => !isOk)) return;
    yield* await tried("disk", null, () => checkDisk(config.dataDir));
  }
  yield* await tried("host", config.databaseUrl, () => checkHosts(config));
  let store: Store;
  try {
    store = await openStore(config, { schema: "any", newDatabase: false });
  } catch (error) {
    const { detail, next } = tellDatabase(error, config.databaseUrl);
    yield fail("database", detail, next);
    return;
  }
  try {
    yield* examineStore(store);
  } finally {
    // The database may have gone away meanwhile, which was already reported.
    await store.close().catch(() => {});
  }
}

type Examination = () => Check | Check[] | Promise<Check | Check[]>;

// Whatever a check throws is reported as its result.
async function tried(name: string, databaseUrl: string | null, check: Examination): Promise<Check[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    if (isDatabaseTrouble(error)) {
      const { detail, next } = tellDatabase(error, databaseUrl);
      return [fail(name, detail, next)];
    }
    const detail = error instanceof Error ? error.message : String(error);
    return [fail(name, detail.replaceAll("\n", " "), "this could not be checked: fix the error, and run doctor again")];
  }
}

async function* examineStore(store: Store): AsyncGenerator<Check> {
  const look = (name: string, check: Examination) => tried(name, store.config.databaseUrl, check);
  yield* await look("database", () => checkDatabase(store));
  yield* await look("clock", () => checkDatabaseClock(store));
  const schema = await look("migrations", () => checkSchema(store));
  yield* schema;
  if (schema.some(({ isOk }) => !isOk)) return;
  yield* await look("cluster", () => checkNodes(store));
  yield* await look("tenant lock", () => checkLock(store));
  yield* await look("tenants", () => checkTenants(store));
  const waiting: { current?: Waiting } = {};
  yield* await look("engine", async () => checkEngine((waiting.current = await readWaiting(store.database))));
  const { current } = waiting;
  if (current) yield* [...checkWebhooks(current), ...checkMails(current)];
  yield* await look("service", () => checkService(store));
}

function line({ name, isOk, detail, next }: Check): string {
  const told = `${isOk ? "ok  " : "FAIL"}  ${name.padEnd(14)} ${detail}`;
  return next === undefined ? told : `${told}\n${" ".repeat(21)}what to do: ${next}`;
}

export const doctor: Command = {
  name: "doctor",
  usage: "doctor",
  summary: "checks everything a running service needs, and says how to fix each problem",
  positionals: { min: 0, max: 0 },
  options: {},
  wants: null,
  run: async ({ terminal }) => {
    const checks: Check[] = [];
    for await (const check of examine(terminal)) checks.push(check);
    const isHealthy = checks.every((check) => check.isOk);
    return {
      result: { is_healthy: isHealthy, checks: checks.map(({ isOk, ...check }) => ({ ...check, is_ok: isOk })) },
      text: checks.map(line).join("\n"),
      isFailure: !isHealthy,
    };
  },
};
