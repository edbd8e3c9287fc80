import { countries } from "./countries.ts";
import { newDevice, replaceDevice, type Device } from "./device.ts";
import { browse, buy, cents, changeSecurity, passLogIn, payOut, usualAmount } from "./errands.ts";
import { addressV4, addressV6, pickSite } from "./network.ts";
import { itemPage, items, pages } from "./pages.ts";
import type { Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Actor, Shop } from "./shop.ts";
import { humanRhythm, Visit, type Visitor } from "./visit.ts";
import { connect, travel, wakefulness } from "./whereabouts.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

// What a person does in one visit, and how often.
const errandShares = {
  staysGuest: 0.12,
  changesSecurity: 0.006,
  sellerPaysOut: 0.12,
  newPayee: 0.05,
  comesBackSoon: 0.22,
};

export type LifeOptions = { fromMs: number; toMs: number; haste: number; hasNights: boolean };

// One person's visits to the shop, from joining on.
export function* live(shop: Shop, person: Person, { fromMs, toMs, haste, hasNights }: LifeOptions): Actor {
  const { random, habits } = person;
  let atMs = Math.max(fromMs, person.joinsMs);
  if (atMs > fromMs && atMs < toMs) {
    yield atMs;
    atMs = join(shop, person, atMs);
  }
  const meanMs = dayMs / (habits.visitsPerDay * haste);
  let comesBack = false;
  for (;;) {
    atMs += comesBack ? random.logNormal(70 * minuteMs, 1) : random.exponential(meanMs * (hasNights ? 0.5 : 1));
    const { silence } = person;
    if (silence !== null && atMs >= silence.fromMs && atMs < silence.toMs) atMs = silence.toMs + random.exponential(dayMs);
    if (atMs >= toMs) return;
    // Half of the drawn times fall into hours when this person sleeps or works.
    if (hasNights && !comesBack && !random.chance(wakefulness(person, atMs))) continue;
    yield atMs;
    const freeMs = travel(person, shop.network, atMs);
    if (freeMs > atMs) {
      atMs = freeMs;
      comesBack = true;
      continue;
    }
    atMs = visitShop(shop, person, atMs);
    comesBack = !comesBack && random.chance(errandShares.comesBackSoon);
  }
}

function chooseDevice(person: Person, nowMs: number): Device {
  const { random, habits, devices } = person;
  const wantsPhone = random.chance(habits.prefersPhone);
  const preferred = devices.filter(({ kind }) => (kind === "phone") === wantsPhone);
  const device = random.pick(preferred.length > 0 ? preferred : devices);
  if (nowMs >= device.replacedMs) replaceDevice(device, random, nowMs);
  return device;
}

export function visitorOf(shop: Shop, person: Person, nowMs: number): Visitor {
  const { random, account, library, habits } = person;
  const rhythm = humanRhythm(random, habits.rhythm);
  const truth = { kind: "genuine" } as const;
  if (library?.device && random.chance(0.5)) {
    const { device, site, host } = library;
    return { random, device, ip: addressV4(site, host), zoneMinutes: device.zoneMinutes, account, rhythm, truth };
  }
  const device = chooseDevice(person, nowMs);
  return { random, device, ...connect(person, device, shop.network, nowMs), account, rhythm, truth };
}

function join(shop: Shop, person: Person, nowMs: number): number {
  const visit = new Visit(shop, visitorOf(shop, person, nowMs), nowMs).to(pages.home);
  browse(visit, visit.random.whole(0, 6));
  visit.to(pages.signUp).signUp();
  browse(visit, visit.random.whole(1, 5));
  if (visit.random.chance(0.4)) buy(visit, usualAmount(visit.random, person.habits), person.country.currency);
  return visit.end();
}

export function visitShop(shop: Shop, person: Person, nowMs: number): number {
  const { random, habits, country } = person;
  const visit = new Visit(shop, visitorOf(shop, person, nowMs), nowMs);
  const isRemembered = visit.isKnown && !person.isLockedOut && random.chance(habits.staysLoggedIn);
  if (isRemembered) visit.stayLoggedIn();
  if (!isRemembered && random.chance(errandShares.staysGuest)) return stroll(visit);
  visit.to(random.chance(0.6) ? pages.home : itemPage(random.pick(items)));
  if (!isRemembered && random.chance(0.4)) browse(visit, random.whole(1, 5));
  if (!isRemembered && !passLogIn(visit, person)) return visit.end();
  browse(visit, Math.min(40, Math.round(random.logNormal(4, 0.8))));
  if (random.chance(errandShares.changesSecurity)) changeSecurity(visit);
  if (habits.sells && random.chance(errandShares.sellerPaysOut)) {
    const amount = cents(random.logNormal(habits.amountMedian * 4, 0.6));
    payOut(visit, amount, country.currency, random.chance(errandShares.newPayee));
  }
  if (random.chance(habits.buys)) buy(visit, usualAmount(random, habits), country.currency);
  else if (random.chance(0.15)) visit.to(pages.account).to(pages.orders);
  if (random.chance(habits.logsOut)) visit.logOut();
  return visit.end();
}

function stroll(visit: Visit): number {
  visit.to(visit.random.chance(0.4) ? pages.home : itemPage(visit.random.pick(items)));
  browse(visit, Math.min(30, Math.round(visit.random.logNormal(2.5, 0.9))));
  return visit.end();
}

// Strangers who look around and now and then buy without an account. None of them returns.
export function* guests(shop: Shop, random: Random, options: { fromMs: number; toMs: number; meanGapMs: number }): Actor {
  let atMs = options.fromMs;
  for (let number = 0; ; number++) {
    atMs += random.exponential(options.meanGapMs);
    if (atMs >= options.toMs) return;
    yield atMs;
    const visit = new Visit(shop, newGuest(shop, random, number, atMs), atMs);
    if (random.chance(0.05)) {
      visit.to(pages.home);
      buy(visit, cents(random.logNormal(48, 0.8)), "EUR");
      visit.end();
    } else stroll(visit);
  }
}

function newGuest(shop: Shop, random: Random, number: number, nowMs: number): Visitor {
  const country = random.pickWeighted(countries, ({ customers }) => customers + 0.3);
  const device = newDevice(random, { number, kind: random.chance(0.6) ? "phone" : "desktop", country, nowMs });
  const site = pickSite(
    random,
    shop.network.carriersOf(country, device.kind === "phone" && random.chance(0.5) ? "mobile" : "home"),
  );
  const ip = site.carrier.hasV6 ? addressV6(site, random.word(), random.word()) : addressV4(site, random.word());
  const rhythm = humanRhythm(random, { sigma: random.between(0.5, 1.1), speed: random.logNormal(1, 0.3) });
  return { random, device, ip, zoneMinutes: country.zoneMinutes, account: null, rhythm, truth: { kind: "genuine" } };
}
