import { hashOf } from "../sketch.ts";
import { cappedHonest } from "./guards.ts";
import { readable } from "./trees.ts";

export type Row = {
  // Unique, for example the activity's id. Rows are ordered by their keys, so the order in which they arrive does not matter.
  key: string;
  isFraud: boolean;
  weight: number;
  // The account. If it has many honest rows, each of them has less weight.
  account?: string | null;
  // The sum of the rules and the log-in ratio.
  ruleLogOdds: number;
  // In the order of the sample's fields; NaN is missing.
  values: ArrayLike<number>;
};

export type TrainingRows = {
  fields: readonly string[];
  count: number;
  labels: Uint8Array;
  weights: Float64Array;
  ruleLogOdds: Float64Array;
  // One per field.
  columns: readonly Float32Array[];
};

const chunkRows = 1024;
// The weight of one of 100,000 labels that together count as one.
const weightMin = 1e-6;
const weightMax = 1e6;
export const fieldsMax = 256;

// Of each class, at most `rowsMax` rows are kept. Each kept row then also stands for the dropped ones, so that the share of fraud
// remains true. 150,000 rows of 60 fields take 36 MB and their keys.
export class TrainingSample {
  readonly fields: readonly string[];
  readonly seed: number;
  readonly #classes: [genuine: Lowest, frauds: Lowest];
  readonly #order: number[];

  constructor({ fields, seed = 1, rowsMax = 150_000 }: { fields: readonly string[]; seed?: number; rowsMax?: number }) {
    if (fields.length === 0 || fields.length > fieldsMax) throw new Error(`a model reads 1 to ${fieldsMax} fields`);
    if (new Set(fields).size < fields.length) throw new Error("a field appears twice");
    this.fields = fields.toSorted();
    this.seed = seed;
    this.#order = this.fields.map((code) => fields.indexOf(code));
    this.#classes = [new Lowest(rowsMax, fields.length), new Lowest(rowsMax, fields.length)];
  }

  add({ key, isFraud, weight, account = null, ruleLogOdds, values }: Row): void {
    if (!(weight >= weightMin && weight <= weightMax)) throw new Error(`row ${key} has the weight ${weight}`);
    if (!Number.isFinite(ruleLogOdds)) throw new Error(`row ${key} has the log-odds ${ruleLogOdds}`);
    if (values.length !== this.#order.length) throw new Error(`row ${key} has ${values.length} values`);
    const kept = this.#classes[isFraud ? 1 : 0];
    const slot = kept.offer(this.#priority(key), key);
    if (slot < 0) return;
    kept.weights[slot] = weight;
    kept.accounts[slot] = account;
    kept.ruleLogOdds[slot] = ruleLogOdds;
    this.#order.forEach((from, to) => kept.setValue(slot, to, readable(values[from])));
  }

  get frauds(): number {
    return this.#classes[1].seen;
  }

  get seen(): number {
    return this.#classes[0].seen + this.#classes[1].seen;
  }

  rows(): TrainingRows {
    const { fields } = this;
    const sorted = this.#classes
      .flatMap((kept, label) => kept.keys.map((key, slot) => ({ key, label, slot, kept })))
      .toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
    const twice = sorted.find(({ key }, index) => key === sorted[index + 1]?.key);
    if (twice) throw new Error(`row ${twice.key} appears twice`);
    const [genuine, frauds] = this.#classes;
    const weights = [cappedHonest(genuine.accounts, genuine.weightsOfAll()), frauds.weightsOfAll()];
    const columns = fields.map(() => new Float32Array(sorted.length));
    sorted.forEach(({ kept, slot }, row) => columns.forEach((column, field) => (column[row] = kept.valueAt(slot, field))));
    return {
      fields,
      count: sorted.length,
      labels: Uint8Array.from(sorted, ({ label }) => label),
      weights: Float64Array.from(sorted, ({ label, slot }) => weights[label]?.[slot] ?? 0),
      ruleLogOdds: Float64Array.from(sorted, ({ kept, slot }) => kept.ruleLogOdds[slot] ?? 0),
      columns,
    };
  }

  // A row's own pseudo-random number. A generator's next number would depend on the order of the rows.
  #priority(key: string): number {
    const { hi, lo } = hashOf(`${this.seed} ${key}`);
    return hi * 0x200000 + (lo >>> 11);
  }
}

// Keeps the rows with the lowest priorities.
class Lowest {
  seen = 0;
  readonly keys: string[] = [];
  readonly weights: number[] = [];
  readonly accounts: (string | null)[] = [];
  readonly ruleLogOdds: number[] = [];
  readonly #priorities: number[] = [];
  readonly #chunks: Float32Array[] = [];
  // Slots as a binary heap. The first is the next to be replaced.
  readonly #heap: number[] = [];
  readonly #rowsMax: number;
  readonly #width: number;

  constructor(rowsMax: number, width: number) {
    this.#rowsMax = rowsMax;
    this.#width = width;
  }

  // Returns the slot for the row, or -1 if the row is not kept.
  offer(priority: number, key: string): number {
    this.seen++;
    const { length } = this.keys;
    if (length < this.#rowsMax) {
      this.#fill(length, priority, key);
      this.#heap.push(length);
      this.#raise(length);
      return length;
    }
    const slot = this.#heap[0] ?? -1;
    if (slot < 0 || !this.#isHigher(slot, priority, key)) return -1;
    this.#fill(slot, priority, key);
    this.#sink();
    return slot;
  }

  // Each kept row also stands for rows that were not kept.
  weightsOfAll(): number[] {
    return this.weights.map((weight) => weight * (this.seen / this.keys.length));
  }

  setValue(slot: number, field: number, value: number): void {
    const chunk = (this.#chunks[Math.floor(slot / chunkRows)] ??= new Float32Array(chunkRows * this.#width));
    chunk[(slot % chunkRows) * this.#width + field] = value;
  }

  valueAt(slot: number, field: number): number {
    return this.#chunks[Math.floor(slot / chunkRows)]?.[(slot % chunkRows) * this.#width + field] ?? NaN;
  }

  #fill(slot: number, priority: number, key: string): void {
    this.#priorities[slot] = priority;
    this.keys[slot] = key;
  }

  #isHigher(slot: number, priority: number, key: string): boolean {
    const own = this.#priorities[slot] ?? 0;
    return own > priority || (own === priority && (this.keys[slot] ?? "") > key);
  }

  #isAbove(at: number, other: number): boolean {
    const slot = this.#heap[other] ?? 0;
    return this.#isHigher(this.#heap[at] ?? 0, this.#priorities[slot] ?? 0, this.keys[slot] ?? "");
  }

  #swap(one: number, other: number): void {
    const slot = this.#heap[one] ?? 0;
    this.#heap[one] = this.#heap[other] ?? 0;
    this.#heap[other] = slot;
  }

  #raise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#isAbove(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      if (left >= this.#heap.length) return;
      const larger = left + 1 < this.#heap.length && this.#isAbove(left + 1, left) ? left + 1 : left;
      if (!this.#isAbove(larger, at)) return;
      this.#swap(at, larger);
      at = larger;
    }
  }
}
