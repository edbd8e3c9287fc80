import type { DatabaseAddress } from "./postgres/connections.ts";
import { Database, type Queryable, type Row } from "./postgres/database.ts";
import type { Statement } from "./postgres/sql.ts";

export type Reader = { reader: Queryable; end: () => Promise<void> };

// Opens a separate connection, for a thread that reads for a long time.
export async function readAs(address: DatabaseAddress): Promise<Reader> {
  const database = new Database(address, { writersMax: 1 });
  const client = await database.connect();
  const reader: Queryable = { query: async <R extends Row>(statement: Statement) => (await client.query<R>(statement)).rows };
  const end = async () => {
    await client.end();
    await database.end();
  };
  return { reader, end };
}
