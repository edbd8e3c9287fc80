// A key for one intended change, kept for all attempts at it: a UUID version 7, so that keys made later sort later. Not by
// crypto.randomUUID, which pages that came by plain http do not have.
export function newKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(10));
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const time = Date.now().toString(16).padStart(12, "0");
  const variant = "89ab"[(random[2] ?? 0) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(1, 4)}-${variant}${hex.slice(5, 8)}-${hex.slice(8)}`;
}
