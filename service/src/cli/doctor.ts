import { ConfigFault, readConfig, type Config } from "../config.ts";
import { readWaiting } from "../db/waiting.ts";
import type { Command } from "./command.ts";
import {
  checkDatabase,
  checkDatabaseClock,
  checkDisk,
  checkEngine,
  checkFolder,
  checkLock,
  checkMachine,
  checkNode,
  checkSchema,
  checkService,
  checkTenants,
  checkWebhooks,
  fail,
  ok,
  type Check,
} from "./doctor-checks.ts";
import { openStore, type Store } from "./store.ts";

// One after the other: each counts on those before it, so the first that fails for good ends it.
async function* examine(): AsyncGenerator<Check> {
  yield checkNode();
  yield* checkMachine();
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    yield fail("configuration", error.message, "set the variable right, or leave it out");
    return;
  }
  yield ok("configuration", "the environment's variables are well formed");
  if (config.databaseUrl === null) {
    const folder = checkFolder(config);
    yield folder;
    if (!folder.isOk) return;
    yield checkDisk(config.dataDir);
  }
  let store: Store;
  try {
    store = await openStore(config, { migrations: false, newDatabase: false });
    await store.database.ping();
  } catch (error) {
    yield unreachable(config, error);
    return;
  }
  try {
    yield* examineStore(store);
  } finally {
    await store.close();
  }
}

function unreachable({ databaseUrl }: Config, error: unknown): Check {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reasons = cause instanceof AggregateError ? cause.errors : [cause];
  const words = reasons.map((each) => (each instanceof Error ? each.message : String(each))).join(", ");
  const next =
    databaseUrl === null
      ? "the file postgres.log in DATA_DIR says why"
      : "is it up, and are host, port, user, password and name in DATABASE_URL right?";
  return fail("database", words, next);
}

async function* examineStore(store: Store): AsyncGenerator<Check> {
  yield await checkDatabase(store);
  yield await checkDatabaseClock(store);
  const schema = await checkSchema(store);
  yield schema;
  if (!schema.isOk) return;
  for (const check of [checkLock, checkTenants]) yield await check(store);
  const waiting = await readWaiting(store.database);
  yield checkEngine(waiting);
  yield checkWebhooks(waiting);
  yield* await checkService(await store.publicUrl());
}

function line({ name, isOk, detail, next }: Check): string {
  const told = `${isOk ? "ok  " : "FAIL"}  ${name.padEnd(14)} ${detail}`;
  return next === undefined ? told : `${told}\n${" ".repeat(21)}what to do: ${next}`;
}

export const doctor: Command = {
  name: "doctor",
  usage: "doctor",
  summary: "checks what a running service needs, and says what is wrong and what to do",
  positionals: { min: 0, max: 0 },
  options: {},
  wants: null,
  run: async () => {
    const checks: Check[] = [];
    for await (const check of examine()) checks.push(check);
    const isHealthy = checks.every((check) => check.isOk);
    return {
      result: { is_healthy: isHealthy, checks: checks.map(({ isOk, ...check }) => ({ ...check, is_ok: isOk })) },
      text: checks.map(line).join("\n"),
      isFailure: !isHealthy,
    };
  },
};
