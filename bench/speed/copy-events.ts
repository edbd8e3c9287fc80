// The limit of event intake: COPY of the same events into the same table, one row each, without any checks.
import { randomUUID } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { from as copyFrom } from "pg-copy-streams";
import type { Database } from "../../service/src/db/postgres/database.ts";
import type { Activity } from "../../service/src/domain/activity.ts";

const chunkRows = 500;
const epochMs = Date.UTC(2000, 0, 1);
const signature = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const end = Buffer.from([0xff, 0xff]);

const field = (bytes: Buffer): Buffer[] => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return [length, bytes];
};

const uuid = (text: string) => Buffer.from(text.replaceAll("-", ""), "hex");

// In COPY's binary format, prepared before the clock starts.
export function copyBytes(tenantId: string, activities: Activity[]): Buffer[] {
  const receivedAt = new Date().toISOString();
  const time = Buffer.alloc(8);
  time.writeBigInt64BE(BigInt(Date.parse(receivedAt) - epochMs) * 1000n);
  const one = Buffer.from([0, 0, 0, 1]);
  const columns = Buffer.from([0, 5]);
  const rows = activities.map((activity) => {
    const parcel = Buffer.from(JSON.stringify([{ ...activity, origin: "server", received_at: receivedAt }]));
    const fields = [uuid(tenantId), time, uuid(randomUUID()), one, parcel];
    return Buffer.concat([columns, ...fields.flatMap(field)]);
  });
  const chunks = Array.from({ length: Math.ceil(rows.length / chunkRows) }, (_, index) =>
    Buffer.concat(rows.slice(index * chunkRows, (index + 1) * chunkRows)),
  );
  return [signature, ...chunks, end];
}

// Returns seconds, including the commit.
export async function copyInto(database: Database, chunks: Buffer[]): Promise<number> {
  const client = await database.connect();
  try {
    const startMs = performance.now();
    const target = client.query(
      copyFrom("copy inbox (tenant_id, received_at, parcel_id, events, parcel) from stdin with (format binary)"),
    );
    await pipeline(Readable.from(chunks), target);
    return (performance.now() - startMs) / 1000;
  } finally {
    await client.end();
  }
}
