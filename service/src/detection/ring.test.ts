import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ringSize } from "./catalogue.ts";
import { claimBit, countryNumber, Ring, type RingEntry } from "./ring.ts";

const base = Date.UTC(2026, 4, 1);
const dayMs = 24 * 60 * 60 * 1000;
const noise = 64;
const entry = (at: number, kind: number): RingEntry => ({ at: base + at, kind, peer: at + 1, address: 1, country: 0 });

test("countries: every pair of letters has its own number, and anything else has 0", () => {
  const letters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const numbers = new Set(letters.flatMap((first) => letters.map((second) => countryNumber(first + second))));
  expect(numbers.size).toBe(676);
  expect(Math.max(...numbers)).toBeLessThan(2 ** 16);
  expect(["", "D", "DEU"].map(countryNumber)).toEqual([0, 0, 0]);
});

test("ring: yielding kinds are dropped first as long as the others fill at most half of it", () => {
  const ring = Ring.empty();
  for (let at = 0; at < 10; at++) ring.add(entry(at, 2), noise);
  for (let at = 10; at < 500; at++) ring.add(entry(at, noise), noise);
  expect(ring.length).toBe(ringSize);
  expect(ring.count(base + 499, dayMs, 2, "peer")).toBe(10);
  for (let at = 500; at < 540; at++) ring.add(entry(at, 2), noise);
  // The 40 newest of the 50 stay, because they are newer than every page. At least half of the ring is reserved for their kind.
  expect(ring.count(base + 539, dayMs, 2)).toBeGreaterThanOrEqual(ringSize / 2);
  expect(ring.count(base + 539, 40, 2)).toBe(40);
  for (let at = 540; at < 900; at++) ring.add(entry(at, noise), noise);
  expect(ring.count(base + 899, dayMs, 2)).toBe(ringSize / 2);
  expect(ring.count(base + 899, dayMs, noise)).toBe(ringSize / 2);
});

test("ring: entries a day older than the newest are dropped first, whatever their kind", () => {
  const ring = Ring.empty();
  for (let at = 0; at < ringSize; at++) ring.add(entry(at, 2), noise);
  for (let at = 0; at < ringSize; at++) ring.add(entry(dayMs + ringSize + at, noise), noise);
  expect(ring.count(base + dayMs + 2 * ringSize, dayMs, noise)).toBe(ringSize);
});

test("ring: a late event of another kind replaces one of a yielding kind", () => {
  const ring = Ring.empty();
  for (let at = 100; at < 100 + ringSize; at++) ring.add(entry(at, noise), noise);
  ring.add(entry(1, noise), noise);
  expect(ring.count(base + 1, dayMs, noise, "peer")).toBe(ringSize);
  ring.add(entry(2, 2), noise);
  expect([ring.length, ring.count(base + 2, 10, 2), ring.count(base + 300, dayMs, noise)]).toEqual([ringSize, 1, ringSize - 1]);
});

test("ring: claims make room for everything else, and replace only other claims", () => {
  const ring = Ring.empty();
  for (let at = 0; at < 40; at++) ring.add(entry(at, 2), noise);
  for (let at = 100; at < 1000; at++) ring.add(entry(at, 2 | claimBit), noise);
  expect([ring.length, ring.count(base + 1000, dayMs, 2, "peer", claimBit)]).toEqual([ringSize, 40]);
  for (let at = 1000; at < 1024; at++) ring.add(entry(at, 2), noise);
  expect(ring.count(base + 1024, dayMs, claimBit)).toBe(0);
  ring.add(entry(1100, 2 | claimBit), noise);
  expect([ring.count(base + 1100, dayMs, 2), ring.count(base + 1100, dayMs, claimBit)]).toEqual([ringSize, 0]);
});

test("ring: claims replace only entries that no window reaches any more, with tolerance for a clock that runs ahead", () => {
  const ring = Ring.empty();
  for (let at = 0; at < ringSize; at++) ring.add(entry(at, 2), noise);
  const tenMinutes = 10 * 60_000;
  ring.add(entry(dayMs + tenMinutes, 2 | claimBit), noise);
  expect(ring.count(base + dayMs + tenMinutes, dayMs, claimBit)).toBe(0);
  ring.add(entry(dayMs + tenMinutes + 1, 2 | claimBit), noise);
  expect(ring.count(base + dayMs + tenMinutes + 1, dayMs, claimBit)).toBe(1);
});

test("ring: many tries on one account do not push out tries on many accounts, whatever device or address they use", () => {
  for (const address of [() => 1, (at: number) => at + 1]) {
    const ring = Ring.empty();
    let at = 0;
    for (let account = 1; account <= 30; account++) {
      for (let own = 0; own < 20; own++) ring.add({ ...entry(at++, 2), peer: 999, address: address(at) }, noise);
      ring.add({ ...entry(at++, 2), peer: account }, noise);
    }
    expect(ring.count(base + at, dayMs, 2, "peer")).toBe(31);
    expect(ring.count(base + at, dayMs, 2)).toBe(ringSize);
  }
});

test("ring: many tries from one address do not push out those from other addresses", () => {
  const ring = Ring.empty();
  let at = 0;
  for (let address = 1; address <= 6; address++) {
    for (let own = 0; own < 40; own++) ring.add({ ...entry(at++, 2), peer: 0, address: 999 }, noise);
    ring.add({ ...entry(at++, 2), peer: 0, address }, noise);
  }
  expect(ring.count(base + at, dayMs, 2, "address")).toBe(7);
});

// The same rules, written plainly.
function addPlainly(entries: RingEntry[], added: RingEntry): RingEntry[] {
  const after = entries.findIndex(({ at }) => at > added.at);
  const all = entries.toSpliced(after === -1 ? entries.length : after, 0, added);
  if (all.length <= ringSize) return all;
  const isOld = (all[0]?.at ?? 0) <= (all.at(-1)?.at ?? 0) - dayMs;
  const first = all.findIndex(({ kind }) => (kind & noise) !== 0);
  const others = all.filter(({ kind }) => (kind & noise) === 0).length;
  return all.toSpliced(isOld || first === -1 || others > ringSize / 2 ? 0 : first, 1);
}

test("ring: keeps the right entries, whatever arrives in whatever order", () => {
  const hourMs = 60 * 60 * 1000;
  const time = fc.oneof(fc.integer({ min: 0, max: 30 }), fc.nat(60)).map((hours) => hours * hourMs);
  const events = fc.array(fc.tuple(time, fc.constantFrom(1, 2, noise, noise, noise)), {
    minLength: 65,
    maxLength: 250,
    size: "max",
  });
  const property = fc.property(events, (all) => {
    const ring = Ring.empty();
    let plain: RingEntry[] = [];
    for (const [index, [at, kind]] of all.entries()) {
      const added = { ...entry(at, kind), peer: index + 1 };
      ring.add(added, noise);
      plain = addPlainly(plain, added);
    }
    const newest = plain.at(-1)?.at ?? base;
    for (const windowMs of [hourMs, 5 * hourMs, dayMs, 100 * hourMs]) {
      for (const kinds of [1, 2, noise]) {
        const wanted = plain.filter(({ at, kind }) => at > newest - windowMs && (kind & kinds) !== 0).length;
        expect(ring.count(newest, windowMs, kinds, "peer")).toBe(wanted);
      }
    }
  });
  fc.assert(property, { numRuns: 200 });
});
