import { headlessUserAgent, scriptUserAgent } from "./agents.ts";
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
import type { Device } from "./device.ts";
import { buy, cents } from "./errands.ts";
import { itemPage, items, pages } from "./pages.ts";
import { newAccount, type Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Shop } from "./shop.ts";
import { humanRhythm, machineRhythm, Visit } from "./visit.ts";
import { connect } from "./whereabouts.ts";

// Visits page after page, like a program that collects prices.
export function crawl(visit: Visit, events: number): void {
  for (let n = 0; n < events; n += 3) {
    const item = items[(n / 3) % items.length] ?? visit.random.pick(items);
    visit.to(itemPage(item)).act("view_item", 0, {}, [item]).act("check_stock", 0, { item_id: item.id });
  }
}

// Reloads one page over and over, like a program that waits for something scarce.
function watch(visit: Visit, events: number): void {
  const item = visit.random.pick(items);
  visit.to(itemPage(item)).act("view_item", 0, {}, [item]);
  for (let n = 0; n < events; n++) visit.act("check_stock", 0, { item_id: item.id });
  visit.act("add_to_cart", 0, { _value: item.price, _currency: "EUR" }, [item]).to(pages.checkout);
}

type Machine = { device: Device; ip: string };

function strangersMachine(shop: Shop, random: Random, hosting: number, nowMs: number): Machine {
  const country = attackerCountry(random);
  const device = attackerDevice(random, country, nowMs);
  const { network } = shop;
  return {
    device,
    ip: random.chance(hosting) ? hostingAddress(random, network, country) : proxyAddress(random, network, country),
  };
}

// The owner runs the bot at home, in the installed browser, with a separate profile.
function ownersMachine(shop: Shop, random: Random, owner: Person, nowMs: number): Machine {
  const own = owner.devices.find(({ kind }) => kind === "desktop") ?? random.pick(owner.devices);
  const device = { ...attackerDevice(random, owner.country, nowMs, own.agent), locale: own.locale };
  return { device, ip: connect(owner, device, shop.network, nowMs).ip };
}

export const runScript: AttackScript = function* (shop, attack, startMs) {
  yield startMs;
  const { random, kind, id } = attack;
  const { events, gapMs, jitter, ownersOwn, hosting, watches } = attackParameters.scripted_bot;
  const owner = shop.member(random, startMs, attack.loginsMin);
  if (owner === null) return;
  const isOwners = random.chance(ownersOwn);
  const machine = isOwners ? ownersMachine(shop, random, owner, startMs) : strangersMachine(shop, random, hosting, startMs);
  const rhythm = machineRhythm(random, { meanMs: draw(random, gapMs) / attack.haste, jitter: draw(random, jitter) });
  const { zoneMinutes } = machine.device;
  const truth = { kind, attack_id: id };
  const visit = new Visit(shop, { random, ...machine, zoneMinutes, account: owner.account, rhythm, scrolls: 0, truth }, startMs);
  visit.to(pages.login).logIn();
  if (attack.isShow || random.chance(watches)) watch(visit, attack.isShow ? 45 : drawWhole(random, events));
  else crawl(visit, drawWhole(random, events));
  visit.end();
};

export const runHeadless: AttackScript = function* (shop, attack, startMs) {
  yield startMs;
  const { random, kind, id } = attack;
  const { events, gapMs, jitter, runsSdk, hosting } = attackParameters.headless_bot;
  const owner = shop.member(random, startMs, attack.loginsMin);
  if (owner === null) return;
  const hasBrowser = random.chance(runsSdk);
  const userAgent = hasBrowser ? headlessUserAgent(startMs) : scriptUserAgent(random);
  const machine = strangersMachine(shop, random, hosting, startMs);
  // A headless browser's screen equals its window.
  const screen: [number, number] = [1280, 720];
  const agent = { ...machine.device.agent, screen, viewport: screen };
  const rhythm = machineRhythm(random, { meanMs: draw(random, gapMs) / attack.haste, jitter: draw(random, jitter) });
  const device = { ...machine.device, agent, locale: "en-US", zoneMinutes: 0 };
  const truth = { kind, attack_id: id };
  const visitor = {
    random,
    device,
    ip: machine.ip,
    zoneMinutes: 0,
    account: owner.account,
    rhythm,
    userAgent,
    hasBrowser,
    scrolls: 0,
    truth,
  };
  const visit = new Visit(shop, visitor, startMs).to(pages.login).logIn();
  const steps = drawWhole(random, events);
  if (hasBrowser) crawl(visit, steps);
  else
    for (let n = 0; n < steps; n++)
      visit.pause(0).report("page_view", { path: itemPage(items[n % items.length] ?? random.pick(items)).path });
  visit.end();
};

// Signs up accounts by the dozen, to collect what the shop gives to new customers.
export const farmSignUps: AttackScript = function* (shop, attack, startMs) {
  const { random, haste, isShow } = attack;
  const parameters = attackParameters.signup_farm;
  const isOneDevice = random.chance(parameters.oneDevice) || isShow;
  const machine = strangersMachine(shop, random, 0.5, startMs);
  const addresses = [machine.ip, ...(isOneDevice ? [strangersMachine(shop, random, 0.5, startMs).ip] : [])];
  const signUps = isShow ? 14 : drawWhole(random, parameters.signups);
  const meanGapMs = (1000 * draw(random, parameters.gapSeconds)) / haste;
  const hasBrowser = random.chance(parameters.hasBrowser) || isShow;
  let atMs = startMs;
  for (let n = 0; n < signUps; n++) {
    yield atMs;
    const device = { ...machine.device, isPrivate: !isOneDevice };
    const ended = signUpOne(shop, attack, { device, ip: random.pick(addresses) }, hasBrowser, atMs);
    machine.device.storage = device.storage;
    atMs = Math.max(ended, atMs + random.exponential(meanGapMs));
  }
};

function signUpOne(shop: Shop, attack: Attack, machine: Machine, hasBrowser: boolean, nowMs: number): number {
  const { random, kind, id, haste } = attack;
  const { disposable, redeems, buys } = attackParameters.signup_farm;
  const account = newAccount(random, random.chance(disposable) ? "disposable" : "ordinary");
  const rhythm = humanRhythm(random, { sigma: 0.5, speed: 4 * haste });
  const { zoneMinutes } = machine.device;
  const truth = { kind, attack_id: id };
  const visit = new Visit(shop, { random, ...machine, zoneMinutes, account, rhythm, hasBrowser, scrolls: 0.05, truth }, nowMs);
  visit.to(pages.signUp).signUp();
  if (random.chance(redeems)) visit.pause(8000).report("custom:coupon_redeemed", { code: "WELCOME10" });
  if (random.chance(buys)) buy(visit, cents(random.logNormal(30, 0.4)), "EUR");
  return visit.logOut().end();
}
