import { countries, type City, type Country } from "./countries.ts";
import type { Random } from "./random.ts";

// A made-up internet. Its IPv4 addresses are in 240.0.0.0/4, which nobody may use. Its IPv6 addresses are in the documentation
// prefix 3fff::/20, and its networks have private-use numbers. So nothing in it belongs to anybody.
export type NetworkKind = "home" | "mobile" | "office" | "hosting";

export type Site = {
  carrier: Carrier;
  city: City;
  // The first IPv4 address, and the number of addresses, which is a power of two.
  start: number;
  size: number;
  // The position in the carrier's IPv6 prefix, if the carrier has one.
  slot: number;
};

export type Carrier = {
  index: number;
  asn: number;
  name: string;
  kind: NetworkKind;
  country: Country;
  // The mean number of days that a home keeps its IPv4 address.
  leaseDays: number;
  hasV6: boolean;
  sites: Site[];
};

// Mobile carriers route a whole country through two gateways with few addresses. So many people share one address, and its known
// location is the gateway's.
const shapes: { kind: NetworkKind; count: number; prefix: number; citiesMax: number; names: string[] }[] = [
  { kind: "home", count: 3, prefix: 17, citiesMax: 4, names: ["Cable", "Fiber", "DSL"] },
  { kind: "mobile", count: 2, prefix: 22, citiesMax: 2, names: ["Mobile", "Wireless"] },
  { kind: "office", count: 1, prefix: 20, citiesMax: 4, names: ["Business"] },
  { kind: "hosting", count: 2, prefix: 20, citiesMax: 1, names: ["Cloud", "Hosting"] },
];

const leases = [1, 12, 90];
const firstAddress = 0xf0000000;
const firstAsn = 4_200_000_000;

export class Network {
  readonly carriers: Carrier[] = [];
  readonly sites: Site[] = [];
  readonly #byKind = new Map<string, Carrier[]>();

  constructor() {
    let next = firstAddress;
    // Allocating the largest blocks first keeps every block aligned to its size.
    for (const { kind, count, prefix, citiesMax, names } of shapes.toSorted((a, b) => a.prefix - b.prefix)) {
      const size = 2 ** (32 - prefix);
      for (const country of countries) {
        for (let n = 0; n < count; n++) {
          const index = this.carriers.length;
          const carrier: Carrier = {
            index,
            asn: firstAsn + index,
            name: `${names[n] ?? kind} ${country.code} (simulated)`,
            kind,
            country,
            leaseDays: leases[n % leases.length] ?? 1,
            hasV6: (kind === "home" && n !== 0) || (kind === "mobile" && n === 1) || (kind === "hosting" && n === 0),
            sites: [],
          };
          for (const [slot, city] of country.cities.slice(0, citiesMax).entries()) {
            carrier.sites.push({ carrier, city, start: next, size, slot });
            next += size;
          }
          this.carriers.push(carrier);
          this.sites.push(...carrier.sites);
          const key = `${country.code}/${kind}`;
          this.#byKind.set(key, [...(this.#byKind.get(key) ?? []), carrier]);
        }
      }
    }
  }

  carriersOf(country: Country, kind: NetworkKind): Carrier[] {
    return this.#byKind.get(`${country.code}/${kind}`) ?? [];
  }

  // The site that announces this address, or null if the address is not part of the simulation.
  locate(address: string): Site | null {
    if (address.includes(":")) return this.#locateV6(address);
    const number = address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
    let [low, high] = [0, this.sites.length - 1];
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const site = this.sites[middle];
      if (site === undefined || number < site.start) high = middle - 1;
      else if (number >= site.start + site.size) low = middle + 1;
      else return site;
    }
    return null;
  }

  #locateV6(address: string): Site | null {
    const [first, second, third] = address.split(":", 3).map((part) => Number.parseInt(part, 16));
    if (first !== 0x3fff) return null;
    const carrier = this.carriers[second ?? -1];
    if (carrier === undefined || !carrier.hasV6) return null;
    return carrier.sites[(third ?? 0) >>> 12] ?? null;
  }
}

export function addressV4(site: Site, host: number): string {
  const number = site.start + (host % site.size);
  return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
}

// A line is a household's /56, and the last 64 bits belong to the device. Only the fourth group can be zero, so the text is in
// canonical form.
export function addressV6(site: Site, line: number, machine: number): string {
  const upper = (site.slot << 12) | ((line >>> 8) & 0xfff);
  const other = Math.imul(machine ^ 0x5bd1e995, 0x27d4eb2d) >>> 0;
  const groups = [0x3fff, site.carrier.index, upper, (line & 0xff) << 8, (machine >>> 16) | 1, (machine & 0xffff) | 2];
  return [...groups, (other >>> 16) | 4, (other & 0xffff) | 8].map((group) => group.toString(16)).join(":");
}

export function pickSite(random: Random, carriers: readonly Carrier[]): Site {
  return random.pickWeighted(random.pick(carriers).sites, ({ city }) => city.weight);
}
