// An ordinary database and a distributed one with the same rows, and a service on each.
import { Database } from "../../service/src/db/postgres/database.ts";
import { createDistributedDatabase, createPlainDatabase } from "../../service/test/citus.ts";
import type { Context } from "./part.ts";
import { fillStore, startOn, type Store, type StoreService } from "./store.ts";

export const cases = 20_000;

export type Served = { name: string; store: Store; service: StoreService; servers: number[] };
export type Named = { name: string; store: Store };

// The cluster's database starts as a copy of the ordinary one.
export async function openStores(context: Context, url: string): Promise<Named[]> {
  const plainUrl = await createPlainDatabase(url);
  const plain = await fillStore(context, plainUrl, { cases });
  // A database can be copied only while nobody is connected to it.
  await plain.database.end();
  context.progress(0, 1, "tables distributed");
  const clusterUrl = await createDistributedDatabase(url, { template: new URL(plainUrl).pathname.slice(1) });
  const openAt = (at: string): Store => ({ ...plain, url: at, database: new Database({ connectionString: at }) });
  return [
    { name: "plain", store: openAt(plainUrl) },
    { name: "cluster", store: openAt(clusterUrl) },
  ];
}

export type Wanted = { stores: Named[]; servers: number[]; roles: string };

export async function withServices<T>({ bench }: Context, wanted: Wanted, work: (served: Served[]) => Promise<T>): Promise<T> {
  const served: Served[] = [];
  try {
    for (const each of wanted.stores) {
      const service = await startOn(bench, each.store, { env: { ROW_SECURITY: "off", ROLES: wanted.roles } });
      served.push({ ...each, service, servers: wanted.servers });
    }
    return await work(served);
  } finally {
    for (const { service } of served) await service.stop();
  }
}
