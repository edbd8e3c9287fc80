type Node = { next: Map<number, Node>; fallback: Node | null; untilMs: number[] };

const newNode = (): Node => ({ next: new Map(), fallback: null, untilMs: [] });

// Finds any of many parts in a text, in one pass (Aho and Corasick). The time depends on the length of the text, not on the number
// of parts, because visitors choose the text.
export class PartFinder {
  readonly #parts = new Map<string, number>();
  #root: Node | null = null;

  get size(): number {
    return this.#parts.size;
  }

  set(part: string, untilMs: number): void {
    this.#parts.set(part, untilMs);
    this.#root = null;
  }

  delete(part: string): void {
    this.#parts.delete(part);
    this.#root = null;
  }

  has(text: string, nowMs: number): boolean {
    if (this.#parts.size === 0) return false;
    this.#root ??= build(this.#parts);
    let node = this.#root;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      let next = node.next.get(unit);
      while (!next && node.fallback) {
        node = node.fallback;
        next = node.next.get(unit);
      }
      node = next ?? this.#root;
      if (node.untilMs.length > 0 && node.untilMs.some((until) => until > nowMs)) return true;
    }
    return false;
  }
}

function build(parts: ReadonlyMap<string, number>): Node {
  const root = newNode();
  for (const [part, untilMs] of parts) {
    let node = root;
    for (let at = 0; at < part.length; at++) {
      const unit = part.charCodeAt(at);
      const next = node.next.get(unit) ?? newNode();
      node.next.set(unit, next);
      node = next;
    }
    node.untilMs.push(untilMs);
  }
  // Level by level, so that a node's fallback is complete before its children need it.
  const level = [...root.next.values()];
  for (const child of level) child.fallback = root;
  for (let at = 0; at < level.length; at++) {
    const node = level[at] ?? root;
    for (const [unit, child] of node.next) {
      let from = node.fallback;
      while (from && !from.next.has(unit)) from = from.fallback;
      child.fallback = from?.next.get(unit) ?? root;
      child.untilMs.push(...child.fallback.untilMs);
      level.push(child);
    }
  }
  return root;
}
