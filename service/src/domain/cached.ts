// Caches the results of a pure function. When it is full, the oldest result is dropped.
export class Cached<T> {
  readonly #known = new Map<string, T>();
  readonly #make: (key: string) => T;
  readonly #max: number;

  constructor(max: number, make: (key: string) => T) {
    this.#max = max;
    this.#make = make;
  }

  get(key: string): T {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = this.#make(key);
    if (this.#known.size >= this.#max) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    this.#known.set(key, made);
    return made;
  }
}
