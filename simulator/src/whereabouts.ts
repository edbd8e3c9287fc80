import { countries, distanceKm, type Country } from "./countries.ts";
import type { Device } from "./device.ts";
import { addressV4, addressV6, pickSite, type Network, type Site } from "./network.ts";
import type { Household, Person } from "./people.ts";
import { scramble } from "./random.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export type Connection = { ip: string; zoneMinutes: number };

// A phone on a mobile network shares an address with everybody else on that gateway.
const natAddresses = 24;
// Abroad, a phone's traffic mostly still leaves through its own carrier.
const roamsHome = 0.45;
export const popularAbroad: ReadonlySet<string> = new Set(["ES", "IT", "GR", "TR", "FR", "AT", "PT", "NL", "GB", "US", "TH"]);

function homeSite(household: Household, network: Network, nowMs: number): Site {
  const { random } = household;
  while (household.movesMs <= nowMs) {
    household.site = pickSite(random, network.carriersOf(household.country, "home"));
    household.city = household.site.city;
    household.line = random.word();
    household.movesMs += random.exponential(1200 * dayMs);
  }
  while (household.leaseEndsMs <= nowMs) {
    household.line = random.word();
    household.leaseEndsMs += Math.max(hourMs, random.exponential(household.site.carrier.leaseDays * dayMs));
  }
  return household.site;
}

// Devices change the last 64 bits of their IPv6 address every day.
function machineOf(device: Device, nowMs: number): number {
  return scramble(device.number, Math.floor(nowMs / dayMs));
}

function homeAddress({ household }: Person, device: Device, network: Network, nowMs: number): string {
  const site = homeSite(household, network, nowMs);
  return site.carrier.hasV6 ? addressV6(site, household.line, machineOf(device, nowMs)) : addressV4(site, household.line);
}

function mobileAddress({ mobile, random, household }: Person): string {
  const nearest = mobile.sites.toSorted((a, b) => distanceKm(a.city, household.city) - distanceKm(b.city, household.city));
  const gateway = (random.chance(0.85) ? nearest[0] : nearest.at(-1)) ?? random.pick(mobile.sites);
  if (mobile.hasV6) return addressV6(gateway, random.word(), random.word());
  return addressV4(gateway, random.whole(0, natAddresses - 1) * 37);
}

function vpnAddress({ random, country }: Person, network: Network): string {
  const exit = random.chance(0.65) ? country : random.pick(countries);
  // A provider has few exits, which all of its customers share.
  return addressV4(pickSite(random, network.carriersOf(exit, "hosting")), 4000 + random.whole(0, 11));
}

function isWorkingHour({ country }: Person, nowMs: number): boolean {
  const local = nowMs + country.zoneMinutes * 60_000;
  const day = (Math.floor(local / dayMs) + 4) % 7;
  const hour = (local / hourMs) % 24;
  return day >= 1 && day <= 5 && hour >= 8.5 && hour < 17.5;
}

export function connect(person: Person, device: Device, network: Network, nowMs: number): Connection {
  const { random, country, office, habits, trip } = person;
  const at = (ip: string, where: Country = country): Connection => ({
    ip,
    zoneMinutes: device.kind === "desktop" ? device.zoneMinutes : where.zoneMinutes,
  });
  if (person.onlyAddress !== undefined) return at(person.onlyAddress);
  if (random.chance(habits.usesVpn)) return at(vpnAddress(person, network));
  if (trip !== null && nowMs >= trip.arrivesMs && nowMs < trip.returnsMs) {
    const abroad = trip.site.carrier.country;
    const isRoaming = device.kind === "phone" && random.chance(roamsHome);
    return at(isRoaming ? mobileAddress(person) : addressV4(trip.site, trip.host), abroad);
  }
  const isAtWork = office !== null && isWorkingHour(person, nowMs) && random.chance(0.7);
  if (device.kind === "phone" && random.chance(isAtWork ? 0.5 : 0.3)) return at(mobileAddress(person));
  if (isAtWork) return at(addressV4(office.site, office.host));
  return at(homeAddress(person, device, network, nowMs));
}

// Advances the person's travels to this time. People in transit do not shop, so it returns when they can shop again.
export function travel(person: Person, network: Network, nowMs: number): number {
  const { random, household } = person;
  if (person.trip !== null && nowMs >= person.trip.homeMs) {
    person.trip = null;
    person.nextTripMs = nowMs + random.exponential(73 * dayMs);
  }
  if (person.trip === null && nowMs >= person.nextTripMs) {
    const isAbroad = random.chance(0.6);
    const popular = countries.filter(({ code }) => code !== person.country.code && popularAbroad.has(code));
    const country = !isAbroad ? person.country : random.chance(0.9) ? random.pick(popular) : random.pick(countries);
    // Hotels and friends have ordinary connections.
    const site = pickSite(random, network.carriersOf(country, random.chance(0.6) ? "home" : "office"));
    const awayMs = (isAbroad ? random.between(3, 15) : random.between(1, 4)) * dayMs;
    const wayMs = 1.5 * hourMs + (distanceKm(household.city, site.city) / random.between(90, 650)) * hourMs;
    const arrivesMs = nowMs + wayMs;
    const returnsMs = arrivesMs + awayMs;
    person.trip = { leavesMs: nowMs, arrivesMs, returnsMs, homeMs: returnsMs + wayMs, site, host: random.word() };
  }
  const { trip } = person;
  if (trip === null) return nowMs;
  if (nowMs >= trip.leavesMs && nowMs < trip.arrivesMs) return trip.arrivesMs;
  if (nowMs >= trip.returnsMs && nowMs < trip.homeMs) return trip.homeMs;
  return nowMs;
}

// How likely a person is to shop at each hour of the day, relative to the best hour.
const dayCurve = [
  0.12, 0.05, 0.03, 0.02, 0.03, 0.06, 0.15, 0.3, 0.42, 0.5, 0.55, 0.6, 0.72, 0.66, 0.58, 0.56, 0.6, 0.7, 0.82, 0.95, 1, 0.92, 0.6,
  0.3,
];

export function wakefulness({ country, habits, trip }: Person, atMs: number): number {
  const zone = trip === null ? country.zoneMinutes : trip.site.carrier.country.zoneMinutes;
  const hour = Math.floor((((atMs + zone * 60_000) / hourMs - habits.lateness) % 24) + 24) % 24;
  return dayCurve[hour] ?? 0;
}
