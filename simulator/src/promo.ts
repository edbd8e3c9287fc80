import { attackParameters, draw, drawWhole, type Attack, type AttackScript } from "./attack.ts";
import { countries } from "./countries.ts";
import { newDevice, type Device } from "./device.ts";
import { buy, cents } from "./errands.ts";
import { visitorOf } from "./life.ts";
import { addressV4, pickSite, type Site } from "./network.ts";
import { pages } from "./pages.ts";
import { newCard } from "./payments.ts";
import { newAccount } from "./people.ts";
import type { Random } from "./random.ts";
import type { Shop } from "./shop.ts";
import { humanRhythm, Visit } from "./visit.ts";

const dayMs = 86_400_000;

// The same mailbox in many spellings: most providers ignore what follows a plus sign, and some ignore dots.
function spellMailbox(random: Random, [local, domain]: readonly [string, string], number: number): string {
  const plain = local.replaceAll(".", "");
  const dot = random.whole(1, plain.length - 1);
  const dotted = `${plain.slice(0, dot)}.${plain.slice(dot)}`;
  return `${random.pick([`${local}+${number}`, dotted, `${dotted}+${number}`, `${local}${number}`])}@${domain}`;
}

type Person = { mailbox: readonly [string, string]; device: Device; home: Site; gateway: Site; currency: string };

// One person opens many accounts to get the shop's offer for new customers again and again. The kind of browser is always the
// same, but the browser has been reset, and the address is another one in the same two networks.
export const abusePromotion: AttackScript = function* (shop, attack, startMs) {
  const { random, haste } = attack;
  const { accounts, days, sameCard } = attackParameters.promo_abuse;
  const person = newAbuser(shop, random, startMs);
  const card = random.chance(sameCard) ? newCard(random) : null;
  const wanted = drawWhole(random, accounts);
  const meanGapMs = (draw(random, days) * dayMs) / (wanted * haste);
  let atMs = startMs;
  for (let number = 1; number <= wanted; number++) {
    yield atMs;
    const endMs = claim(shop, attack, person, { number, card: card ?? newCard(random) }, atMs);
    atMs = Math.max(endMs, atMs + random.exponential(meanGapMs));
  }
};

function newAbuser(shop: Shop, random: Random, nowMs: number): Person {
  const country = random.pickWeighted(countries, ({ customers }) => customers);
  const [local = ""] = newAccount(random, "ordinary").email.split("@");
  const own = newDevice(random, { number: random.word(), kind: "phone", country, nowMs });
  return {
    mailbox: [local.replaceAll(/\d/g, ""), "gmail.com"],
    device: { ...own, blocking: "none", clockOffsetMs: 0 },
    home: pickSite(random, shop.network.carriersOf(country, "home")),
    gateway: pickSite(random, shop.network.carriersOf(country, "mobile")),
    currency: country.currency,
  };
}

type Claim = { number: number; card: ReturnType<typeof newCard> };

function claim(shop: Shop, { random, kind, id, haste }: Attack, person: Person, { number, card }: Claim, nowMs: number): number {
  const { mobile, buys, median } = attackParameters.promo_abuse;
  const account = { ...newAccount(random, "ordinary"), email: spellMailbox(random, person.mailbox, number) };
  const ip = addressV4(random.chance(mobile) ? person.gateway : person.home, random.word());
  const device = { ...person.device, number: random.word(), storage: null };
  const rhythm = humanRhythm(random, { sigma: 0.7, speed: 1.4 * haste });
  const truth = { kind, attack_id: id };
  const visit = new Visit(shop, { random, device, ip, zoneMinutes: device.zoneMinutes, account, rhythm, truth }, nowMs);
  visit.to(pages.home).to(pages.signUp, 6000).signUp().pause(8000).report("custom:coupon_redeemed", { code: "WELCOME10" });
  if (random.chance(buys)) buy(visit, cents(random.logNormal(median, 0.3)), person.currency, { instrument: card });
  return visit.end();
}

// A customer who buys again and again, and each time wants the money back for goods that arrived.
export const abuseRefunds: AttackScript = function* (shop, attack, startMs) {
  const { random, kind, id, haste } = attack;
  const { purchases, gapDays, refundDays, timesMedian } = attackParameters.refund_abuse;
  yield startMs;
  const owner = shop.member(random, startMs, attack.loginsMin);
  if (owner === null) return;
  const steps: { atMs: number; orderId: string; isRefund: boolean; amount: number }[] = [];
  let atMs = startMs;
  for (let left = drawWhole(random, purchases); left > 0; left--) {
    const order = {
      orderId: `o-${random.hex(2)}`,
      amount: cents(random.logNormal(owner.habits.amountMedian * timesMedian, 0.4)),
    };
    const laterMs = atMs + (draw(random, refundDays) * dayMs) / haste;
    steps.push({ ...order, atMs, isRefund: false }, { ...order, atMs: laterMs, isRefund: true });
    atMs += (draw(random, gapDays) * dayMs) / haste;
  }
  const { currency } = owner.country;
  for (const { atMs: stepMs, orderId, isRefund, amount } of steps.toSorted((a, b) => a.atMs - b.atMs)) {
    yield stepMs;
    const rhythm = humanRhythm(random, { ...owner.habits.rhythm, speed: owner.habits.rhythm.speed * haste });
    const visitor = { ...visitorOf(shop, owner, stepMs), random, rhythm, truth: { kind, attack_id: id } };
    const visit = new Visit(shop, visitor, stepMs).to(pages.home);
    if (visit.isKnown) visit.stayLoggedIn();
    else visit.to(pages.login).logIn();
    const refund = { order_id: orderId, amount, currency, reason: "not received" };
    if (isRefund) visit.to(pages.orders, 8000).pause(40_000).report("custom:refund_requested", refund);
    else buy(visit, amount, currency, { order_id: orderId });
    visit.end();
  }
};
