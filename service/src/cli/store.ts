import { existsSync } from "node:fs";
import { join } from "node:path";
import { localUrl, type Config } from "../config.ts";
import { EmbeddedFault } from "../db/postgres/cluster.ts";
import { isCluster } from "../db/citus/nodes.ts";
import { Database } from "../db/postgres/database.ts";
import { EmbeddedPostgres } from "../db/postgres/embedded.ts";
import { MigrationFault, listPendingMigrations, migrate, readMigrations } from "../db/postgres/migrate.ts";
import { requireSessions } from "../db/postgres/pooler-check.ts";
import { findPublicUrl } from "../db/settings.ts";
import { databaseFault } from "../operator.ts";

// The service's database, whether or not the service runs.
export type Store = {
  config: Config;
  database: Database;
  // What the service calls itself in tokens and links.
  publicUrl: () => Promise<string>;
  // Where to call the service. The environment takes precedence over what the service has stored, because the data may be a copy
  // of another service's. Null if no service was started on it yet.
  address: () => Promise<string | null>;
  close: () => Promise<void>;
};

// `schema`: `any` accepts any schema, `current` fails unless the schema is this version's, and `migrated` brings it up to date.
// `isAlone`: fails while a service runs, and no service can start meanwhile.
export type Wants = { schema: "any" | "current" | "migrated"; newDatabase: boolean; isAlone?: boolean };

export async function openStore(config: Config, wants: Wants): Promise<Store> {
  const hasNone = config.databaseUrl === null && !existsSync(join(config.dataDir, "postgres"));
  if (hasNone && !wants.newDatabase)
    throw new EmbeddedFault(`there is no database in DATA_DIR ${config.dataDir}: start the service first`);
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDir, wants) : null;
  const database = new Database(embedded ? embedded.address : { connectionString: config.databaseUrl ?? "" }, { writersMax: 2 });
  const close = async () => {
    await database.end();
    await embedded?.stop();
  };
  try {
    // Connect and disconnect at once, because a restore waits until nobody else is connected.
    if (!embedded) await requireSessions(database);
    if (wants.schema === "migrated") await migrate(database);
    if (wants.schema === "current") await expectCurrent(database);
    if (wants.schema !== "any" && (await isCluster(database))) database.useCluster();
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

// Commands that only read must not change tables, because an older service may be running on them.
async function expectCurrent(database: Database): Promise<void> {
  const migrations = readMigrations();
  const pending = await listPendingMigrations(database, migrations);
  if (pending.length === 0) return;
  const words =
    pending.length === migrations.length
      ? "the database is empty"
      : `the database is out of date, pending: ${pending.join(", ")}`;
  throw new MigrationFault(`${words}. Run casehound migrate, or start the service, to bring it up to date`);
}

function openEmbedded(dataDir: string, { isAlone }: Wants): Promise<EmbeddedPostgres> {
  return isAlone === true ? EmbeddedPostgres.forService(dataDir) : EmbeddedPostgres.forCommand(dataDir);
}
