import { randomUUID } from "node:crypto";
import type { Database } from "../src/db/postgres/database.ts";
import { unpackParcel } from "../src/db/parcels.ts";
import { sql } from "../src/db/postgres/sql.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";

// Returns the activity waiting to be scored, in order of receipt.
export async function listWaiting(database: Database, tenantId: string): Promise<RecordedActivity[]> {
  const rows = await database.query<{ parcel: Buffer }>(sql`
    select parcel
    from inbox
    where tenant_id = ${tenantId}
    order by received_at, parcel_id`);
  return rows.flatMap((row) => unpackParcel(row.parcel)).map(withoutPlace);
}

// As it was sent.
export function withoutPlace({ place: _place, ...activity }: RecordedActivity): RecordedActivity {
  return activity;
}

// Inserts a parcel with one event, whose text may be anything.
export async function putParcel(
  database: Database,
  tenantId: string,
  given: { received_at: string; text: string; is_browser?: boolean },
): Promise<void> {
  await database.transaction((tx) =>
    tx.query(sql`
      insert into inbox (tenant_id, is_browser, received_at, parcel_id, events, parcel)
      values (${tenantId}, ${given.is_browser ?? false}, ${given.received_at}, ${randomUUID()}, 1, ${Buffer.from(given.text)})`),
  );
}
