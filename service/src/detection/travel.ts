import type { AccountFacts, LoginLocation } from "./entity.ts";
import { never } from "./catalogue.ts";
import type { EnrichedActivity } from "./scene.ts";

const minuteMs = 60_000;
const travelKmMin = 200;
const earthKm = 6371;

export function minutes(ms: number): number {
  return Math.round(ms / minuteMs);
}

export function minutesSinceOther({ last, elsewhere }: AccountFacts, { at, country }: EnrichedActivity): number {
  if (country === "") return never;
  const other =
    last && last.country !== "" && last.country !== country ? last : elsewhere?.country === country ? null : elsewhere;
  return other ? minutes(Math.abs(at - other.at)) : never;
}

// Locating an address within one metropolitan area is often wrong, so short distances do not count.
export function travelSpeed(last: LoginLocation | null, { at, lat, lon }: EnrichedActivity): number {
  if (!last || last.lat === null || last.lon === null || lat === null || lon === null) return 0;
  const km = distanceKm(last.lat, last.lon, lat, lon);
  if (km < travelKmMin) return 0;
  return Math.round(km / Math.max(Math.abs(at - last.at) / 3_600_000, 1 / 60));
}

function distanceKm(latA: number, lonA: number, latB: number, lonB: number): number {
  const radians = Math.PI / 180;
  const half = (degrees: number) => Math.sin((degrees * radians) / 2) ** 2;
  const chord = half(latB - latA) + Math.cos(latA * radians) * Math.cos(latB * radians) * half(lonB - lonA);
  return 2 * earthKm * Math.asin(Math.min(Math.sqrt(chord), 1));
}
