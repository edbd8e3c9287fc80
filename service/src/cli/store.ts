import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { EmbeddedFault } from "../db/cluster.ts";
import { Database } from "../db/database.ts";
import { EmbeddedPostgres } from "../db/embedded.ts";
import { migrate } from "../db/migrate.ts";
import { findPublicUrl } from "../db/settings.ts";

// The service's database, whether the service runs or not.
export type Store = { config: Config; database: Database; publicUrl: () => Promise<string>; close: () => Promise<void> };

// Alone: not beside a running service, and no service can start beside it.
export type Wants = { migrations: boolean; newDatabase: boolean; isAlone?: boolean };

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
    if (wants.migrations) await migrate(database);
  } catch (error) {
    await close();
    throw error;
  }
  const publicUrl = async () => config.publicUrl ?? (await findPublicUrl(database)) ?? `http://${config.host}:${config.port}`;
  return { config, database, publicUrl, close };
}

function openEmbedded(dataDir: string, { isAlone }: Wants): Promise<EmbeddedPostgres> {
  return isAlone === true ? EmbeddedPostgres.forService(dataDir) : EmbeddedPostgres.forCommand(dataDir);
}
