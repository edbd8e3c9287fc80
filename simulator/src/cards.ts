import { scriptUserAgent } from "./agents.ts";
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
import { buy, cents } from "./errands.ts";
import { pages } from "./pages.ts";
import { newBin, newCard, pickSeller, type Instrument, type Payment } from "./payments.ts";
import { newAccount, type Person } from "./people.ts";
import type { Random } from "./random.ts";
import type { Shop } from "./shop.ts";
import { disguises, thiefVisit } from "./takeover.ts";
import { humanRhythm, machineRhythm, Visit, type Account } from "./visit.ts";

const dayMs = 86_400_000;

// Each of a few stolen cards pays in several accounts, most of them opened for that. Every account has its own device and address.
export const spendStolenCards: AttackScript = function* (shop, attack, startMs) {
  const { random, haste } = attack;
  const { cards, buyers, days } = attackParameters.stolen_instruments;
  const periodMs = (draw(random, days) * dayMs) / haste;
  const stolen = Array.from({ length: drawWhole(random, cards) }, () => newCard(random));
  const uses = stolen.flatMap((card) =>
    Array.from({ length: drawWhole(random, buyers) }, () => ({ card, atMs: startMs + random.unit() * periodMs })),
  );
  for (const { card, atMs } of uses.toSorted((a, b) => a.atMs - b.atMs)) {
    yield atMs;
    spend(shop, attack, { card, others: stolen }, atMs);
  }
};

function spend(shop: Shop, attack: Attack, { card, others }: { card: Instrument; others: Instrument[] }, nowMs: number): void {
  const { random } = attack;
  const { takesOver, declined, median } = attackParameters.stolen_instruments;
  const victim = random.chance(takesOver) ? shop.member(random, nowMs, attack.loginsMin) : null;
  const visit = victim === null ? signUpBuyer(shop, attack, nowMs) : enterAs(shop, attack, victim, nowMs);
  const amount = cents(random.logNormal(median, 0.5));
  if (random.chance(declined)) {
    buy(visit, amount, "EUR", { instrument: card, status: "declined" });
    buy(visit, amount, "EUR", { instrument: random.pick(others), status: "approved" });
  } else buy(visit, amount, "EUR", { instrument: card, status: "approved" });
  visit.end();
}

function enterAs(shop: Shop, attack: Attack, victim: Person, nowMs: number): Visit {
  const disguise = disguises["takeover_vpn"];
  if (disguise === undefined) throw new RangeError("There is no such disguise");
  const visit = thiefVisit(shop, attack, victim, disguise(shop, attack.random, victim, nowMs), nowMs);
  return visit.to(pages.login).logIn(6000);
}

function signUpBuyer(shop: Shop, { random, kind, id, haste }: Attack, nowMs: number): Visit {
  const country = random.pickWeighted(countries, ({ customers }) => customers);
  const device = attackerDevice(random, country, nowMs);
  const mail = random.chance(attackParameters.stolen_instruments.disposable) ? "disposable" : "ordinary";
  const visitor = {
    random,
    device,
    ip: proxyAddress(random, shop.network, country),
    zoneMinutes: device.zoneMinutes,
    account: newAccount(random, mail),
    rhythm: humanRhythm(random, { sigma: 0.6, speed: 2 * haste }),
    truth: { kind, attack_id: id },
  };
  return new Visit(shop, visitor, nowMs).to(pages.signUp).signUp();
}

type Machine = { device: Device; hasBrowser: boolean; userAgent?: string; address: () => string };

// Finds out which card numbers of a list are valid, by small payments at one seller.
export const testCards: AttackScript = function* (shop, attack, startMs) {
  const { random, haste, isShow } = attack;
  const parameters = attackParameters.card_testing;
  const machine = newMachine(shop, random, startMs);
  const count = random.chance(parameters.asGuest) ? 0 : drawWhole(random, parameters.accounts);
  const accounts = Array.from({ length: count }, () => newAccount(random, "disposable"));
  const payeeId = pickSeller(random);
  const bin = newBin(random);
  const tries = isShow ? 60 : drawWhole(random, parameters.tries);
  const meanGapMs = (1000 * draw(random, parameters.gapSeconds)) / haste;
  let atMs = startMs;
  for (const account of accounts) {
    yield atMs;
    const visit = newVisit(shop, attack, machine, account, atMs).to(pages.signUp).signUp();
    atMs = visit.end() + random.exponential(meanGapMs);
  }
  for (let n = 0; n < tries; n++) {
    yield atMs;
    const account = count === 0 ? null : random.pick(accounts);
    const instrument = newCard(random, random.chance(parameters.sameBin) ? bin : newBin(random));
    const payment: Payment = { instrument, payee_id: payeeId, status: random.pickShare(parameters.outcomes) };
    const order = {
      amount: smallAmount(draw(random, parameters.amount)),
      currency: "EUR",
      order_id: `o-${random.hex(1)}`,
      method: "card",
    };
    const visit = newVisit(shop, attack, machine, account, atMs).to(pages.checkout).pause(0).report("payment", order, payment);
    atMs = Math.max(visit.end(), atMs + random.exponential(meanGapMs));
  }
};

// Smaller than what `cents` allows, because testers pay less than any customer.
function smallAmount(amount: number): number {
  return Math.round(amount * 100) / 100;
}

function newMachine(shop: Shop, random: Random, nowMs: number): Machine {
  const { oneAddress, hasBrowser } = attackParameters.card_testing;
  const country = attackerCountry(random);
  const fixed = hostingAddress(random, shop.network, country);
  const address = random.chance(oneAddress)
    ? (): string => fixed
    : (): string => proxyAddress(random, shop.network, attackerCountry(random));
  const machine = { device: attackerDevice(random, country, nowMs), address };
  return random.chance(hasBrowser)
    ? { ...machine, hasBrowser: true }
    : { ...machine, hasBrowser: false, userAgent: scriptUserAgent(random) };
}

function newVisit(shop: Shop, { random, kind, id }: Attack, machine: Machine, account: Account | null, nowMs: number): Visit {
  const { address, ...rest } = machine;
  const rhythm = machineRhythm(random, { meanMs: 400, jitter: 0.3 });
  const truth = { kind, attack_id: id };
  const { zoneMinutes } = machine.device;
  return new Visit(shop, { random, ...rest, ip: address(), zoneMinutes, account, rhythm, scrolls: 0, truth }, nowMs);
}
