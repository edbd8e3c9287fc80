// A version 7 UUID begins with the time, so that ids made later sort later. The random bytes are an argument, so that the
// function is pure.
export function uuidV7(timeMs: number, random: Uint8Array): string {
  const time = Math.max(0, timeMs).toString(16).padStart(12, "0").slice(-12);
  const tail = Array.from(random.subarray(0, 10), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const variant = ((random[2] ?? 0) & 0x3f) | 0x80;
  return [
    time.slice(0, 8),
    time.slice(8),
    `7${tail.slice(1, 4)}`,
    `${variant.toString(16)}${tail.slice(6, 8)}`,
    tail.slice(8, 20),
  ].join("-");
}

// The smallest text that an id made at this time or later can have. So a bound on ids is a bound on creation times.
export function uuidV7Floor(timeMs: number): string {
  const time = Math.max(0, timeMs).toString(16).padStart(12, "0").slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

// Returns when an id was made, in milliseconds.
export function uuidV7Time(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

// Ids are compared bytewise, so an id in another letter case is a different id and cannot be one of ours.
export function isCanonicalUuid(text: string): boolean {
  return canonicalUuid.test(text);
}
