import { array, assert, nat, property, string, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { Sketch, countOf, countUnion, exactMax, hashOf, headBytes } from "./sketch.ts";

function sketchOf(texts: Iterable<string>): Sketch {
  const sketch = new Sketch();
  for (const text of texts) sketch.add(hashOf(text));
  return sketch;
}

function numbered(count: number, seed: number | string): string[] {
  return Array.from({ length: count }, (_, index) => `${seed}-${index}`);
}

// Sets on both sides of the limit, with members in common.
const texts = tuple(array(string({ unit: "binary" }), { maxLength: 50 }), nat(1500), nat(3)).map(([some, count, seed]) => [
  ...some,
  ...numbered(count, seed),
]);

test("sketch: the count is exact up to 1,024 members, however often each was added", () => {
  assert(
    property(array(string({ unit: "binary", maxLength: 5 }), { maxLength: 1000 }), (given) => {
      expect(sketchOf([...given, ...given.toReversed()]).count()).toBe(new Set(given).size);
    }),
  );
  expect(sketchOf(numbered(exactMax, "user")).count()).toBe(1024);
});

test("sketch: 1,025 members are counted as more than 1,024, and within 5 %", () => {
  const count = sketchOf(numbered(exactMax + 1, "user")).count();
  expect(count).toBeGreaterThan(exactMax);
  expect(count).toBeLessThan(1.05 * exactMax);
});

describe.each([2_000, 10_000, 20_000, 100_000, 400_000])("sketch of %i", (size) => {
  test.each(["user", "9f3c", "7", "device-", "\u{1f43e}"])("members named by %s: the count is within 5 %", (seed) => {
    const error = sketchOf(numbered(size, seed)).count() / size - 1;
    expect(Math.abs(error)).toBeLessThan(0.05);
  });
});

test("sketch: add returns whether the encoded form changed", () => {
  assert(
    property(texts, string(), (given, one) => {
      const sketch = sketchOf(given);
      const before = sketch.encode();
      const hasChanged = sketch.add(hashOf(one));
      expect(hasChanged).toBe(Buffer.compare(before, sketch.encode()) !== 0);
    }),
    { numRuns: 50 },
  );
});

test("sketch: the order of members does not change a byte", () => {
  assert(
    property(texts, (given) => {
      expect(sketchOf(given.toReversed()).encode()).toEqual(sketchOf(given).encode());
    }),
    { numRuns: 50 },
  );
});

test("sketch: a union equals the sketch of the united sets, whatever their sizes", () => {
  assert(
    property(array(texts, { maxLength: 4 }), (sets) => {
      const whole = sketchOf(sets.flat());
      const united = new Sketch();
      for (const set of sets) united.union(sketchOf(set));
      expect(united.encode()).toEqual(whole.encode());
      expect(countUnion(sets.map((set) => sketchOf(set).encode()))).toBe(whole.count());
    }),
    { numRuns: 50 },
  );
});

test("sketch: decoding an encoded sketch gives the same sketch, which continues the same way", () => {
  assert(
    property(texts, texts, (given, more) => {
      const encoded = sketchOf(given).encode();
      const decoded = Sketch.decode(encoded);
      expect(decoded.encode()).toEqual(encoded);
      for (const text of more) decoded.add(hashOf(text));
      expect(decoded.encode()).toEqual(sketchOf([...given, ...more]).encode());
    }),
    { numRuns: 50 },
  );
});

test("sketch: the count can be read from the first bytes alone", () => {
  for (const size of [0, 1, 7, 1024, 1025, 50_000]) {
    const sketch = sketchOf(numbered(size, "user"));
    expect(countOf(sketch.encode().subarray(0, headBytes))).toBe(sketch.count());
  }
});

test("sketch: takes no bytes when empty, 8 kB at 1,024 members and 3 kB beyond", () => {
  const sizes = [0, 1, 1024, 1025, 50_000].map((size) => sketchOf(numbered(size, "user")).encode().length);
  expect(sizes).toEqual([0, 13, 8197, 3077, 3077]);
});

test("sketch: decodes from the middle of a buffer, and rejects truncated bytes and unknown kinds", () => {
  for (const size of [3, 2000]) {
    const encoded = sketchOf(numbered(size, "user")).encode();
    const within = Buffer.concat([Buffer.from("xyz"), encoded, Buffer.from("xyz")]).subarray(3, 3 + encoded.length);
    expect(Sketch.decode(within).encode()).toEqual(encoded);
    expect(() => Sketch.decode(encoded.subarray(0, -1))).toThrow("the sketch cannot be decoded");
    expect(() => Sketch.decode(encoded.subarray(0, headBytes))).toThrow("the sketch cannot be decoded");
    expect(() => Sketch.decode(Uint8Array.of(9, ...encoded.subarray(1)))).toThrow("the sketch cannot be decoded");
  }
});

test("sketch: 200,000 short and similar texts have distinct hashes, and each half collides little more than by chance", () => {
  const all = ["", "a:", "d:", "s:"].flatMap((kind) => numbered(50_000, kind)).map((text) => hashOf(text));
  expect(new Set(all.map(({ hi, lo }) => `${hi} ${lo}`)).size).toBe(all.length);
  // By chance, 200,000 values of 32 bits have about 4.7 colliding pairs.
  expect(all.length - new Set(all.map(({ hi }) => hi)).size).toBeLessThan(20);
  expect(all.length - new Set(all.map(({ lo }) => lo)).size).toBeLessThan(20);
});
