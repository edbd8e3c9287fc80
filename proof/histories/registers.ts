import type { Change, Value } from "./history.ts";

type Spans = { starts: number[]; ends: number[] };

// Which value every register had at each position in the log. A position includes all changes up to it.
export class Registers {
  readonly #spans = new Map<string, Map<Value, Spans>>();

  constructor(changes: Change[]) {
    const current = new Map<string, Spans[]>();
    for (const { visibleAt, sets } of changes.toSorted((a, b) => a.visibleAt - b.visibleAt)) {
      for (const { register, value, orElse = [] } of sets) {
        for (const { ends } of current.get(register) ?? []) ends[ends.length - 1] = visibleAt - 1;
        const opened = [...new Set([value, ...orElse])].map((each) => this.#spansOf(register, each));
        for (const { starts, ends } of opened) {
          starts.push(visibleAt);
          ends.push(Infinity);
        }
        current.set(register, opened);
      }
    }
  }

  // The first position from `from` on at which the register has the value, or Infinity if there is none.
  next(register: string, value: Value, from: number): number {
    const spans = this.#spans.get(register)?.get(value);
    if (!spans) return Infinity;
    const { starts, ends } = spans;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return Math.max(from, starts[low] ?? Infinity);
  }

  #spansOf(register: string, value: Value): Spans {
    const values = this.#spans.get(register) ?? new Map<Value, Spans>();
    this.#spans.set(register, values);
    const spans = values.get(value) ?? { starts: [], ends: [] };
    values.set(value, spans);
    return spans;
  }
}
