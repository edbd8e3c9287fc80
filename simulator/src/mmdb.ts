import type { Network, Site } from "./network.ts";

// Writes databases in the public MaxMind DB format 2.0, so the service can use the simulated internet like any other address
// data. A file holds a binary tree over the bits of IPv6 (IPv4 is in ::/96), a data section and metadata. Non-negative integers
// are stored as uint32, all other numbers as doubles.
type MmdbValue = string | number | boolean | { [member: string]: MmdbValue };
type MmdbNetwork = { address: Uint8Array; prefix: number; value: MmdbValue };

const mapType = 7;
const stringType = 2;
const doubleType = 3;
const uint16Type = 5;
const uint32Type = 6;
const arrayType = 11;
const uint64Type = 9;
const booleanType = 14;

// The type takes three bits; a type above 7 takes a second byte. Sizes from 29 on take extra bytes too.
function control(type: number, size: number): Buffer {
  const [code, spill] = size < 29 ? [size, []] : size < 285 ? [29, [size - 29]] : [30, [(size - 285) >>> 8, (size - 285) & 255]];
  return type <= 7 ? Buffer.from([(type << 5) | code, ...spill]) : Buffer.from([code, type - 7, ...spill]);
}

function unsigned(type: number, value: number | bigint): Buffer {
  const digits = value === 0 ? "" : value.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  return Buffer.concat([control(type, bytes.length), bytes]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([control(stringType, bytes.length), bytes]);
}

function map(members: [string, Buffer][]): Buffer {
  return Buffer.concat([control(mapType, members.length), ...members.flatMap(([name, value]) => [text(name), value])]);
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === "string") return text(value);
  if (typeof value === "boolean") return control(booleanType, value ? 1 : 0);
  if (typeof value !== "number") return map(Object.entries(value).map(([name, member]) => [name, encode(member)]));
  if (Number.isInteger(value) && value >= 0) return unsigned(uint32Type, value);
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return Buffer.concat([control(doubleType, 8), bytes]);
}

// A child is a node's number, `~offset` of a value, or `nothing`.
const nothing = Number.MAX_SAFE_INTEGER;

class Tree {
  readonly children: [number, number][] = [[nothing, nothing]];

  insert({ address, prefix }: MmdbNetwork, offset: number): void {
    let node = 0;
    for (let depth = 0; depth < prefix; depth++) {
      const bit = ((address[depth >>> 3] ?? 0) >>> (7 - (depth & 7))) & 1;
      const pair = this.children[node];
      if (pair === undefined) throw new RangeError("The tree lost a node");
      if (depth === prefix - 1) {
        if (pair[bit] !== nothing) throw new RangeError("Two networks overlap");
        pair[bit] = ~offset;
        return;
      }
      const child = pair[bit] ?? nothing;
      if (child < 0) throw new RangeError("Two networks overlap");
      node = child === nothing ? this.children.push([nothing, nothing]) - 1 : child;
      pair[bit] = node;
    }
  }

  write(): Buffer {
    const count = this.children.length;
    const bytes = Buffer.alloc(count * 8);
    for (const [index, pair] of this.children.entries()) {
      for (const [side, child] of pair.entries()) {
        const record = child === nothing ? count : child < 0 ? count + 16 + ~child : child;
        bytes.writeUInt32BE(record, index * 8 + side * 4);
      }
    }
    return bytes;
  }
}

export function writeMmdb(type: string, networks: Iterable<MmdbNetwork>, builtMs: number): Buffer {
  const tree = new Tree();
  const offsets = new Map<string, number>();
  const values: Buffer[] = [];
  let length = 0;
  for (const network of networks) {
    const key = JSON.stringify(network.value);
    let offset = offsets.get(key);
    if (offset === undefined) {
      const bytes = encode(network.value);
      offset = length;
      offsets.set(key, offset);
      values.push(bytes);
      length += bytes.length;
    }
    tree.insert(network, offset);
  }
  const english = Buffer.concat([control(arrayType, 1), text("en")]);
  const metadata = map([
    ["binary_format_major_version", unsigned(uint16Type, 2)],
    ["binary_format_minor_version", unsigned(uint16Type, 0)],
    ["build_epoch", unsigned(uint64Type, BigInt(Math.floor(builtMs / 1000)))],
    ["database_type", text(type)],
    ["description", map([["en", text("A simulated internet")]])],
    ["ip_version", unsigned(uint16Type, 6)],
    ["languages", english],
    ["node_count", unsigned(uint32Type, tree.children.length)],
    ["record_size", unsigned(uint16Type, 32)],
  ]);
  const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from("MaxMind.com")]);
  return Buffer.concat([tree.write(), Buffer.alloc(16), ...values, marker, metadata]);
}

function* networksOf(network: Network, valueOf: (site: Site) => MmdbValue): Generator<MmdbNetwork> {
  for (const site of network.sites) {
    const v4 = new Uint8Array(16);
    new DataView(v4.buffer).setUint32(12, site.start);
    const value = valueOf(site);
    yield { address: v4, prefix: 128 - Math.log2(site.size), value };
    if (!site.carrier.hasV6) continue;
    const v6 = new Uint8Array(16);
    const view = new DataView(v6.buffer);
    view.setUint16(0, 0x3fff);
    view.setUint16(2, site.carrier.index);
    view.setUint16(4, site.slot << 12);
    yield { address: v6, prefix: 36, value };
  }
}

const countryOf = ({ carrier }: Site): MmdbValue => ({ iso_code: carrier.country.code });

// The three usual files of address data: by country, by network, by place.
export function networkDatabases(network: Network, builtMs: number): { country: Buffer; asn: Buffer; city: Buffer } {
  const country = networksOf(network, (site) => ({ country: countryOf(site), registered_country: countryOf(site) }));
  const asn = networksOf(network, ({ carrier }) => ({
    autonomous_system_number: carrier.asn,
    autonomous_system_organization: carrier.name,
  }));
  const city = networksOf(network, (site) => ({
    city: { names: { en: site.city.name } },
    country: countryOf(site),
    location: {
      latitude: site.city.latitude,
      longitude: site.city.longitude,
      time_zone: site.carrier.country.zone,
    },
  }));
  return {
    country: writeMmdb("Simulated-Country", country, builtMs),
    asn: writeMmdb("Simulated-ASN", asn, builtMs),
    city: writeMmdb("Simulated-City", city, builtMs),
  };
}
