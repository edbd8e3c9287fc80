import { pseudonymiseActivity } from "../domain/activity.ts";
import type { Queryable } from "./database.ts";
import { insertParcel, unpackParcel, type ParcelKey, type ParcelRow } from "./inbox.ts";
import { sql } from "./sql.ts";

const parcelsAtOnce = 16;

// All that wait, oldest first, a few at a time.
async function* readParcels(database: Queryable, tenantId: string): AsyncGenerator<ParcelRow> {
  let last: ParcelKey = { received_at: "-infinity", parcel_id: "00000000-0000-0000-0000-000000000000" };
  for (let rows: ParcelRow[]; ; last = rows.at(-1) ?? last) {
    rows = await database.query<ParcelRow>(sql`
      select received_at, parcel_id, parcel
      from inbox
      where tenant_id = ${tenantId} and (received_at, parcel_id) > (${last.received_at}::timestamptz, ${last.parcel_id}::uuid)
      order by received_at, parcel_id
      limit ${parcelsAtOnce}`);
    yield* rows;
    if (rows.length < parcelsAtOnce) return;
  }
}

// The parcels that hold activity of the account.
export async function listParcelsOf(database: Queryable, tenantId: string, websiteAccountId: string): Promise<ParcelKey[]> {
  const keys: ParcelKey[] = [];
  for await (const { received_at, parcel_id, parcel } of readParcels(database, tenantId)) {
    const isOf = unpackParcel(parcel).some((each) => each.website_account_id === websiteAccountId);
    if (isOf) keys.push({ received_at, parcel_id });
  }
  return keys;
}

export async function hasParcels(database: Queryable, tenantId: string, keys: ParcelKey[]): Promise<boolean> {
  const rows = await database.query(sql`
    select 1 as found
    from unnest(
      ${keys.map((each) => each.received_at)}::timestamptz[],
      ${keys.map((each) => each.parcel_id)}::uuid[]
    ) as k (received_at, parcel_id)
    join inbox as i on i.tenant_id = ${tenantId} and i.received_at = k.received_at and i.parcel_id = k.parcel_id
    limit 1`);
  return rows.length > 0;
}

// What waits of the account goes, but for its reports, which stay under the pseudonym. Returns whether there was anything. The
// caller has the tenant's turn.
export async function eraseFromInbox(
  tx: Queryable,
  tenantId: string,
  { id, pseudonym }: { id: string; pseudonym: string },
): Promise<boolean> {
  let hasErased = false;
  for await (const row of readParcels(tx, tenantId)) {
    const all = unpackParcel(row.parcel);
    if (!all.some((each) => each.website_account_id === id)) continue;
    hasErased = true;
    const kept = all.flatMap((each) => (each.website_account_id === id ? (pseudonymiseActivity(each, pseudonym) ?? []) : [each]));
    await tx.query(sql`
      delete from inbox
      where tenant_id = ${tenantId} and received_at = ${row.received_at} and parcel_id = ${row.parcel_id}`);
    const texts = kept.map((each) => JSON.stringify(each));
    if (texts.length > 0) await insertParcel(tx, tenantId, { ...row, texts });
  }
  return hasErased;
}
