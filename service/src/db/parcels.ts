import { randomUUID } from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { RecordedActivity } from "../domain/activity.ts";
import type { Queryable } from "./postgres/database.ts";
import { sql } from "./postgres/sql.ts";

// Pending activities are stored in parcels: those that arrived together are one compressed row, because most of their bytes are
// the same. One row per activity took the database twice as long, and with a backlog seven times as long.
export const parcelEventsMax = 250;
const parcelCharactersMax = 256 * 1024;
const packedFromCharacters = 1024;
const pack = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const bracket = "[".charCodeAt(0);

type Parcel = { is_browser: boolean; is_urgent: boolean; received_at: string; texts: string[] };

// An activity as it is stored: its JSON, and what decides the parcel that it goes into.
export type ActivityText = Pick<RecordedActivity, "origin" | "received_at"> & { text: string };

export async function insertParcels(tx: Queryable, tenantId: string, activities: ActivityText[]): Promise<void> {
  const parcels = parcelsOf(activities, false);
  // The statements are pipelined, without waiting for each result.
  await Promise.all(parcels.map((parcel) => insertParcel(tx, tenantId, { parcel_id: randomUUID(), ...parcel })));
}

// Each parcel holds activities of one day, because they go into that day's partition, and of one origin, because servers are
// scored before browsers.
export function parcelsOf(activities: ActivityText[], is_urgent: boolean): Parcel[] {
  const parcels: Parcel[] = [];
  let characters = 0;
  let current: Parcel | undefined;
  for (const [place, { origin, received_at, text: plain }] of activities.entries()) {
    const is_browser = origin === "browser";
    const text = place === 0 ? plain : `${plain.slice(0, -1)},"place":${place}}`;
    const isFull = current && (current.texts.length >= parcelEventsMax || characters + text.length > parcelCharactersMax);
    const isAlike = current?.is_browser === is_browser && current.received_at.slice(0, 10) === received_at.slice(0, 10);
    if (!current || isFull === true || !isAlike) {
      current = { is_browser, is_urgent, received_at, texts: [] };
      parcels.push(current);
      characters = 0;
    }
    if (received_at < current.received_at) current.received_at = received_at;
    current.texts.push(text);
    characters += text.length;
  }
  return parcels;
}

export async function insertParcel(tx: Queryable, tenantId: string, parcel: Parcel & { parcel_id: string }): Promise<void> {
  await tx.query(sql`
    insert into inbox (tenant_id, is_browser, is_urgent, received_at, parcel_id, events, parcel)
    values (
      ${tenantId}, ${parcel.is_browser}, ${parcel.is_urgent}, ${parcel.received_at}, ${parcel.parcel_id}, ${parcel.texts.length},
      ${packed(parcel.texts)}
    )`);
}

function packed(texts: string[]): Buffer {
  const text = `[${texts.join(",")}]`;
  const bytes = Buffer.from(text);
  return text.length < packedFromCharacters ? bytes : zstdCompressSync(bytes, pack);
}

export function unpackParcel(bytes: Buffer): RecordedActivity[] {
  const plain = bytes[0] === bracket ? bytes : zstdDecompressSync(bytes);
  // The cast is safe: only insertParcel writes parcels.
  return JSON.parse(plain.toString()) as RecordedActivity[];
}
