import type { StoredDecision } from "../../domain/decision.ts";
import { hashOf } from "../sketch.ts";
import { findPlaceOf, numericCodes } from "../vector.ts";
import { cappedWeights } from "./guards.ts";
import { TrainingSample } from "./sample.ts";
import { numberOf } from "./serving.ts";

// Network numbers (ASN) have no meaningful order.
const unordered = new Set(["04"]);
export const modelFields: readonly string[] = numericCodes.filter((code) => !unordered.has(code));

const places = new Map(modelFields.map((code, index) => [code, index]));
const zeros = Float32Array.from(modelFields, (code) => numberOf(findPlaceOf(code)?.zero));
const codeCharacters = 2;

export type ReadDecision = {
  // The sum of the rules and the log-in ratio, as the model reads it: without the model's part and without damping.
  rules: number;
  // The log-odds that decided at that time.
  logOdds: number;
  fired: string[];
  challenger: StoredDecision["n"];
  // In the order of `modelFields`.
  values: Float32Array;
};

// Reads what a model can learn from a stored decision. Takes 8 µs.
export function readDecision(text: string): ReadDecision {
  // Written by the engine.
  const { l = 0, c = [], m, n, o, r = {}, f = "" } = JSON.parse(text) as StoredDecision;
  const damped = c.reduce((sum, [, part, times]) => (times === undefined ? sum : sum + part), 0);
  return {
    rules: o?.[0] ?? Math.round((l - (m?.[1] ?? 0) - damped) * 1000) / 1000,
    logOdds: l,
    fired: Object.keys(r),
    challenger: n,
    values: valuesIn(f),
  };
}

function valuesIn(stored: string): Float32Array {
  const values = zeros.slice();
  const comma = stored.indexOf(",");
  const onesEnd = comma === -1 ? stored.length : comma;
  for (let at = 0; at < onesEnd; at += codeCharacters) {
    const place = places.get(stored.slice(at, at + codeCharacters));
    if (place !== undefined) values[place] = 1;
  }
  for (let at = onesEnd; at < stored.length;) {
    const next = stored.indexOf(",", at + 1);
    const end = next === -1 ? stored.length : next;
    const place = places.get(stored.slice(at + 1, at + 1 + codeCharacters));
    if (place !== undefined) values[place] = numberOf(Number(stored.slice(at + 1 + codeCharacters, end)));
    at = end;
  }
  return values;
}

export type LabelledDecision = {
  key: string;
  account: string | null;
  person: string | null;
  isFraud: boolean;
  weight: number;
  day: string;
  decision: string;
};

const fraudsMax = 100_000;
// A random check may stand for thousands of activities. With its full weight, one fraud would outweigh all others in training.
const fraudWeightMax = 20;

type Fraud = LabelledDecision & { read: ReadDecision };

// Collects what a model learns from. The memory is bounded: it holds the sample and at most 100,000 frauds.
export class Dataset {
  readonly #sample = new TrainingSample({ fields: modelFields });
  readonly #frauds = new Thinned<Fraud>(fraudsMax, ({ key }) => key);
  readonly #fraudDays = new Set<string>();

  add(row: LabelledDecision): void {
    if (row.isFraud) {
      this.#fraudDays.add(row.day);
      this.#frauds.add({ ...row, weight: Math.min(row.weight, fraudWeightMax), read: readDecision(row.decision) });
      return;
    }
    const { rules, values } = readDecision(row.decision);
    const { key, weight, account } = row;
    this.#sample.add({ key, isFraud: false, weight, account, ruleLogOdds: rules, values });
  }

  get frauds(): number {
    return this.#frauds.seen;
  }

  // The number of days from the first to the last fraud.
  get fraudSpanDays(): number {
    const days = [...this.#fraudDays].toSorted();
    const [first, last] = [days[0], days.at(-1)];
    return first === undefined || last === undefined ? 0 : (Date.parse(last) - Date.parse(first)) / 86_400_000 + 1;
  }

  // Call it once, after all rows are added.
  sample(): TrainingSample {
    const { kept, stride } = this.#frauds;
    const weights = cappedWeights(kept);
    kept.forEach(({ key, read }, index) => {
      const weight = (weights[index] ?? 0) * stride;
      if (weight > 0) this.#sample.add({ key, isFraud: true, weight, ruleLogOdds: read.rules, values: read.values });
    });
    return this.#sample;
  }
}

// Keeps at most `max` of any number of items. Each kept item stands for `stride` of them. Which ones are kept does not depend on
// their order.
export class Thinned<T> {
  kept: T[] = [];
  stride = 1;
  seen = 0;
  readonly #max: number;
  readonly #keyOf: (item: T) => string;

  constructor(max: number, keyOf: (item: T) => string) {
    this.#max = max;
    this.#keyOf = keyOf;
  }

  add(item: T): void {
    this.seen++;
    if (!this.#isKept(item)) return;
    this.kept.push(item);
    while (this.kept.length > this.#max) {
      this.stride *= 2;
      this.kept = this.kept.filter((each) => this.#isKept(each));
    }
  }

  #isKept(item: T): boolean {
    return (hashOf(this.#keyOf(item)).lo >>> 0) % this.stride === 0;
  }
}
