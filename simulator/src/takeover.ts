import {
  addressIn,
  attackerCountry,
  attackerDevice,
  attackParameters,
  drawWhole,
  hostingAddress,
  proxyAddress,
  type Attack,
  type AttackScript,
} from "./attack.ts";
import type { Country } from "./countries.ts";
import type { Device } from "./device.ts";
import { browse, cents, changeSecurity, resetPassword } from "./errands.ts";
import { itemPage, items, pages } from "./pages.ts";
import type { Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Shop } from "./shop.ts";
import { humanRhythm, Visit } from "./visit.ts";

type Disguise = { device: Device; ip: string; zoneMinutes: number };

// How much of the victim each kind of thief knows and imitates.
export const disguises: Record<string, (shop: Shop, random: Random, victim: Person, nowMs: number) => Disguise> = {
  takeover_naive: (shop, random, victim, nowMs) => {
    const country = attackerCountry(random, victim.country);
    const ip = random.chance(0.5) ? hostingAddress(random, shop.network, country) : proxyAddress(random, shop.network, country);
    return { device: attackerDevice(random, country, nowMs), ip, zoneMinutes: country.zoneMinutes };
  },
  takeover_vpn: (shop, random, victim, nowMs) => {
    const device = attackerDevice(random, attackerCountry(random), nowMs);
    return { device, ip: hostingAddress(random, shop.network, victim.country), zoneMinutes: device.zoneMinutes };
  },
  takeover_targeted: (shop, random, victim, nowMs) => {
    const { country } = victim;
    const carriers = shop.network.carriersOf(country, "home").filter((carrier) => carrier !== victim.household.site.carrier);
    const zoneMinutes = random.chance(0.5) ? country.zoneMinutes : attackerCountry(random).zoneMinutes;
    return { device: imitation(random, victim, nowMs), ip: addressIn(random, carriers), zoneMinutes };
  },
  takeover_very_targeted: (_, random, victim, nowMs) => {
    const { carrier } = victim.household.site;
    return {
      device: imitation(random, victim, nowMs),
      ip: addressIn(random, [carrier]),
      zoneMinutes: victim.country.zoneMinutes,
    };
  },
};

// The same browser, version and screen; only the storage is empty.
function imitation(random: Random, victim: Person, nowMs: number): Device {
  const copied = random.pick(victim.devices);
  return { ...attackerDevice(random, victim.country, nowMs, copied.agent), kind: copied.kind, locale: copied.locale };
}

export function thiefVisit(shop: Shop, attack: Attack, victim: Person, disguise: Disguise, nowMs: number): Visit {
  const { random, kind, id, haste } = attack;
  // Thieves know where they want to go.
  const rhythm = humanRhythm(random, { sigma: random.between(0.5, 1), speed: 1.8 * haste });
  const hasBrowser = random.chance(attackParameters.takeover.hasBrowser);
  const truth = { kind, attack_id: id };
  return new Visit(shop, { random, ...disguise, account: victim.account, rhythm, hasBrowser, scrolls: 0.2, truth }, nowMs);
}

function takeMoney(
  visit: Visit,
  victim: Person,
  { floor, times, byTransfer }: { floor: number; times: number; byTransfer: boolean },
): void {
  const { amountMedian } = victim.habits;
  const amount = cents(Math.max(floor, amountMedian * visit.random.logNormal(times, 0.6)));
  const { currency } = victim.country;
  if (byTransfer) {
    visit.to(pages.wallet, 5000).act("open_transfer", 3000).pause(10_000).report("transfer", { amount, currency });
    return;
  }
  const item = visit.random.pick(items);
  visit
    .to(itemPage(item), 5000)
    .act("add_to_cart", 4000, { _value: item.price, _currency: "EUR" }, [item])
    .to(pages.checkout, 6000);
  visit.pause(10_000).report("payment", { amount, currency, order_id: `o-${visit.random.hex(1)}`, method: "card" });
}

export const takeOver: AttackScript = function* (shop, attack, startMs) {
  yield startMs;
  const { random } = attack;
  const victim = shop.member(random, startMs, attack.loginsMin);
  const disguise = disguises[attack.kind];
  if (victim === null || disguise === undefined) return;
  const { plans, changes, wrongFirst, timesMedian, amountFloor, usesTransfer } = attackParameters.takeover;
  const visit = thiefVisit(shop, attack, victim, disguise(shop, random, victim, startMs), startMs);
  visit.to(pages.login);
  if (random.chance(wrongFirst)) visit.failLogIn(5000);
  visit.logIn(6000).to(pages.account, 3000);
  const plan = attack.isShow ? "change_then_value" : random.pickShare(plans);
  if (plan === "look") visit.to(pages.orders, 8000).to(pages.wallet, 8000);
  else if (random.chance(0.5)) browse(visit, 1);
  if (plan.startsWith("change")) {
    const change = random.pickShare(changes);
    changeSecurity(visit, change);
    victim.isLockedOut = change === "password_changed";
  }
  if (plan.endsWith("value")) {
    takeMoney(visit, victim, { floor: amountFloor, times: timesMedian, byTransfer: random.chance(usesTransfer) });
  }
  visit.end();
};

// Somebody who can read the victim's e-mail resets the password with the shop's own form, then takes the money.
export const resetThenTransfer: AttackScript = function* (shop, attack, startMs) {
  yield startMs;
  const { random } = attack;
  const victim = shop.member(random, startMs, attack.loginsMin);
  if (victim === null) return;
  const { abroad, hosting, guesses, newPayee, timesMedian, amountFloor } = attackParameters.reset_then_transfer;
  const country: Country = random.chance(abroad) ? attackerCountry(random, victim.country) : victim.country;
  const ip = random.chance(hosting) ? hostingAddress(random, shop.network, country) : proxyAddress(random, shop.network, country);
  const device = attackerDevice(random, country, startMs);
  const visit = thiefVisit(shop, attack, victim, { device, ip, zoneMinutes: country.zoneMinutes }, startMs);
  visit.to(pages.login);
  for (let wrong = drawWhole(random, guesses); wrong > 0; wrong--) visit.failLogIn();
  resetPassword(visit);
  victim.isLockedOut = true;
  visit.logIn(5000).to(pages.account, 3000);
  if (random.chance(newPayee)) changeSecurity(visit, "payee_added");
  takeMoney(visit, victim, { floor: amountFloor, times: timesMedian, byTransfer: true });
  visit.end();
};
