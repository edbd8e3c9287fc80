import { scriptUserAgent, userAgentAt } from "./agents.ts";
import {
  attackerCountry,
  attackerDevice,
  attackParameters,
  draw,
  drawWhole,
  hostingAddress,
  proxyAddress,
  type Attack,
  type AttackScript,
} from "./attack.ts";
import { countries } from "./countries.ts";
import type { Device } from "./device.ts";
import { addressV4, pickSite } from "./network.ts";
import { pages } from "./pages.ts";
import type { Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Shop } from "./shop.ts";
import { machineRhythm, Visit } from "./visit.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type Try = {
  victim: Person | null;
  device: Device;
  ip: string;
  userAgent?: string;
  hasBrowser: boolean;
  isRight: boolean;
  looksAround: boolean;
};

// Tries one name and password. If they are right, some look around inside.
function tryOne(shop: Shop, { random, kind, id }: Attack, attempt: Try, nowMs: number): number {
  const { victim, device, ip, userAgent, hasBrowser, isRight, looksAround } = attempt;
  const visitor = {
    random,
    device,
    ip,
    zoneMinutes: device.zoneMinutes,
    account: victim?.account ?? null,
    rhythm: machineRhythm(random, { meanMs: 120, jitter: 0.3 }),
    ...(userAgent === undefined ? {} : { userAgent }),
    hasBrowser,
    scrolls: 0,
    truth: { kind, attack_id: id },
  };
  const visit = new Visit(shop, visitor, nowMs).to(pages.login);
  if (!isRight || victim === null) return visit.failLogIn().end();
  visit.logIn();
  if (looksAround) visit.to(pages.account).to(pages.orders);
  return visit.end();
}

function knownOrNot(shop: Shop, attack: Attack, unknownNames: number, nowMs: number): Person | null {
  return attack.random.chance(unknownNames) ? null : shop.member(attack.random, nowMs);
}

// As many tries as the log-in form allows, as fast as it allows, from one device or one address.
export const stuffInBurst: AttackScript = function* (shop, attack, startMs) {
  const { random, haste, isShow } = attack;
  const parameters = attackParameters.stuffing_burst;
  const country = attackerCountry(random);
  const device = attackerDevice(random, country, startMs);
  const isOneDevice = random.chance(parameters.oneDevice) || isShow;
  const addresses = Array.from({ length: isOneDevice ? random.whole(1, 4) : 1 }, () =>
    hostingAddress(random, shop.network, country),
  );
  const userAgent = !isOneDevice && random.chance(parameters.scriptAgent) ? scriptUserAgent(random) : undefined;
  const tries = isShow ? 40 : drawWhole(random, parameters.tries);
  const success = draw(random, parameters.success);
  const gapMs = (1000 * draw(random, parameters.gapSeconds)) / haste;
  let atMs = startMs;
  for (let n = 0; n < tries; n++) {
    yield atMs;
    const attempt = {
      victim: knownOrNot(shop, attack, parameters.unknownNames, atMs),
      device,
      ip: random.pick(addresses),
      ...(userAgent === undefined ? {} : { userAgent }),
      hasBrowser: isOneDevice,
      isRight: random.chance(success),
      looksAround: random.chance(parameters.looksAround),
    };
    atMs = Math.max(tryOne(shop, attack, attempt, atMs), atMs + gapMs * random.between(0.7, 1.3));
  }
};

// A new connection from a rented pool for every few tries, over days, with a handful of user agents.
export const stuffSlowly: AttackScript = function* (shop, attack, startMs) {
  const { random } = attack;
  const parameters = attackParameters.stuffing_slow;
  const tries = drawWhole(random, parameters.tries);
  const success = draw(random, parameters.success);
  const meanGapMs = (draw(random, parameters.days) * dayMs) / (tries * attack.haste);
  const pool = rentedPool(shop, random);
  const devices = Array.from({ length: drawWhole(random, parameters.agents) }, () =>
    attackerDevice(random, random.pick(countries), startMs),
  );
  let atMs = startMs;
  let ip = "";
  for (let n = 0, left = 0; n < tries; n++, left--) {
    yield atMs;
    if (left === 0) {
      left = drawWhole(random, parameters.triesPerAddress);
      ip = pool();
    }
    const device = random.pick(devices);
    const victim = knownOrNot(shop, attack, parameters.unknownNames, atMs);
    tryOne(shop, attack, { victim, device, ip, hasBrowser: false, isRight: random.chance(success), looksAround: false }, atMs);
    atMs += random.exponential(meanGapMs);
  }
};

function rentedPool(shop: Shop, random: Random): () => string {
  const isWorldwide = random.chance(0.5);
  const chosen = random.pickWeighted(countries, ({ customers }) => customers);
  return () => proxyAddress(random, shop.network, isWorldwide ? attackerCountry(random) : chosen);
}

// A few common passwords against everybody, from the rotating addresses of one network.
export const spray: AttackScript = function* (shop, attack, startMs) {
  const { random } = attack;
  const parameters = attackParameters.spraying;
  const rounds = drawWhole(random, parameters.triesPerAccount);
  const success = draw(random, parameters.success);
  const wanted = Math.min(drawWhole(random, parameters.accounts), shop.people.length);
  const victims = new Set<Person>();
  for (let n = 0; n < 4 * wanted && victims.size < wanted; n++) {
    const victim = shop.member(random, startMs);
    if (victim !== null) victims.add(victim);
  }
  const meanGapMs = (draw(random, parameters.hours) * hourMs) / (Math.max(1, victims.size * rounds) * attack.haste);
  const country = attackerCountry(random);
  const site = pickSite(random, shop.network.carriersOf(country, "hosting"));
  const device = attackerDevice(random, country, startMs);
  const userAgent = userAgentAt(device.agent, startMs);
  let atMs = startMs;
  for (let round = 0; round < rounds; round++) {
    for (const victim of victims) {
      yield atMs;
      const ip = addressV4(site, random.word());
      const isRight = random.chance(success);
      if (isRight) victims.delete(victim);
      tryOne(shop, attack, { victim, device, ip, userAgent, hasBrowser: false, isRight, looksAround: random.chance(0.5) }, atMs);
      atMs += random.exponential(meanGapMs);
    }
  }
};
