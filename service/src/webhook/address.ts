// Decides which addresses a webhook message may be sent to. A tenant must not reach internal addresses through the service.
import type { LookupAddress, LookupOptions } from "node:dns";
import { Resolver } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

// IANA's registries of special-purpose addresses, and Azure's wire server, which serves secrets to virtual machines at a public
// address. There are two lists, because a single list would also match an IPv4 address in its IPv6 notation.
const closed = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const)
  closed.ipv4.addSubnet(network, bits, "ipv4");
// Everything outside the global unicast range, and the special-purpose blocks within it.
for (const [network, bits] of [
  ["::", 3],
  ["4000::", 2],
  ["8000::", 1],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
] as const)
  closed.ipv6.addSubnet(network, bits, "ipv6");

export class PrivateAddress extends Error {
  override readonly name = "PrivateAddress";

  constructor(address: string) {
    super(`${address} is a private address, which is not allowed`);
  }
}

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

export function isPrivate(address: string): boolean {
  const plain = mapped.exec(address)?.[1] ?? address;
  const family = ({ 4: "ipv4", 6: "ipv6" } as const)[isIP(plain)];
  return family === undefined || closed[family].check(plain, family);
}

// Judges the host without a DNS lookup. A name may still resolve to a private address.
export function isPrivateHost(url: string): boolean {
  const host = (URL.parse(url)?.hostname ?? "").replace(/^\[|\]$|\.$/g, "");
  return host === "localhost" || host.endsWith(".localhost") || (isIP(host) !== 0 && isPrivate(host));
}

// The system's own lookup is not used. It has two threads for the whole process, so one tenant's unresponsive name servers would
// block lookups for everyone, including the database's. `servers` defaults to the machine's name servers.
async function addressesOf(hostname: string, servers?: string[]): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [
    ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length === 0 && four.status === "rejected") throw four.reason;
  return found;
}

async function publicAddressesOf(hostname: string, servers?: string[]): Promise<[LookupAddress, ...LookupAddress[]]> {
  if (isPrivateHost(`https://${hostname}/`)) throw new PrivateAddress(hostname);
  const [first, ...more] = await addressesOf(hostname, servers);
  if (!first) throw new Error(`${hostname} has no address`);
  const wrong = [first, ...more].find(({ address }) => isPrivate(address));
  if (wrong) throw new PrivateAddress(wrong.address);
  return [first, ...more];
}

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

// A lookup function for requests. The request connects to the addresses checked here, so a second DNS answer cannot redirect it.
export function publicLookup(hostname: string, options: LookupOptions & { servers?: string[] }, found: Found): void {
  publicAddressesOf(hostname, options.servers).then(
    ([first, ...more]) => (options.all === true ? found(null, [first, ...more]) : found(null, first.address, first.family)),
    (error: Error) => found(error, []),
  );
}
