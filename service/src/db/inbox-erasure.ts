import { pseudonymiseActivity } from "../domain/activity.ts";
import { eraseFromHistory } from "./history.ts";
import type { Queryable } from "./postgres/database.ts";
import { deleteAssessmentsOf } from "./assessments.ts";
import { activityKey } from "./inbox.ts";
import type { ParcelKey, ParcelRow } from "./inbox-claims.ts";
import { insertParcel, unpackParcel } from "./parcels.ts";
import { sql } from "./postgres/sql.ts";

const parcelsAtOnce = 16;

// Reads the pending parcels of one origin, oldest first, a few at a time.
async function* readParcels(database: Queryable, tenantId: string, is_browser: boolean): AsyncGenerator<ParcelRow> {
  let last: ParcelKey = { is_browser, received_at: "-infinity", parcel_id: "00000000-0000-0000-0000-000000000000" };
  for (let rows: ParcelRow[]; ; last = rows.at(-1) ?? last) {
    rows = await database.query<ParcelRow>(sql`
      select is_browser, is_urgent, received_at, parcel_id, parcel
      from inbox
      where tenant_id = ${tenantId}
        and is_browser = ${is_browser}
        and (received_at, parcel_id) > (${last.received_at}::timestamptz, ${last.parcel_id}::uuid)
      order by received_at, parcel_id
      limit ${parcelsAtOnce}`);
    yield* rows;
    if (rows.length < parcelsAtOnce) return;
  }
}

// Finds the parcels with server activity of the account. Page events are ignored, because otherwise anybody could make the
// erasure wait.
export async function listParcelsOf(database: Queryable, tenantId: string, websiteAccountId: string): Promise<ParcelKey[]> {
  const keys: ParcelKey[] = [];
  for await (const { parcel, is_urgent: _, ...key } of readParcels(database, tenantId, false)) {
    const isOf = unpackParcel(parcel).some((each) => each.website_account_id === websiteAccountId);
    if (isOf) keys.push(key);
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
    join inbox as i on i.tenant_id = ${tenantId} and not i.is_browser and i.received_at = k.received_at and i.parcel_id = k.parcel_id
    limit 1`);
  return rows.length > 0;
}

// Deletes the account's pending activity and history, except its pending reports, which stay under the pseudonym. Returns whether
// a server had sent any of it. The caller holds the tenant's turn.
export async function eraseFromInbox(
  tx: Queryable,
  tenantId: string,
  { id, pseudonym }: { id: string; pseudonym: string },
): Promise<boolean> {
  const hasTold = await eraseParcels(tx, tenantId, { id, pseudonym, is_browser: false });
  await eraseParcels(tx, tenantId, { id, pseudonym, is_browser: true });
  return (await eraseFromHistory(tx, tenantId, id)) || hasTold;
}

async function eraseParcels(
  tx: Queryable,
  tenantId: string,
  { id, pseudonym, is_browser }: { id: string; pseudonym: string; is_browser: boolean },
): Promise<boolean> {
  let hasErased = false;
  for await (const row of readParcels(tx, tenantId, is_browser)) {
    const all = unpackParcel(row.parcel);
    const own = all.filter((each) => each.website_account_id === id);
    if (own.length === 0) continue;
    hasErased = true;
    await deleteAssessmentsOf(
      tx,
      tenantId,
      own.map((each) => ({ id_key: activityKey(each) })),
    );
    const kept = all.flatMap((each) => (each.website_account_id === id ? (pseudonymiseActivity(each, pseudonym) ?? []) : [each]));
    await tx.query(sql`
      delete from inbox
      where tenant_id = ${tenantId} and is_browser = ${is_browser} and received_at = ${row.received_at} and parcel_id = ${row.parcel_id}`);
    const texts = kept.map((each) => JSON.stringify(each));
    if (texts.length > 0) await insertParcel(tx, tenantId, { ...row, texts });
  }
  return hasErased;
}
