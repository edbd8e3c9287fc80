import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ringSize } from "./catalogue.ts";
import { countryNumber, Ring, type RingEntry } from "./ring.ts";

const runs = { numRuns: 400 };
const base = Date.UTC(2026, 4, 1);
const columns = [undefined, "peer", "address", "country"] as const;
type Column = (typeof columns)[number];
type Asked = { at: number; windowMs: number; kinds: number; column: Column };

// The definition, evaluated millisecond by millisecond: the fullest window of that length that contains `at`. A window that ends
// after the newest event contains no more than one that ends with it.
function bruteForce(events: RingEntry[], { at, windowMs, kinds, column }: Asked): number {
  const newest = Math.max(...events.map((event) => event.at));
  let most = 0;
  for (let end = at; end < at + windowMs && end <= Math.max(at, newest); end++) {
    const inside = events
      .filter((event) => event.at > end - windowMs && event.at <= end)
      .filter((event) => kinds === 0 || (event.kind & kinds) !== 0);
    const values = new Set(inside.map((event) => (column === undefined ? 0 : event[column])).filter((value) => value !== 0));
    most = Math.max(most, column === undefined ? inside.length : values.size);
  }
  return most;
}

// Few values and a short period, so that events coincide in every way.
const entry = fc.record({
  at: fc.nat(60).map((ms) => base + ms),
  kind: fc.constantFrom(1, 2, 4, 33, 34, 64),
  peer: fc.constantFrom(0, 1, 2, 0xffff_ffff),
  address: fc.constantFrom(0, 1, 2, 0xff_ffff),
  country: fc.constantFrom(0, 0x4445, 0x4652),
});
const question = fc.record({
  windowMs: fc.integer({ min: 1, max: 70 }),
  kinds: fc.constantFrom(0, 1, 2, 6, 32),
  column: fc.constantFrom(...columns),
});

// Encodes and decodes after every event, as between two batches.
function addThroughBytes(ring: Ring, added: RingEntry): Ring {
  ring.add(added);
  return Ring.decode(ring.encode());
}

test(`ring: in whatever order up to ${ringSize} events arrive, every window count equals brute force`, () => {
  const property = fc.property(fc.array(entry, { minLength: 1, maxLength: ringSize }), question, (events, asked) => {
    let ring = Ring.empty();
    for (const [index, added] of events.entries()) {
      ring = addThroughBytes(ring, added);
      const wanted = bruteForce(events.slice(0, index + 1), { ...asked, at: added.at });
      expect(ring.count(added.at, asked.windowMs, asked.kinds, asked.column)).toBe(wanted);
    }
  });
  fc.assert(property, runs);
});

test("ring: the newest event counts the window that ends with it, and the window's start is exclusive", () => {
  const ring = Ring.empty();
  const other = { kind: 2, peer: 1, address: 1, country: 1 };
  for (const at of [base, base + 1, base + 10]) ring.add({ ...other, at });
  expect(ring.count(base + 10, 10, 0)).toBe(2);
  expect(ring.count(base + 10, 11, 0)).toBe(3);
  expect(ring.count(base + 10, 10, 2, "peer")).toBe(1);
});

test("ring: a late event counts its burst on both sides, and only windows that contain it", () => {
  const ring = Ring.empty();
  const other = { kind: 2, address: 1, country: 1 };
  const times = [0, 40, 45, 50, 200, 201, 202, 203];
  for (const [peer, ms] of times.entries()) ring.add({ ...other, at: base + ms, peer: peer + 1 });
  ring.add({ ...other, at: base + 47, peer: 99 });
  expect(ring.count(base + 47, 20, 0, "peer")).toBe(4);
  expect(ring.count(base + 47, 3, 0, "peer")).toBe(2);
});

// What a full ring should contain: the newest events by time and, at equal times, those that arrived last.
function newestOf(events: RingEntry[]): RingEntry[] {
  const inOrder = events
    .map((event, index) => ({ event, index }))
    .toSorted((a, b) => a.event.at - b.event.at || a.index - b.index);
  return inOrder.slice(-ringSize).map(({ event }) => event);
}

test(`ring: beyond ${ringSize} events it counts the newest ${ringSize} exactly, and never more than there were`, () => {
  const many = fc.array(entry, { minLength: ringSize + 1, maxLength: 3 * ringSize, size: "max" });
  const property = fc.property(many, question, (events, asked) => {
    let ring = Ring.empty();
    for (const added of events) ring = addThroughBytes(ring, added);
    expect(ring.length).toBe(ringSize);
    for (const at of new Set([events.at(-1)?.at ?? base, base, base + 30, base + 60])) {
      const counted = ring.count(at, asked.windowMs, asked.kinds, asked.column);
      expect(counted).toBe(bruteForce(newestOf(events), { ...asked, at }));
      expect(counted).toBeLessThanOrEqual(bruteForce(events, { ...asked, at }));
    }
  });
  fc.assert(property, { numRuns: 60 });
});

test("ring: among any number of yielding events, half a ring of others is counted exactly, and nothing is overcounted", () => {
  const yielding = 64;
  const others = fc
    .array(entry, { maxLength: ringSize / 2 })
    .map((all) => all.map((each) => ({ ...each, kind: each.kind & 63 || 2 })));
  const many = fc
    .array(entry, { minLength: ringSize, maxLength: 2 * ringSize, size: "max" })
    .map((all) => all.map((each) => ({ ...each, kind: yielding })));
  const order = fc.infiniteStream(fc.nat());
  const property = fc.property(others, many, order, question, (kept, flood, ranks, asked) => {
    const ranked = [...kept, ...flood].map((event) => ({ event, rank: Number(ranks.next().value) }));
    const events = ranked.toSorted((a, b) => a.rank - b.rank).map(({ event }) => event);
    let ring = Ring.empty();
    for (const added of events) {
      ring.add(added, yielding);
      ring = Ring.decode(ring.encode());
    }
    for (const at of [base, base + 30, base + 60]) {
      const all = { ...asked, at, kinds: 0 };
      expect(ring.count(at, asked.windowMs, 63, asked.column)).toBe(bruteForce(kept, all));
      expect(ring.count(at, asked.windowMs, 0, asked.column)).toBeLessThanOrEqual(bruteForce(events, all));
    }
  });
  fc.assert(property, { numRuns: 60 });
});

test("ring: a window with more events than the ring holds stays at the ring's size", () => {
  const ring = Ring.empty();
  for (let n = 1; n <= 5 * ringSize; n++) {
    ring.add({ at: base + n, kind: 2, peer: n, address: n, country: 1 });
    const wanted = Math.min(n, ringSize);
    const counted = [undefined, "peer" as const, "address" as const].map((column) => ring.count(base + n, 3_600_000, 2, column));
    expect(counted).toEqual([wanted, wanted, wanted]);
  }
});

test("ring: accepts an event of any year, which does not change any window of present events", () => {
  const odd = fc.constantFrom(Date.UTC(2019, 11, 31), -62_135_596_800_000, 0, 253_402_300_799_999, Date.UTC(2080, 0, 1));
  const property = fc.property(
    fc.array(odd, { maxLength: 20 }),
    fc.array(entry, { maxLength: 20 }),
    question,
    (times, events, asked) => {
      let ring = Ring.empty();
      for (const at of times) ring = addThroughBytes(ring, { at, kind: 127, peer: 7, address: 7, country: 7 });
      for (const added of events) ring = addThroughBytes(ring, added);
      for (const { at } of events) {
        expect(ring.count(at, asked.windowMs, asked.kinds, asked.column)).toBe(bruteForce(events, { ...asked, at }));
      }
      for (const at of times) expect(ring.count(at, asked.windowMs, 0)).toBeLessThanOrEqual(times.length);
    },
  );
  fc.assert(property, runs);
});

test("ring: windows from 2000 on are as exact as today's", () => {
  for (const year of [2000, 2015, 2019, 2020]) {
    const start = Date.UTC(year, 11, 31, 23, 30);
    let ring = Ring.empty();
    for (const minute of [50, 0, 40, 10, 20]) {
      const at = start + minute * 60_000;
      ring = addThroughBytes(ring, { at, kind: 2, peer: minute + 1, address: 1, country: countryNumber("ZZ") });
    }
    const end = start + 50 * 60_000;
    expect(ring.count(end, 3_600_000, 2, "peer"), String(year)).toBe(5);
    expect(ring.count(end, 11 * 60_000, 2, "peer")).toBe(2);
    expect(ring.count(end, 3_600_000, 2, "country")).toBe(1);
  }
});

test("ring: entries that were stored before the ring supported times before 2020 read the same", () => {
  // One log-in in May 2026 from Germany, in the old format: time, kind, peer, address, country.
  const stored = Buffer.from("2e8c1c000001000000070000094445", "hex");
  const at = Date.UTC(2020, 0, 1) + 0x2e8c1c0000;
  const ring = Ring.decode(stored);
  expect(ring.count(at, 60_000, 1)).toBe(1);
  ring.add({ at: Date.UTC(2019, 5, 1), kind: 1, peer: 8, address: 9, country: countryNumber("DE") });
  expect(ring.count(at, 60_000, 1)).toBe(1);
  expect(Buffer.from(ring.encode()).subarray(15).equals(stored)).toBe(true);
});
