import { isIP } from "node:net";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, rangeOf, textOf } from "./ip-range.ts";

test("bytesOf: reads exactly the texts that are addresses", () => {
  const piece = fc.constantFrom("0", "1", "255", "256", "01", "ffff", "abcd", "G", ":", "::", ".", "/", " ", "%eth0");
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(text, (ip) => {
      expect(bytesOf(ip) !== null).toBe(isIP(ip) !== 0 && !ip.includes("%"));
    }),
    { numRuns: 3_000 },
  );
});

test("bytesOf: every spelling of an address gives the same bytes", () => {
  for (const spelling of ["2001:db8::1", "2001:DB8:0:0:0:0:0:1", "2001:0db8::0001", "2001:db8::0.0.0.1"]) {
    expect(textOf(bytesOf(spelling) ?? new Uint8Array())).toBe("2001:db8:0:0:0:0:0:1");
  }
  expect(textOf(bytesOf("::ffff:203.0.113.9") ?? new Uint8Array())).toBe("203.0.113.9");
  expect(textOf(bytesOf("::ffff:cb00:7109") ?? new Uint8Array())).toBe("203.0.113.9");
});

test("rangeOf: accepts blocks, and refuses bits after the prefix with the block that was meant", () => {
  expect(rangeOf("203.0.113.0/24")).toEqual({ bytes: Uint8Array.of(203, 0, 113, 0), bits: 24 });
  expect(rangeOf("203.0.113.7")).toEqual({ bytes: Uint8Array.of(203, 0, 113, 7), bits: 32 });
  expect(rangeOf("203.0.113.7/24")).toEqual({ problem: "has bits set after its prefix; the block is 203.0.113.0/24" });
  expect(rangeOf("203.0.113.129/25")).toMatchObject({ problem: expect.stringContaining("203.0.113.128/25") });
  expect(rangeOf("2001:db8::1/32")).toMatchObject({ problem: expect.stringContaining("2001:db8:0:0:0:0:0:0/32") });
  for (const wrong of ["203.0.113.0/33", "203.0.113.0/-1", "203.0.113.0/", "203.0.113.0/24/24", "2001:db8::/129", "/24", "x/8"]) {
    expect(rangeOf(wrong), wrong).toHaveProperty("problem");
  }
});
