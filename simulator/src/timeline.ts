// A queue of future items, earliest first. Ties keep their order of insertion, so a run can be repeated exactly.
export class Timeline<T> {
  readonly #heap: { atMs: number; order: number; item: T }[] = [];
  #added = 0;

  get size(): number {
    return this.#heap.length;
  }

  get nextMs(): number {
    return this.#heap[0]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  add(atMs: number, item: T): void {
    const heap = this.#heap;
    const entry = { atMs, order: this.#added++, item };
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  take(): { atMs: number; item: T } | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      let smaller = left;
      if (right !== undefined && isBefore(right, left)) {
        smaller = right;
        child++;
      }
      if (!isBefore(smaller, last)) break;
      heap[index] = smaller;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(a: { atMs: number; order: number }, b: { atMs: number; order: number }): boolean {
  return a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs;
}
