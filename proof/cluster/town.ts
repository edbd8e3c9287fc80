import { clock } from "../../service/src/clock.ts";
import { Database } from "../../service/src/db/postgres/database.ts";
import { createClient, createTenant } from "../../service/src/tenancy.ts";
import { randomUUID } from "node:crypto";
import { clientTokens } from "@casehound/simulator/courier";
import type { Random } from "@casehound/simulator/random";
import { ServiceProcess } from "../../service/test/launch.ts";
import { Load } from "../writers/load.ts";

export type Place = { host: string; port: number; shard: string };
// A client that sends requests only when a trial calls `use`, which returns the status.
type Spare = { clientId: string; use: () => Promise<number> };
export type Settled = { load: Load; place: Place; spare: Spare };

// A service on a cluster, with tenants on both of its workers, under load.
export class Town {
  readonly database: Database;
  readonly tenants: Settled[] = [];
  readonly #url: string;
  readonly #service: ServiceProcess;

  private constructor(url: string, service: ServiceProcess) {
    this.#url = url;
    this.database = this.openDatabase();
    this.#service = service;
  }

  // It has connections of its own. The caller ends it.
  openDatabase(): Database {
    const database = new Database({ connectionString: this.#url });
    database.useCluster();
    return database;
  }

  // With at least two tenants on each of two workers.
  static async open(url: string): Promise<Town> {
    const service = new ServiceProcess({ DATABASE_URL: url, LOG_LEVEL: "error", ROW_SECURITY: "off" });
    const town = new Town(url, service);
    try {
      await service.up();
      await town.#settle();
    } catch (error) {
      await town.close();
      throw error;
    }
    return town;
  }

  async #settle(): Promise<void> {
    const wanted = 2;
    for (const counts = new Map<number, number>(); counts.size < 2 || [...counts.values()].some((count) => count < wanted);) {
      const tenant = await createTenant(this.database, { slug: `t-${randomUUID()}` }, clock);
      const place = await this.placeOf(tenant.tenant_id);
      const count = counts.get(place.port) ?? 0;
      if (count === wanted) continue;
      counts.set(place.port, count + 1);
      this.tenants.push({ load: await Load.open(this.port, tenant), place, spare: await this.#spareOf(tenant.tenant) });
    }
  }

  async #spareOf(slug: string): Promise<Spare> {
    const made = await createClient(this.database, { slug, scopes: ["read:cases"] }, clock);
    const baseUrl = `http://127.0.0.1:${this.port}`;
    const token = await clientTokens({ baseUrl, clientId: made.client_id, clientSecret: made.client_secret })(false);
    const headers = { authorization: `Bearer ${token}` };
    const use = async () => {
      const answer = await fetch(`${baseUrl}/v2/${slug}/cases?limit=1`, { headers });
      await answer.arrayBuffer();
      return answer.status;
    };
    return { clientId: made.client_id, use };
  }

  get port(): number {
    return this.#service.port;
  }

  async placeOf(tenantId: string): Promise<Place> {
    const client = await this.database.connect();
    try {
      const { rows } = await client.query<Place>(
        `select n.nodename as host, n.nodeport as port, p.shardid::text as shard
         from pg_dist_placement as p
         join pg_dist_node as n using (groupid)
         where p.shardid = get_shard_id_for_distribution_column('cases', $1::text)`,
        [tenantId],
      );
      const [place] = rows;
      if (!place) throw new Error("the tenant is on no node");
      return place;
    } finally {
      await client.end();
    }
  }

  async work(writers: number, random: Random): Promise<void> {
    await Promise.all(this.tenants.map(({ load }, index) => load.work(writers, random.fork(`tenant-${index}`))));
  }

  async close(): Promise<void> {
    for (const { load } of this.tenants) load.stop();
    this.#service.signal("SIGKILL");
    await this.#service.exited;
    await this.database.end();
  }
}

// How often each answer has come to these tenants.
export function countAnswers(tenants: Settled[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { load } of tenants)
    for (const [what, times] of load.caller.answers) counts.set(what, (counts.get(what) ?? 0) + times);
  return counts;
}
