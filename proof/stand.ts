import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clock } from "../service/src/clock.ts";
import { Database } from "../service/src/db/postgres/database.ts";
import { EmbeddedPostgres } from "../service/src/db/postgres/embedded.ts";
import { migrate } from "../service/src/db/postgres/migrate.ts";
import { sql } from "../service/src/db/postgres/sql.ts";
import { createTenant } from "../service/src/tenancy.ts";
import { ServiceProcess, killHard, processesOf, type Environment } from "../service/test/launch.ts";

// The environment of a part: its own PostgreSQL in its own folder, and services as separate processes.
export class Stand {
  readonly folder: string;
  readonly databaseUrl: string;
  // A direct connection to the database, to inspect it and to create tenants.
  readonly database: Database;
  readonly #launched: ServiceProcess[] = [];

  readonly #postgres: EmbeddedPostgres | null;

  private constructor(folder: string, { postgres, databaseUrl }: { postgres: EmbeddedPostgres | null; databaseUrl: string }) {
    this.folder = folder;
    this.#postgres = postgres;
    this.databaseUrl = databaseUrl;
    this.database = new Database({ connectionString: databaseUrl });
  }

  // On a database that is there, with its tables.
  static on(databaseUrl: string): Stand {
    return new Stand(mkdtempSync(join(tmpdir(), "casehound-proof-")), { postgres: null, databaseUrl });
  }

  static async open(): Promise<Stand> {
    const stand = await Stand.empty();
    await migrate(stand.database);
    return stand;
  }

  // With a database that has no tables yet.
  static async empty(): Promise<Stand> {
    const folder = mkdtempSync(join(tmpdir(), "casehound-proof-"));
    const postgres = await EmbeddedPostgres.forService(folder);
    const { user, database, host } = postgres.address;
    return new Stand(folder, { postgres, databaseUrl: `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}` });
  }

  get postgres(): EmbeddedPostgres {
    if (!this.#postgres) throw new Error("the stand has no PostgreSQL of its own");
    return this.#postgres;
  }

  // Uses this stand's database, unless the environment names another one.
  start(env: Environment = {}, command?: string[]): Promise<ServiceProcess> {
    const service = new ServiceProcess({ DATABASE_URL: this.databaseUrl, LOG_LEVEL: "warn", ...env }, command);
    this.#launched.push(service);
    return service.up();
  }

  tenant(): ReturnType<typeof createTenant> {
    return createTenant(this.database, { slug: `t-${randomUUID()}` }, clock);
  }

  // Waits until the engines have scored everything that the tenant sent.
  async drained(tenantId: string): Promise<void> {
    const look = sql`select 1 as waiting from inbox where tenant_id = ${tenantId} limit 1`;
    while ((await this.database.query(look)).length > 0) await sleep(50);
  }

  async close(): Promise<void> {
    for (const each of this.#launched) each.signal("SIGKILL");
    await Promise.all(this.#launched.map(({ exited }) => exited));
    await this.database.end();
    await this.#postgres?.stop();
    for (const pid of processesOf(this.folder)) killHard(pid);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
