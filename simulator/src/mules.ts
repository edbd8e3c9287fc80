import {
  attackerCountry,
  attackerDevice,
  attackParameters,
  draw,
  drawWhole,
  proxyAddress,
  type Attack,
  type AttackScript,
} from "./attack.ts";
import { countries } from "./countries.ts";
import type { Device } from "./device.ts";
import { browse, cents, changeSecurity } from "./errands.ts";
import { pages } from "./pages.ts";
import { newPayee } from "./payments.ts";
import { newAccount, type Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Shop } from "./shop.ts";
import { disguises, thiefVisit } from "./takeover.ts";
import { humanRhythm, Visit, type Account } from "./visit.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type Loot = { payeeId: string; amount: number; currency: string; addsPayee: boolean };

// Transfers money to a payee, whom some first add to the account's payees.
export function transferTo(visit: Visit, { payeeId, amount, currency, addsPayee }: Loot): void {
  if (addsPayee)
    visit.to(pages.wallet, 5000).act("open_payees", 4000).pause(20_000).report("payee_added", {}, { payee_id: payeeId });
  visit.to(pages.wallet, 5000).act("open_transfer", 3000).pause(10_000);
  visit.report("transfer", { amount, currency }, { payee_id: payeeId });
}

export function lootOf(victim: Person, visit: Visit, { times, floor }: { times: number; floor: number }): number {
  return cents(Math.max(floor, victim.habits.amountMedian * visit.random.logNormal(times, 0.6)));
}

// Enters one account after another, and sends the money to the same few payees, who pass it on.
export const runMuleRing: AttackScript = function* (shop, attack, startMs) {
  const { random } = attack;
  const parameters = attackParameters.mule_ring;
  const mules = Array.from({ length: drawWhole(random, parameters.payees) }, () => newPayee(random));
  const victims = drawWhole(random, parameters.victims);
  const meanGapMs = (draw(random, parameters.days) * dayMs) / (victims * attack.haste);
  let atMs = startMs;
  for (let n = 0; n < victims; n++) {
    yield atMs;
    const victim = shop.member(random, atMs, attack.loginsMin);
    if (victim === null) return;
    const visit = enter(shop, attack, victim, random.pickShare(parameters.disguises), atMs);
    const amount = lootOf(victim, visit, { times: parameters.timesMedian, floor: parameters.amountFloor });
    const addsPayee = random.chance(parameters.addsPayee);
    transferTo(visit, { payeeId: random.pick(mules), amount, currency: victim.country.currency, addsPayee });
    atMs = Math.max(visit.end(), atMs + random.exponential(meanGapMs));
  }
};

function enter(shop: Shop, attack: Attack, victim: Person, disguise: string, nowMs: number): Visit {
  const dress = disguises[disguise];
  if (dress === undefined) throw new RangeError(`There is no disguise ${disguise}`);
  const visit = thiefVisit(shop, attack, victim, dress(shop, attack.random, victim, nowMs), nowMs);
  return visit.to(pages.login).logIn(6000).to(pages.account, 3000);
}

// Enters the account of a customer who has not visited for weeks, and who will not notice for a while.
export const takeOverSleeper: AttackScript = function* (shop, attack, startMs) {
  const { random } = attack;
  const parameters = attackParameters.dormant_takeover;
  const victim = putToSleep(shop, random, startMs);
  yield startMs;
  if (victim === null) return;
  const visit = enter(shop, attack, victim, random.pickShare(parameters.disguises), startMs);
  if (random.chance(parameters.changes)) changeSecurity(visit, random.pick(["email_changed", "password_changed"]));
  const amount = lootOf(victim, visit, { times: parameters.timesMedian, floor: parameters.amountFloor });
  transferTo(visit, { payeeId: newPayee(random), amount, currency: victim.country.currency, addsPayee: random.chance(0.5) });
  visit.end();
};

// A customer since before the simulation, who visits often and then stays away until after the attack.
function putToSleep(shop: Shop, random: Random, wokenMs: number): Person | null {
  const { quietDays, visitsPerDayMin } = attackParameters.dormant_takeover;
  const awake = shop.people.filter(
    ({ joinsMs, silence, habits }) => joinsMs < shop.startMs && silence === null && habits.visitsPerDay >= visitsPerDayMin,
  );
  if (awake.length === 0) return null;
  const victim = random.pick(awake);
  victim.isReserved = true;
  victim.silence = { fromMs: wokenMs - draw(random, quietDays) * dayMs, toMs: wokenMs + 30 * dayMs };
  return victim;
}

type Mule = { account: Account; device: Device; ip: string; currency: string };
type Step = { atMs: number; mule: Mule; act: "open" | "use" | "wake" };

// Accounts that were opened weeks ago and hardly used. Then all of them wake up, receive money and pay it out.
export const wakeMules: AttackScript = function* (shop, attack, startMs) {
  const { random } = attack;
  const { accounts, days, waveDays } = attackParameters.dormant_mule;
  const openMs = Math.max(shop.startMs + hourMs, startMs - draw(random, days) * dayMs);
  // In a short simulation they sleep for less.
  const openDays = Math.min(2, (startMs - openMs) / dayMs / 4);
  const waveMs = (draw(random, waveDays) * dayMs) / attack.haste;
  const steps = Array.from({ length: drawWhole(random, accounts) }).flatMap((): Step[] => {
    const mule = newMule(shop, attack, openMs);
    const openedMs = openMs + random.between(0, openDays) * dayMs;
    const usedMs = openedMs + random.between(0.2, 1) * openDays * dayMs;
    return [
      { atMs: openedMs, mule, act: "open" },
      { atMs: usedMs, mule, act: "use" },
      { atMs: startMs + random.unit() * waveMs, mule, act: "wake" },
    ];
  });
  for (const { atMs, mule, act } of steps.toSorted((a, b) => a.atMs - b.atMs)) {
    yield atMs;
    if (act === "wake") wake(shop, attack, mule, atMs);
    else prepare(shop, attack, mule, act, atMs);
  }
};

function newMule(shop: Shop, { random }: Attack, nowMs: number): Mule {
  const country = random.pickWeighted(countries, ({ customers }) => customers);
  const device = attackerDevice(random, country, nowMs);
  return {
    account: newAccount(random, "ordinary"),
    device,
    ip: proxyAddress(random, shop.network, country),
    currency: country.currency,
  };
}

function visitBy(shop: Shop, attack: Attack, mule: Mule, nowMs: number, isPrelude: boolean): Visit {
  const { random, kind, id, haste } = attack;
  const { account, device, ip } = mule;
  const rhythm = humanRhythm(random, { sigma: 0.7, speed: 1.5 * haste });
  const truth = { kind, attack_id: id };
  return new Visit(shop, { random, device, ip, zoneMinutes: device.zoneMinutes, account, rhythm, isPrelude, truth }, nowMs);
}

function prepare(shop: Shop, attack: Attack, mule: Mule, act: "open" | "use", nowMs: number): void {
  const visit = visitBy(shop, attack, mule, nowMs, true);
  if (act === "open") visit.to(pages.signUp).signUp();
  else visit.to(pages.login).logIn();
  browse(visit, attack.random.whole(1, 3));
  visit.logOut().end();
}

function wake(shop: Shop, attack: Attack, mule: Mule, nowMs: number): void {
  const { random } = attack;
  const { newDevice, changesPassword, payOuts, amount: range } = attackParameters.dormant_mule;
  if (random.chance(newDevice)) {
    const country = attackerCountry(random);
    mule.device = attackerDevice(random, country, nowMs);
    mule.ip = proxyAddress(random, shop.network, country);
  }
  const visit = visitBy(shop, attack, mule, nowMs, false).to(pages.login).logIn().to(pages.account, 4000);
  if (random.chance(changesPassword)) changeSecurity(visit, "password_changed");
  const amount = cents(draw(random, range));
  const { currency } = mule;
  visit.to(pages.wallet, 8000).report("custom:money_received", { amount, currency });
  const parts = drawWhole(random, payOuts);
  for (let n = 0; n < parts; n++) {
    transferTo(visit, { payeeId: newPayee(random), amount: cents(amount / parts), currency, addsPayee: true });
  }
  visit.end();
}
