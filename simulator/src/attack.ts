import type { Agent } from "./agents.ts";
import { countries, type Country } from "./countries.ts";
import type { AttackKind } from "./delivery.ts";
import { newDevice, type Device } from "./device.ts";
import { addressV4, pickSite, type Carrier, type Network } from "./network.ts";
import type { Random } from "./random.ts";
import type { Actor, Shop } from "./shop.ts";

// One attack: its id and kind in the ground truth, its random stream, and its speed.
export type Attack = {
  id: string;
  kind: AttackKind;
  random: Random;
  // 1 is real time.
  haste: number;
  // A demonstration: small, over within seconds, and with everything that is typical of its kind.
  isShow: boolean;
  // Only accounts with at least this many log-ins are targets.
  loginsMin: number;
};

export type AttackScript = (shop: Shop, attack: Attack, startMs: number) => Actor;

// How a thief enters an account to empty it, and how large a transfer is.
const accountTheft = {
  disguises: { takeover_naive: 0.2, takeover_vpn: 0.4, takeover_targeted: 0.4 },
  timesMedian: 6,
  amountFloor: 120,
};

// The parameters of every kind of attack, in one place. Ranges are [low, high], drawn once per attack. Shares are of the attack's
// attempts. They follow published descriptions of such attacks, never what the rules look for.
export const attackParameters = {
  takeover: {
    // What a thief does once inside. Some only look.
    plans: { look: 0.25, change: 0.15, change_then_value: 0.45, value: 0.15 },
    changes: { email_changed: 0.35, password_changed: 0.35, payee_added: 0.25, mfa_changed: 0.05 },
    hasBrowser: 0.85,
    wrongFirst: 0.15,
    timesMedian: 7,
    amountFloor: 150,
    usesTransfer: 0.6,
  },
  stuffing_burst: {
    tries: [60, 400],
    gapSeconds: [0.3, 3],
    success: [0.01, 0.03],
    // Names in a leaked list that the shop does not know.
    unknownNames: 0.35,
    oneDevice: 0.5,
    looksAround: 0.5,
    scriptAgent: 0.2,
  },
  stuffing_slow: {
    tries: [120, 400],
    days: [1, 5],
    triesPerAddress: [1, 3],
    success: [0.008, 0.02],
    unknownNames: 0.25,
    agents: [5, 20],
  },
  spraying: { accounts: [60, 250], triesPerAccount: [1, 3], hours: [1, 8], success: [0.003, 0.01] },
  signup_farm: {
    signups: [8, 60],
    gapSeconds: [15, 120],
    oneDevice: 0.5,
    disposable: 0.7,
    hasBrowser: 0.75,
    redeems: 0.6,
    buys: 0.2,
  },
  reset_then_transfer: { abroad: 0.4, hosting: 0.3, guesses: [0, 2], newPayee: 0.7, timesMedian: 9, amountFloor: 200 },
  scripted_bot: { events: [60, 300], gapMs: [350, 2500], jitter: [0.02, 0.35], ownersOwn: 0.5, hosting: 0.5, watches: 0.5 },
  headless_bot: { events: [30, 200], gapMs: [250, 2000], jitter: [0.02, 0.2], runsSdk: 0.55, hosting: 0.8 },
  friendly_fraud: { timesMedian: 3, reportDays: 7 },
  mule_ring: {
    payees: [2, 5],
    victims: [4, 10],
    days: [1, 4],
    ...accountTheft,
    addsPayee: 0.5,
  },
  // `days` is how long the accounts sleep. The money that they receive came from somebody else's fraud.
  dormant_mule: {
    accounts: [3, 8],
    days: [28, 40],
    waveDays: [0.5, 2],
    newDevice: 0.7,
    changesPassword: 0.4,
    payOuts: [1, 3],
    amount: [300, 2500],
  },
  dormant_takeover: {
    quietDays: [14, 30],
    visitsPerDayMin: 0.3,
    ...accountTheft,
    changes: 0.6,
  },
  stolen_instruments: {
    cards: [2, 4],
    buyers: [3, 7],
    days: [0.2, 2],
    takesOver: 0.25,
    disposable: 0.3,
    declined: 0.3,
    median: 140,
  },
  card_testing: {
    tries: [60, 220],
    gapSeconds: [2, 15],
    oneAddress: 0.5,
    hasBrowser: 0.4,
    asGuest: 0.5,
    accounts: [1, 3],
    sameBin: 0.8,
    outcomes: { declined: 0.78, attempted: 0.14, approved: 0.08 },
    amount: [0.5, 2.5],
  },
  promo_abuse: { accounts: [6, 20], days: [1, 5], mobile: 0.5, buys: 0.8, sameCard: 0.5, median: 22 },
  session_hijack: { minutes: [1, 20], whileActive: 0.4, copiesAgent: 0.3, addsPayee: 0.5, timesMedian: 6, amountFloor: 120 },
  refund_abuse: { purchases: [3, 6], gapDays: [0.2, 1.5], refundDays: [0.5, 3], timesMedian: 2 },
} as const;

export function draw(random: Random, [low, high]: readonly [number, number]): number {
  return random.between(low, high);
}

export function drawWhole(random: Random, [low, high]: readonly [number, number]): number {
  return random.whole(low, high);
}

export function attackerCountry(random: Random, otherThan?: Country): Country {
  return random.pickWeighted(countries, (country) => (country === otherThan ? 0 : country.attackers));
}

// One of the attacker's devices. Attackers keep correct clocks and block nothing, because they want to look like customers.
export function attackerDevice(random: Random, country: Country, nowMs: number, agent?: Agent): Device {
  const device = newDevice(random, { number: random.word(), kind: random.chance(0.8) ? "desktop" : "phone", country, nowMs });
  const plain = { clockOffsetMs: random.normal(0, 800), blocking: "none", isPrivate: false, clearing: 0 } as const;
  return { ...device, ...plain, ...(agent ? { agent } : {}) };
}

export function addressIn(random: Random, carriers: readonly Carrier[]): string {
  return addressV4(pickSite(random, carriers), random.word());
}

export function hostingAddress(random: Random, network: Network, country: Country): string {
  return addressIn(random, network.carriersOf(country, "hosting"));
}

// A home connection that is rented out by the hour.
export function proxyAddress(random: Random, network: Network, country: Country): string {
  return addressIn(random, network.carriersOf(country, "home"));
}
