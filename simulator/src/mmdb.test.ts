import { Reader, type Response } from "mmdb-lib";
import { expect, test } from "vitest";
import { networkDatabases, writeMmdb } from "./mmdb.ts";
import { addressV4, addressV6, Network } from "./network.ts";
import { Random } from "./random.ts";

type Country = Response & { country: { iso_code: string } };
type Asn = Response & { autonomous_system_number: number; autonomous_system_organization: string };
type City = Country & { city: { names: { en: string } }; location: { latitude: number; longitude: number; time_zone: string } };

const builtMs = Date.UTC(2026, 10, 1);
const network = new Network();
const { country, asn, city } = networkDatabases(network, builtMs);
const countries = new Reader<Country>(country);
const networks = new Reader<Asn>(asn);
const cities = new Reader<City>(city);

test("mmdb: thousands of addresses of every site resolve to its country, network and place", () => {
  const random = new Random("mmdb");
  for (const site of network.sites) {
    const hosts = [0, site.size - 1, ...Array.from({ length: 6 }, () => random.word())];
    const addresses = hosts.map((host) => addressV4(site, host));
    if (site.carrier.hasV6) addresses.push(...hosts.map((line) => addressV6(site, line, random.word())));
    for (const address of addresses) {
      expect(network.locate(address), address).toBe(site);
      expect(countries.get(address)?.country.iso_code, address).toBe(site.carrier.country.code);
      expect(networks.get(address)?.autonomous_system_number, address).toBe(site.carrier.asn);
      expect(networks.get(address)?.autonomous_system_organization, address).toBe(site.carrier.name);
      expect(cities.get(address), address).toMatchObject({
        city: { names: { en: site.city.name } },
        location: { latitude: site.city.latitude, longitude: site.city.longitude, time_zone: site.carrier.country.zone },
      });
    }
  }
});

test("mmdb: addresses of the real internet and unassigned ones are not found", () => {
  const random = new Random("outside");
  const real = Array.from({ length: 2000 }, () => [1, 2, 3, 4].map(() => random.whole(1, 223)).join("."));
  for (const address of [...real, "255.255.255.255", "::1", "2001:db8::1", "3fff:fff::1", "127.0.0.1"]) {
    expect(networks.get(address), address).toBeNull();
    expect(network.locate(address), address).toBeNull();
  }
});

test("mmdb: the file states its build time and type", () => {
  expect(cities.metadata).toMatchObject({ ipVersion: 6, databaseType: "Simulated-City", recordSize: 32, languages: ["en"] });
  expect(cities.metadata.buildEpoch.getTime()).toBe(builtMs);
});

test("mmdb: long texts, flags, and empty and negative values survive a round trip", () => {
  const value = {
    text: "x".repeat(28),
    longer: "ü".repeat(100),
    longest: "z".repeat(3000),
    yes: true,
    no: false,
    zero: 0,
    below: -12.5,
    most: 4_294_967_295,
    inner: {},
  };
  const address = new Uint8Array(16);
  address[0] = 0x20;
  const file = writeMmdb("Test", [{ address, prefix: 3, value }], builtMs);
  expect(new Reader<Response>(file).get("2001::")).toEqual(value);
  expect(new Reader<Response>(file).get("4001::")).toBeNull();
});

test("mmdb: overlapping networks are rejected", () => {
  const wide = { address: new Uint8Array(16), prefix: 8, value: "wide" };
  const narrow = { address: new Uint8Array(16), prefix: 16, value: "narrow" };
  expect(() => writeMmdb("Test", [wide, narrow], builtMs)).toThrow("overlap");
  expect(() => writeMmdb("Test", [narrow, wide], builtMs)).toThrow("overlap");
});
