import type { Logger } from "pino";
import { ConfigFault, isEverywhere, type Config } from "../config.ts";
import { Database } from "../db/postgres/database.ts";
import { EmbeddedPostgres } from "../db/postgres/embedded.ts";
import { migrate } from "../db/postgres/migrate.ts";
import { requireSessions } from "../db/postgres/pooler-check.ts";
import { canAskNodes, isCluster } from "../db/citus/nodes.ts";
import { listMisplaced } from "../db/citus/distribute.ts";
import { isBound, openTenantLock } from "../db/tenant-lock.ts";
import type { Clock } from "../engine/cases.ts";
import { databaseFault } from "../operator.ts";
import { bootstrap, seedRules } from "../tenancy.ts";

type Store = { embedded: EmbeddedPostgres | null; database: Database };
type Opening = {
  clock: Clock;
  log: Logger;
  stops: (() => Promise<void>)[];
  // Set if PostgreSQL is already starting.
  embedded?: Promise<EmbeddedPostgres> | undefined;
  writersMax?: number;
};

// What one process does before any process serves: starts the embedded PostgreSQL if there is no other, migrates, and creates the
// bootstrap client, which the API would otherwise reject.
export async function openStore(config: Config, { clock, log, stops, writersMax, ...opening }: Opening): Promise<Store> {
  const embedded = config.databaseUrl === null ? await (opening.embedded ?? EmbeddedPostgres.forService(config.dataDir)) : null;
  if (embedded) stops.push(() => embedded.stop());
  checkPublicUrl(config, log);
  const address = embedded ? embedded.address : { connectionString: config.databaseUrl ?? "" };
  const database = new Database(address, writersMax === undefined ? {} : { writersMax });
  stops.push(() => database.end());
  const fault = (error: unknown) => {
    throw databaseFault(error, config.databaseUrl);
  };
  if (!embedded) await requireSessions(database).catch(fault);
  const applied = (await migrate(database).catch(fault)) ?? [];
  if (applied.length > 0) log.info({ applied }, "migrations applied");
  await lockTenants(database, config, log);
  await seedRules(database, clock);
  if (config.bootstrap) await bootstrap(database, config.bootstrap, clock);
  return { embedded, database };
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

export async function lockTenants(database: Database, { rowSecurity }: Config, log: Logger): Promise<void> {
  if (await isBound(database)) throw new ConfigFault("DATABASE_URL: the user must own the tables, or have bypassrls");
  if (await isCluster(database)) return openCluster(database, rowSecurity, log);
  if (rowSecurity === "off") return;
  const fault = await openTenantLock(database);
  if (fault !== null && rowSecurity === "on") throw new ConfigFault(`ROW_SECURITY: ${fault}`);
  if (fault !== null) log.warn({ fault }, "row-level security is off: only the statements separate tenants");
}

// Tables that a migration has added are not on the nodes before "distribute" runs again.
async function openCluster(database: Database, rowSecurity: Config["rowSecurity"], log: Logger): Promise<void> {
  if (rowSecurity === "on") throw new ConfigFault("ROW_SECURITY: it does not work on a Citus cluster: set it to off");
  const misplaced = (await listMisplaced(database)).map(({ table }) => table);
  if (misplaced.length > 0)
    throw new ConfigFault(`DATABASE_URL: these tables are not distributed: ${misplaced.join(", ")}; run casehound distribute`);
  if (!(await canAskNodes(database)))
    throw new ConfigFault("DATABASE_URL: the nodes lack a function of this release; run casehound distribute");
  database.useCluster();
  log.info("the database is a Citus cluster: tenants are distributed over its nodes");
}
