import type { Activity } from "@casehound/client";
import type { Random } from "./random.ts";
import type { Attributes } from "./sdk.ts";

export type Payment = Pick<Activity, "amount" | "currency" | "payee_id" | "order_id" | "instrument" | "status">;
export type Instrument = NonNullable<Payment["instrument"]>;

type Wallet = { cards: Instrument[]; bank: Instrument; beneficiaries: string[]; used: number };
// The owner of the wallet. A guest's instruments are not remembered.
type Purse = { id: string; isKnown: boolean };
type Attempt = { afterMs: number; payment: Payment; rest: Attributes };

const moneyTypes = new Set(["payment", "transfer", "payee_added"]);

export function isMoney(type: string): boolean {
  return moneyTypes.has(type);
}

// How people pay. Honest payments are declined and cards are replaced, so neither is proof of fraud.
const paymentShares = {
  cardCounts: { "1": 0.7, "2": 0.25, "3": 0.05 },
  usesFirstCard: 0.8,
  newCard: 0.02,
  declined: 0.035,
  // After a declined payment, the share that pays with another card.
  changesCard: 0.5,
};
const sellerCount = 60;
const sellers = Array.from({ length: sellerCount }, (_, index) => ({ id: `seller-${index + 1}`, weight: (index + 1) ** -1.1 }));

// No card network uses numbers that start with 9.
export function newBin(random: Random): string {
  return String(900_000 + random.whole(1, 160) * 613);
}

export function newCard(random: Random, bin = newBin(random)): Instrument {
  const last4 = String(random.whole(0, 9999)).padStart(4, "0");
  return { type: "card", bin, last4, fingerprint: `card_${random.hex(2)}` };
}

export function newPayee(random: Random): string {
  return `iban_${random.hex(2)}`;
}

// One of the marketplace's sellers. A few of them have most of the customers.
export function pickSeller(random: Random): string {
  return random.pickWeighted(sellers, ({ weight }) => weight).id;
}

// Adds payees, instruments and outcomes to payments. It has its own random streams, so the rest of the shop does not change.
export class Till {
  // A payee that receives this share of all payments.
  favourite: { payeeId: string; share: number } | null = null;
  readonly #random: Random;
  readonly #wallets = new Map<string, Wallet>();

  constructor(random: Random) {
    this.#random = random;
  }

  // The attempts at one payment. Only the last one can succeed.
  attempts(wanted: { type: string; payer: Purse; taker: Purse; attributes: Attributes; given: Payment }): Attempt[] {
    const { type, payer, taker, attributes, given } = wanted;
    const wallet = this.#walletOf(payer);
    const random = this.#random.fork(`${payer.id}/${wallet.used++}`);
    if (type === "payee_added") {
      const payee_id = given.payee_id ?? newPayee(random);
      this.#walletOf(taker).beneficiaries.push(payee_id);
      return [{ afterMs: 0, payment: { payee_id }, rest: attributes }];
    }
    const { amount, currency, order_id, ...rest } = attributes;
    const isTransfer = type === "transfer";
    const payment: Payment = {
      amount: Number(amount),
      currency: String(currency),
      payee_id: isTransfer ? random.pick(this.#walletOf(taker).beneficiaries) : this.#seller(random),
      order_id: order_id === undefined ? `t-${random.hex(2)}` : String(order_id),
      instrument: isTransfer ? wallet.bank : cardOf(wallet, random),
      status: "approved",
      ...given,
    };
    if (isTransfer || given.status !== undefined || !random.chance(paymentShares.declined))
      return [{ afterMs: 0, payment, rest }];
    const declined: Payment = { ...payment, status: "declined" };
    const second = random.chance(paymentShares.changesCard) ? { instrument: cardOf(wallet, random) } : {};
    return [
      { afterMs: 0, payment: declined, rest },
      { afterMs: random.between(15_000, 90_000), payment: { ...payment, ...second, ...given }, rest },
    ];
  }

  #seller(random: Random): string {
    const { favourite } = this;
    return favourite !== null && random.chance(favourite.share) ? favourite.payeeId : pickSeller(random);
  }

  #walletOf({ id, isKnown }: Purse): Wallet {
    const known = this.#wallets.get(id);
    if (known !== undefined) return known;
    const random = this.#random.fork(id);
    const count = Number(random.pickShare(paymentShares.cardCounts));
    const wallet: Wallet = {
      cards: Array.from({ length: count }, () => newCard(random)),
      bank: { type: "iban", fingerprint: newPayee(random) },
      beneficiaries: [newPayee(random)],
      used: 0,
    };
    if (isKnown) this.#wallets.set(id, wallet);
    return wallet;
  }
}

function cardOf(wallet: Wallet, random: Random): Instrument {
  const [first] = wallet.cards;
  if (first !== undefined && !random.chance(paymentShares.newCard)) {
    return random.chance(paymentShares.usesFirstCard) ? first : random.pick(wallet.cards);
  }
  const card = newCard(random);
  wallet.cards = [card, ...wallet.cards.slice(1)];
  return card;
}
