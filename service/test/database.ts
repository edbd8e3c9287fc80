import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildConsole } from "../../console/bundle/build.ts";
import { Database } from "../src/db/postgres/database.ts";
import { EmbeddedPostgres } from "../src/db/postgres/embedded.ts";
import { migrate } from "../src/db/postgres/migrate.ts";
import { createDistributedDatabase, dropTestDatabases } from "./citus.ts";
import { connectTo, createDatabase, databaseOf } from "./launch.ts";

declare module "vitest" {
  interface ProvidedContext {
    databaseUrl: string;
    // A migrated database to which nobody connects. Copying it is faster than migrating.
    template: string;
    // The coordinator on which databases are made and distributed, or null with plain PostgreSQL.
    citusUrl: string | null;
  }
}

// The console, built from the current sources, and one real PostgreSQL for the whole run. Tests are separated by tenant, as
// customers are. TEST_DATABASE_URL selects another one.
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildConsole();
  if ((process.env["CASEHOUND_SUITE"] ?? "").startsWith("citus"))
    return provideDistributed(project, process.env["CITUS_DATABASE_URL"] ?? "");
  project.provide("citusUrl", null);
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined) {
    await provideMigrated(project, given);
    return async () => {};
  }
  const folder = mkdtempSync(join(tmpdir(), "casehound-test-"));
  const embedded = await EmbeddedPostgres.forService(folder);
  const databaseUrl = `postgresql://${embedded.address.user}@/${embedded.address.database}?host=${encodeURIComponent(embedded.address.host)}`;
  await trustTheMachine(databaseUrl);
  await provideMigrated(project, databaseUrl);
  return async () => {
    await embedded.stop();
    // Tests leave dozens of databases. Removing their files took 10 s and more, in which Vitest could not end its workers.
    spawn("rm", ["-rf", folder], { stdio: "ignore", detached: true }).unref();
  };
}

// The rows must survive a crash of PostgreSQL, but not of the machine. So no write waits for the disk.
async function trustTheMachine(databaseUrl: string): Promise<void> {
  const client = await connectTo({ connectionString: databaseUrl });
  for (const name of ["fsync", "full_page_writes"]) await client.query(`alter system set ${name} = off`);
  await client.query("select pg_reload_conf()");
  await client.end();
}

async function provideMigrated(project: TestProject, databaseUrl: string): Promise<void> {
  const templateUrl = await createDatabase(databaseUrl);
  for (const connectionString of [databaseUrl, templateUrl]) {
    const database = new Database({ connectionString });
    await migrate(database);
    await database.end();
  }
  project.provide("databaseUrl", databaseUrl);
  project.provide("template", databaseOf(templateUrl));
}

async function provideDistributed(project: TestProject, citusUrl: string): Promise<() => Promise<void>> {
  project.provide("databaseUrl", await createDistributedDatabase(citusUrl));
  project.provide("template", "");
  project.provide("citusUrl", citusUrl);
  return () => dropTestDatabases(citusUrl);
}
