// A key for one intended change, reused for all of its attempts. It is a UUID version 7, so later keys sort later. It does not
// use crypto.randomUUID, which is missing on pages loaded over plain HTTP.
export function newKey(): string {
  const random = crypto.getRandomValues(new Uint8Array(10));
  const hex = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const time = Date.now().toString(16).padStart(12, "0");
  const variant = "89ab"[(random[2] ?? 0) & 3];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(1, 4)}-${variant}${hex.slice(5, 8)}-${hex.slice(8)}`;
}
