import { statfsSync } from "node:fs";
import { countUnscored } from "../db/inbox.ts";
import { listSigningKeys } from "../db/issuer.ts";
import { findServerVersion, listPendingMigrations } from "../db/migrate.ts";
import { canLockTenants } from "../db/tenant-lock.ts";
import type { Command } from "./command.ts";
import type { Store } from "./store.ts";

const diskFreeMin = 1024 ** 3;
const answerTimeoutMs = 3_000;

type Check = { name: string; isOk: boolean; detail: string };

async function checkAll(store: Store): Promise<Check[]> {
  const { database, config } = store;
  const checks: Check[] = [
    { name: "node", isOk: Number(process.versions.node.split(".")[0]) >= 24, detail: process.versions.node },
  ];
  checks.push({
    name: "database",
    isOk: true,
    detail: `PostgreSQL ${await findServerVersion(database)}, ${config.databaseUrl === null ? `embedded in ${config.dataDir}` : "by DATABASE_URL"}`,
  });
  const pending = await listPendingMigrations(database);
  checks.push({
    name: "migrations",
    isOk: pending.length === 0,
    detail: pending.length === 0 ? "up to date" : `pending: ${pending.join(", ")}`,
  });
  if (config.databaseUrl === null) checks.push(checkDisk(config.dataDir));
  if (pending.length > 0) return checks;
  const keys = await listSigningKeys(database);
  checks.push({
    name: "signing keys",
    isOk: true,
    detail: keys.length === 0 ? "none yet: made at the first start" : `${keys.length}, the newest of ${keys[0]?.created_at}`,
  });
  checks.push(await checkLock(store));
  checks.push({ name: "unscored activity", isOk: true, detail: String(await countUnscored(database)) });
  checks.push(await checkService(await store.publicUrl()));
  return checks;
}

// It is made by the service's start; here it is only looked for.
async function checkLock({ database, config }: Store): Promise<Check> {
  const name = "tenant lock";
  if (config.rowSecurity === "off") return { name, isOk: true, detail: "off, by ROW_SECURITY" };
  const isLocking = await canLockTenants(database);
  const isOk = isLocking || config.rowSecurity === "auto";
  return { name, isOk, detail: isLocking ? "row-level security" : "none: there is no such role, or its user may not have it" };
}

function checkDisk(folder: string): Check {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  return { name: "disk", isOk: free >= diskFreeMin, detail: `${(free / 1024 ** 3).toFixed(1)} GiB free at ${folder}` };
}

async function checkService(url: string): Promise<Check> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(answerTimeoutMs) });
    return { name: "service", isOk: response.ok, detail: `${url} answers ${response.status}` };
  } catch {
    return { name: "service", isOk: false, detail: `nothing answers at ${url}` };
  }
}

export const doctor: Command = {
  name: "doctor",
  usage: "doctor",
  summary: "checks what a running service needs, and says what is wrong",
  positionals: { min: 0, max: 0 },
  options: {},
  wants: { migrations: false, newDatabase: false },
  run: async ({ store }) => {
    const checks = await checkAll(store);
    const isHealthy = checks.every((check) => check.isOk);
    const text = checks.map(({ name, isOk, detail }) => `${isOk ? "ok  " : "FAIL"}  ${name.padEnd(18)} ${detail}`).join("\n");
    return {
      result: { is_healthy: isHealthy, checks: checks.map(({ isOk, ...check }) => ({ ...check, is_ok: isOk })) },
      text,
      isFailure: !isHealthy,
    };
  },
};
