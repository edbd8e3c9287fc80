import { newDays, type Days } from "./days.ts";

// An account's amounts in one currency. `mean` and `spread` (a variance) adapt slowly. An amount that is farther from the mean
// than `farthest` is moved there before it is counted, so that a fraud does not become usual.
export type Money = { n: number; mean: number; spread: number; days: Days };

const currenciesMax = 4;
// How many payments the mean remembers.
const memory = 100;
// With few payments, amounts are assumed to vary by half of their mean. This assumption has the weight of this many payments.
const assumed = 3;
const usualShare = 0.5;
const farthest = 2.5;
const paymentsMin = 3;
const valuesMin = 3;

function newMoney(): Money {
  return { n: 0, mean: 0, spread: 0, days: newDays() };
}

// How many standard deviations the amount is above the account's mean, and how many times the mean it is. Both are 0 if there are
// too few payments to compare with.
export function compareAmount(money: Money | undefined, amount: number): { z: number; ratio: number } {
  if (!money || money.n < paymentsMin || money.mean <= 0 || amount <= 0) return { z: 0, ratio: 0 };
  return { z: rounded((amount - money.mean) / deviation(money)), ratio: rounded(amount / money.mean) };
}

export function learnAmount(money: Money, amount: number): void {
  if (amount <= 0) return;
  const far = farthest * deviation(money);
  const believed = money.n < paymentsMin ? amount : Math.min(Math.max(amount, money.mean - far), money.mean + far);
  money.n = Math.min(money.n + 1, memory);
  const before = believed - money.mean;
  money.mean = significant(money.mean + before / money.n);
  money.spread = significant(money.spread + (before * (believed - money.mean) - money.spread) / money.n);
}

function deviation({ n, mean, spread }: Money): number {
  return Math.sqrt((n * spread + assumed * (usualShare * mean) ** 2) / (n + assumed));
}

// The account's amounts in the currency. If there are too many currencies, the rarest is forgotten.
export function moneyOf(money: Record<string, Money>, currency: string): Money {
  const known = Object.hasOwn(money, currency) ? money[currency] : undefined;
  if (known) return known;
  const names = Object.keys(money);
  if (names.length >= currenciesMax) {
    const rarest = names.reduce((a, b) => ((money[b]?.n ?? 0) < (money[a]?.n ?? 0) ? b : a));
    delete money[rarest];
  }
  return (money[currency] = newMoney());
}

// The amount divided by the median of the account's last amounts in any currency; 0 if too few are known.
export function valueRatio(values: number[], value: number): number {
  if (values.length < valuesMin || value <= 0) return 0;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const high = sorted[middle] ?? 0;
  const median = sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? 0) + high) / 2;
  return median > 0 ? Math.round((value / median) * 100) / 100 : 0;
}

function rounded(value: number): number {
  return Math.round(Math.min(Math.max(value, -99), 9999) * 100) / 100;
}

// Six digits are enough, and take a third of the space.
function significant(value: number): number {
  return Number(value.toPrecision(6));
}
