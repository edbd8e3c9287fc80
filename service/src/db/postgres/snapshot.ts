import type { Client } from "pg";
import type { Database, Row, TenantDatabase } from "./database.ts";
import { toFailure } from "./faults.ts";
import { unprepared, type Statement } from "./sql.ts";
import { send, statementTimeoutMs } from "./wire.ts";

export type Snapshot = { database: TenantDatabase; end: () => Promise<void> };

// The tenant's data as it was at one moment, for as long as somebody reads it. It has a connection of its own and cannot write.
export async function openSnapshot(database: Database, tenantId: string): Promise<Snapshot> {
  const role = database.tenantRole;
  const client = await connect(database, role);
  const query = async <R extends Row>(statement: Statement): Promise<R[]> => {
    try {
      return (await send<R>(client, statement)).rows;
    } catch (error) {
      throw toFailure(error);
    }
  };
  const end = () => client.end().catch(() => {});
  try {
    await query(unprepared("begin isolation level repeatable read read only"));
    await query(unprepared(`set local statement_timeout = ${statementTimeoutMs}`));
    if (role !== null) await query(unprepared("select set_config('casehound.tenant', $1, true)", [tenantId]));
    // The first statement takes the snapshot.
    await query(unprepared("select 1 as begun"));
  } catch (error) {
    await end();
    throw error;
  }
  const seen = { query, isLocked: role !== null };
  const inside = { ...seen, isPatient: false };
  return { database: { ...seen, alone: query, transaction: (work) => work(inside), tryOnce: (work) => work(inside) }, end };
}

async function connect(database: Database, role: string | null): Promise<Client> {
  try {
    return await database.connect(role === null ? {} : { role });
  } catch (error) {
    throw toFailure(error);
  }
}
