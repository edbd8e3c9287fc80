// An address as its bytes: 4 of IPv4 or 16 of IPv6. A range also has the number of bits that its addresses share.
export type IpRange = { bytes: Uint8Array; bits: number };

const byteForm = /^(0|[1-9]\d{0,2})$/;
const groupForm = /^[0-9a-f]{1,4}$/i;

// Returns the bytes of an address, or null if the text is not one. An IPv4-mapped IPv6 address becomes plain IPv4, because
// dual-stack servers report their IPv4 clients in that form.
export function bytesOf(ip: string): Uint8Array | null {
  if (!ip.includes(":")) return ip4(ip);
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(ip);
  const tail = dotted ? ip4(dotted[2] ?? "") : null;
  if (dotted && !tail) return null;
  const groups = groupsOf(tail ? `${dotted?.[1] ?? ""}${hex(tail, 0)}:${hex(tail, 2)}` : ip);
  if (!groups) return null;
  const bytes = Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.slice(12) : bytes;
}

function ip4(text: string): Uint8Array | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => byteForm.test(part) && Number(part) <= 255)) return null;
  return Uint8Array.from(parts.map(Number));
}

function hex(bytes: Uint8Array, at: number): string {
  return (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16);
}

function groupsOf(text: string): number[] | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [head = [], tail] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const given = [...head, ...(tail ?? [])];
  if (!given.every((group) => groupForm.test(group))) return null;
  const missing = 8 - given.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return null;
  const all = tail === undefined ? given : [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  return all.map((group) => Number.parseInt(group, 16));
}

// Returns the range of an address or a CIDR block, or what is wrong with the text.
export function rangeOf(text: string): IpRange | { problem: string } {
  const [ip = "", prefix, more] = text.split("/");
  const bytes = bytesOf(ip);
  if (!bytes || more !== undefined) return { problem: "must be an IP address, or a block such as 203.0.113.0/24" };
  const total = bytes.length * 8;
  if (prefix === undefined) return { bytes, bits: total };
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > total) return { problem: `must have a prefix of at most /${total}` };
  const bits = Number(prefix);
  const first = masked(bytes, bits);
  if (first.some((byte, index) => byte !== bytes[index])) {
    return { problem: `has bits set after its prefix; the block is ${textOf(first)}/${bits}` };
  }
  return { bytes, bits };
}

function masked(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, index) => byte & (0xff00 >> Math.min(Math.max(bits - index * 8, 0), 8)) & 0xff);
}

// The only spelling by which an address or a block is found. It is not the shortest one of IPv6.
export function textOf(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  return Array.from({ length: 8 }, (_, group) => hex(bytes, group * 2)).join(":");
}
