// Caches the results of a pure function: the last `max` / 2 of them at least, and `max` at most.
export class Cached<T> {
  // The newer half and the older half. Deleting the oldest key of one map instead takes longer and longer, because V8 keeps the
  // places of deleted keys for a while and passes over them.
  #newer = new Map<string, T>();
  #older = new Map<string, T>();
  readonly #make: (key: string) => T;
  readonly #halfMax: number;

  constructor(max: number, make: (key: string) => T) {
    this.#halfMax = Math.ceil(max / 2);
    this.#make = make;
  }

  get(key: string): T {
    const known = this.#newer.get(key);
    if (known !== undefined) return known;
    const result = this.#older.get(key) ?? this.#make(key);
    if (this.#newer.size >= this.#halfMax) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, result);
    return result;
  }
}
