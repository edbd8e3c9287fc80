import {
  attackerCountry,
  attackerDevice,
  attackParameters,
  draw,
  hostingAddress,
  proxyAddress,
  type Attack,
  type AttackScript,
} from "./attack.ts";
import type { Device } from "./device.ts";
import { browse } from "./errands.ts";
import { visitorOf } from "./life.ts";
import { lootOf, transferTo } from "./mules.ts";
import { pages } from "./pages.ts";
import { newPayee } from "./payments.ts";
import type { Person } from "./people.ts";
import type { Shop } from "./shop.ts";
import { humanRhythm, Visit, type Visitor } from "./visit.ts";

const minuteMs = 60_000;

// Malware on the victim's device sends the browser's cookies and storage to a thief, who continues the session from another
// network and another browser. There is no second log-in.
export const hijackSession: AttackScript = function* (shop, attack, startMs) {
  yield startMs;
  const { random } = attack;
  const { minutes, whileActive, addsPayee, timesMedian, amountFloor } = attackParameters.session_hijack;
  const found = findVictim(shop, attack, startMs);
  if (found === null) return;
  const { victim, visitor } = found;
  const own = new Visit(shop, { ...visitor, random, truth: { kind: "genuine" } }, startMs);
  own.to(pages.home).to(pages.login, 6000).logIn();
  const loggedInMs = own.nowMs;
  browse(own, random.whole(2, 6));
  const endMs = own.end();
  const fromMs = random.chance(whileActive) ? loggedInMs + random.unit() * (endMs - loggedInMs) : endMs;
  const thiefMs = fromMs + (draw(random, minutes) * minuteMs) / attack.haste;
  yield thiefMs;
  const visit = new Visit(shop, thiefOf(shop, attack, found, thiefMs), thiefMs);
  visit.stayLoggedIn().to(pages.account).to(pages.wallet, 6000);
  const amount = lootOf(victim, visit, { times: timesMedian, floor: amountFloor });
  const { currency } = victim.country;
  transferTo(visit, { payeeId: newPayee(random), amount, currency, addsPayee: random.chance(addsPayee) });
  visit.end();
};

type Found = { victim: Person; visitor: Visitor };

// Only a browser that runs the page's script has a session to copy.
function findVictim(shop: Shop, { random, loginsMin }: Attack, nowMs: number): Found | null {
  for (let tries = 0; tries < 20; tries++) {
    const victim = shop.member(random, nowMs, loginsMin);
    if (victim === null) return null;
    const visitor = visitorOf(shop, victim, nowMs);
    if (visitor.device.blocking === "none") return { victim, visitor };
  }
  return null;
}

function thiefOf(shop: Shop, attack: Attack, { victim, visitor }: Found, nowMs: number): Visitor {
  const { random, kind, id, haste } = attack;
  const country = attackerCountry(random, victim.country);
  const agent = random.chance(attackParameters.session_hijack.copiesAgent) ? visitor.device.agent : undefined;
  const device = { ...attackerDevice(random, country, nowMs, agent), storage: copyStorage(visitor.device, nowMs) };
  const ip = random.chance(0.5) ? hostingAddress(random, shop.network, country) : proxyAddress(random, shop.network, country);
  const rhythm = humanRhythm(random, { sigma: 0.6, speed: 2 * haste });
  const { account } = visitor;
  return { random, device, ip, zoneMinutes: country.zoneMinutes, account, rhythm, truth: { kind, attack_id: id } };
}

// The clocks of the two devices differ, so the time of the last pause is set to the thief's.
function copyStorage({ storage }: Device, nowMs: number): Device["storage"] {
  if (storage === null) return null;
  const session = storage.session === null ? null : { ...storage.session, pausedMs: nowMs };
  return { ...storage, session, owners: new Map(storage.owners), unsent: [], lastVisitMs: nowMs };
}
