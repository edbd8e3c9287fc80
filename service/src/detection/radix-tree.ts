import type { IpRange } from "../domain/ip-range.ts";

type Node = IpRange & {
  // When the entry expires, in milliseconds; null if the node only joins its children.
  untilMs: number | null;
  children: [Node | null, Node | null];
};

// Blocks of addresses of one family, in a binary tree whose nodes are the prefixes that blocks share. A lookup takes at most one
// step per bit, however many blocks there are.
export class RadixTree {
  #root: Node | null = null;

  set({ bytes, bits }: IpRange, untilMs: number): void {
    this.#root = this.#insert(this.#root, { bytes, bits, untilMs, children: [null, null] });
  }

  // A node that joins others may stay behind. It matches nothing.
  delete(range: IpRange): void {
    for (let node = this.#root; node && node.bits <= range.bits; node = node.children[bitOf(range.bytes, node.bits)]) {
      if (node.bits !== range.bits) continue;
      if (sharedBits(node, range) === range.bits) node.untilMs = null;
      return;
    }
  }

  // Whether a block that has not expired contains the address, or the whole block of these first bits.
  has(bytes: Uint8Array, nowMs: number, bits = bytes.length * 8): boolean {
    const wanted = { bytes, bits };
    for (let node = this.#root; node && sharedBits(node, wanted) === node.bits;) {
      if (node.untilMs !== null && node.untilMs > nowMs) return true;
      if (node.bits === bits) return false;
      node = node.children[bitOf(bytes, node.bits)];
    }
    return false;
  }

  #insert(node: Node | null, added: Node): Node {
    if (!node) return added;
    const shared = sharedBits(node, added);
    if (shared === node.bits && shared === added.bits) {
      node.untilMs = added.untilMs;
      return node;
    }
    if (shared === node.bits) {
      const side = bitOf(added.bytes, shared);
      node.children[side] = this.#insert(node.children[side], added);
      return node;
    }
    if (shared === added.bits) {
      added.children[bitOf(node.bytes, shared)] = node;
      return added;
    }
    const joining: Node = { bytes: added.bytes, bits: shared, untilMs: null, children: [null, null] };
    joining.children[bitOf(node.bytes, shared)] = node;
    joining.children[bitOf(added.bytes, shared)] = added;
    return joining;
  }
}

function bitOf(bytes: Uint8Array, index: number): 0 | 1 {
  return (((bytes[index >> 3] ?? 0) >> (7 - (index & 7))) & 1) === 1 ? 1 : 0;
}

// The number of leading bits that both have in common.
function sharedBits(one: IpRange, other: IpRange): number {
  const most = Math.min(one.bits, other.bits);
  for (let byte = 0; byte * 8 < most; byte++) {
    const differing = (one.bytes[byte] ?? 0) ^ (other.bytes[byte] ?? 0);
    if (differing !== 0) return Math.min(byte * 8 + Math.clz32(differing) - 24, most);
  }
  return most;
}
