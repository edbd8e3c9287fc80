import { existsSync } from "node:fs";
import { join } from "node:path";
import { localUrl, type Config } from "../config.ts";
import { EmbeddedFault } from "../db/postgres/cluster.ts";
import { Database } from "../db/postgres/database.ts";
import { EmbeddedPostgres } from "../db/postgres/embedded.ts";
import { MigrationFault, checkMigrations, listPendingMigrations, migrate, readMigrations } from "../db/postgres/migrate.ts";
import { findPublicUrl } from "../db/settings.ts";
import { databaseFault } from "../operator.ts";

// The service's database, whether the service runs or not.
export type Store = {
  config: Config;
  database: Database;
  // What the service calls itself, in tokens and links.
  publicUrl: () => Promise<string>;
  // Where to call it. What the environment names comes before what the service has stored, for this may be a copy of another's
  // data; null where no service was started on it yet.
  address: () => Promise<string | null>;
  close: () => Promise<void>;
};

// Schema: whatever there is; the one of this version, or nothing is done; or brought up to date. Alone: not beside a running
// service, and no service can start beside it.
export type Wants = { schema: "any" | "current" | "migrated"; newDatabase: boolean; isAlone?: boolean };

export async function openStore(config: Config, wants: Wants): Promise<Store> {
  const hasNone = config.databaseUrl === null && !existsSync(join(config.dataDir, "postgres"));
  if (hasNone && !wants.newDatabase)
    throw new EmbeddedFault(`there is no database in DATA_DIR ${config.dataDir}: start the service there first`);
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDir, wants) : null;
  const database = new Database(embedded ? embedded.address : { connectionString: config.databaseUrl ?? "" }, { writersMax: 2 });
  const close = async () => {
    await database.end();
    await embedded?.stop();
  };
  try {
    // A connection that ends at once: a restore waits until nobody else has one.
    if (wants.schema === "any") await (await database.connect()).end();
    if (wants.schema === "migrated") await migrate(database);
    if (wants.schema === "current") await expectCurrent(database);
  } catch (error) {
    await close();
    throw databaseFault(error, config.databaseUrl);
  }
  const given = config.publicUrl ?? (config.isAddressGiven ? localUrl(config) : null);
  return {
    config,
    database,
    publicUrl: async () => config.publicUrl ?? (await findPublicUrl(database)) ?? localUrl(config),
    address: async () => given ?? (await findPublicUrl(database)) ?? null,
    close,
  };
}

// Whoever only looks changes no tables: an older service may be running on them.
async function expectCurrent(database: Database): Promise<void> {
  await checkMigrations(database);
  const pending = await listPendingMigrations(database);
  if (pending.length === 0) return;
  const words =
    pending.length === readMigrations().length ? "the database is empty" : `its tables are old, ${pending.join(", ")} is pending`;
  throw new MigrationFault(`${words}: casehound migrate, or a start of the service, brings it up to date`);
}

function openEmbedded(dataDir: string, { isAlone }: Wants): Promise<EmbeddedPostgres> {
  return isAlone === true ? EmbeddedPostgres.forService(dataDir) : EmbeddedPostgres.forCommand(dataDir);
}
