import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RadixTree } from "./radix-tree.ts";

// Few bits differ, so that blocks are often inside each other.
const block = fc.record({
  first: fc.integer({ min: 0, max: 15 }),
  last: fc.integer({ min: 0, max: 255 }),
  bits: fc.integer({ min: 4, max: 32 }),
});
type Block = { first: number; last: number; bits: number };

function rangeOf({ first, last, bits }: Block): { bytes: Uint8Array; bits: number } {
  const mask = bits === 32 ? 0xffffffff : ~(0xffffffff >>> bits);
  const number = ((first << 24) | (last << 16) | last) & mask;
  return { bytes: Uint8Array.of(number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255), bits };
}

const bit = (from: Uint8Array, index: number) => ((from[index >> 3] ?? 0) >> (7 - (index & 7))) & 1;

function contains(range: { bytes: Uint8Array; bits: number }, bytes: Uint8Array): boolean {
  return Array.from({ length: range.bits }, (_, index) => index).every((index) => bit(range.bytes, index) === bit(bytes, index));
}

test("radix tree: finds an address exactly if a block that was set, not deleted and has not expired contains it", () => {
  const step = fc.record({ block, isSet: fc.boolean(), untilMs: fc.integer({ min: 0, max: 3 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.array(block, { maxLength: 20 }), (steps, looked) => {
      const tree = new RadixTree();
      const known = new Map<string, { range: ReturnType<typeof rangeOf>; untilMs: number }>();
      for (const { block: given, isSet, untilMs } of steps) {
        const range = rangeOf(given);
        const key = `${range.bytes.join(".")}/${range.bits}`;
        if (isSet) tree.set(range, untilMs);
        else tree.delete(range);
        if (isSet) known.set(key, { range, untilMs });
        else known.delete(key);
      }
      for (const { bytes } of [...looked, ...steps.map((each) => each.block)].map(rangeOf)) {
        for (const nowMs of [0, 1, 2]) {
          const isFound = [...known.values()].some(({ range, untilMs }) => untilMs > nowMs && contains(range, bytes));
          expect(tree.has(bytes, nowMs)).toBe(isFound);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("radix tree: a block is found only if another contains all of it", () => {
  const tree = new RadixTree();
  tree.set({ bytes: Uint8Array.of(10, 1, 0, 0), bits: 16 }, Infinity);
  expect(tree.has(Uint8Array.of(10, 1, 2, 0), 0, 24)).toBe(true);
  expect(tree.has(Uint8Array.of(10, 1, 0, 0), 0, 16)).toBe(true);
  expect(tree.has(Uint8Array.of(10, 0, 0, 0), 0, 8)).toBe(false);
});
