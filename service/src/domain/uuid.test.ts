import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isCanonicalUuid, uuidV7, uuidV7Floor } from "./uuid.ts";

// Use the same cases in every run.
fc.configureGlobal({ seed: 7, numRuns: 300 });

const timeMax = 2 ** 48 - 1;
const time = fc.oneof(fc.integer({ min: 0, max: timeMax }), fc.integer({ min: 0, max: 4_102_444_800_000 }));
const random = fc.uint8Array({ minLength: 10, maxLength: 10 });

function bytesOf(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll("-", ""), "hex");
}

test("uuidV7: gives canonical text with version 7, variant 10 and the time in its first 48 bits", () => {
  fc.assert(
    fc.property(time, random, (at, bytes) => {
      const uuid = uuidV7(at, bytes);
      expect(isCanonicalUuid(uuid)).toBe(true);
      expect(uuid[14]).toBe("7");
      expect(uuid[19]).toMatch(/[89ab]/);
      expect(bytesOf(uuid).readUIntBE(0, 6)).toBe(at);
    }),
  );
});

test("uuidV7: a later time sorts later, whatever the random bytes, as text and as bytes", () => {
  fc.assert(
    fc.property(time, time, random, random, (one, other, a, b) => {
      fc.pre(one !== other);
      const [earlier, later] = [uuidV7(Math.min(one, other), a), uuidV7(Math.max(one, other), b)];
      expect(earlier < later).toBe(true);
      expect(Buffer.compare(bytesOf(earlier), bytesOf(later))).toBe(-1);
    }),
  );
});

test("uuidV7: the same arguments give the same id, and every random bit that is used changes it", () => {
  const bits = fc.integer({ min: 0, max: 79 });
  fc.assert(
    fc.property(time, random, bits, (at, bytes, bit) => {
      // The version replaces four bits and the variant two. The other 74 must all count.
      fc.pre(bit >= 4 && bit !== 16 && bit !== 17);
      const changed = bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (0x80 >> (bit & 7)) : byte));
      expect(uuidV7(at, Uint8Array.from(bytes))).toBe(uuidV7(at, bytes));
      expect(uuidV7(at, changed)).not.toBe(uuidV7(at, bytes));
    }),
  );
});

test("uuidV7Floor: is not above any id of its time, and is above every id of an earlier time", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: timeMax }), random, (at, bytes) => {
      const floor = uuidV7Floor(at);
      expect(isCanonicalUuid(floor)).toBe(true);
      expect(floor <= uuidV7(at, bytes)).toBe(true);
      expect(floor > uuidV7(at - 1, bytes)).toBe(true);
      expect(floor > uuidV7(at - 1, new Uint8Array(10).fill(0xff))).toBe(true);
    }),
  );
});

test("uuidV7Floor: a time before 1970 gives the lowest id of all", () => {
  expect(uuidV7Floor(-1)).toBe("00000000-0000-0000-0000-000000000000");
  expect(uuidV7(-1, new Uint8Array(10))).toBe("00000000-0000-7000-8000-000000000000");
});

test("isCanonicalUuid: accepts only lower case, with hyphens in their places and nothing around it", () => {
  const uuid = uuidV7(1_700_000_000_000, new Uint8Array(10).fill(0xab));
  fc.assert(fc.property(fc.uuid(), isCanonicalUuid));
  const others = [
    uuid.toUpperCase(),
    uuid.replaceAll("-", ""),
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    ` ${uuid}`,
    `${uuid}\n`,
    "",
    "0",
    "UNKNOWN",
  ];
  for (const other of others) expect(isCanonicalUuid(other)).toBe(false);
});
