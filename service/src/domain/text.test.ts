import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseTime, shownTime } from "./text.ts";

const part = (max: number, digits = 2) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(digits, "0"));
const fractions = fc.oneof(fc.constant(""), fc.stringMatching(/^\.\d{1,9}$/));
const times = fc
  .tuple(part(9999, 4), part(13), part(32), part(25), part(61), part(61), fractions)
  .map(([year, month, day, hour, minute, second, fraction]) => `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}Z`);

test("times: a valid time prints as it was read, to the millisecond, and anything else is rejected", () => {
  fc.assert(
    fc.property(times, (text) => {
      const exact = shownTime(text);
      const ms = Date.parse(exact);
      const isTime = !text.startsWith("0000") && !Number.isNaN(ms) && new Date(ms).toISOString() === exact;
      expect(parseTime(text)).toBe(isTime ? ms : null);
    }),
    { seed: 7, numRuns: 5_000 },
  );
});

test.each([
  ["2026-02-28T23:59:59Z", "2026-02-28T23:59:59.000Z"],
  ["2026-02-28T23:59:59.5Z", "2026-02-28T23:59:59.500Z"],
  ["2026-02-28T23:59:59.123456789Z", "2026-02-28T23:59:59.123Z"],
])("times: shows %s as %s", (text, shown) => {
  expect(shownTime(text)).toBe(shown);
});
