import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addWorkingTime, type WorkingHours } from "./business-hours.ts";

const office: WorkingHours = { days: [1, 2, 3, 4, 5], daysOff: [], startMinute: 9 * 60, endMinute: 17 * 60 };
const always: WorkingHours = { days: [1, 2, 3, 4, 5, 6, 7], daysOff: [], startMinute: 0, endMinute: 24 * 60 };

function due(from: string, hours: number, more: { hours?: WorkingHours; zone?: string } = {}): string {
  const at = addWorkingTime(Date.parse(from), hours * 3_600_000, { hours: office, zone: "Europe/Berlin", ...more });
  return new Date(at).toISOString();
}

test.each([
  ["within a day", "2026-11-18T09:00:00.000Z", 4, "2026-11-18T13:00:00.000Z"],
  ["from before the start", "2026-11-18T02:00:00.000Z", 4, "2026-11-18T12:00:00.000Z"],
  ["exactly to the end of a day", "2026-11-18T08:00:00.000Z", 8, "2026-11-18T16:00:00.000Z"],
  ["over night", "2026-11-18T15:30:00.000Z", 1, "2026-11-19T08:30:00.000Z"],
  ["over a weekend", "2026-11-20T15:30:00.000Z", 2, "2026-11-23T09:30:00.000Z"],
  ["from a weekend", "2026-11-21T12:00:00.000Z", 1, "2026-11-23T09:00:00.000Z"],
  ["from the very end of a day", "2026-11-18T16:00:00.000Z", 1, "2026-11-19T09:00:00.000Z"],
])("working time: %s", (_, from, hours, expected) => {
  expect(due(from, hours)).toBe(expected);
});

test("working time: the offset of the day counts, before and after the clocks change", () => {
  // Clocks go back on Sunday, 25 October 2026: 9:00 is 7:00 UTC on Friday and 8:00 UTC on Monday.
  expect(due("2026-10-23T14:00:00.000Z", 2)).toBe("2026-10-26T09:00:00.000Z");
  // Clocks go forward on Sunday, 28 March 2027.
  expect(due("2027-03-26T15:00:00.000Z", 2)).toBe("2027-03-29T08:00:00.000Z");
});

test("working time: a day on which the clocks change has 23 or 25 hours", () => {
  const berlin = { hours: always };
  expect(due("2027-03-27T23:00:00.000Z", 24, berlin)).toBe("2027-03-28T23:00:00.000Z");
  expect(due("2026-10-24T22:00:00.000Z", 25, berlin)).toBe("2026-10-25T23:00:00.000Z");
  const night: WorkingHours = { days: [7], daysOff: [], startMinute: 2 * 60, endMinute: 4 * 60 };
  // From 2:00 to 4:00, only one hour passes in spring, and three in autumn.
  expect(due("2027-03-27T23:00:00.000Z", 1, { hours: night })).toBe("2027-03-28T02:00:00.000Z");
  expect(due("2026-10-24T22:00:00.000Z", 3, { hours: night })).toBe("2026-10-25T03:00:00.000Z");
});

const zones = ["UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "Asia/Kathmandu"];
const oddZones = ["Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "America/Havana", "Africa/Casablanca"];
const quarterMs = 15 * 60_000;
const [firstMs, lastMs] = [Date.parse("2026-01-01T00:00:00Z"), Date.parse("2027-12-01T00:00:00Z")];
const froms = fc.integer({ min: firstMs / quarterMs, max: lastMs / quarterMs }).map((quarters) => quarters * quarterMs);
const zone = fc.constantFrom(...zones, ...oddZones);
const days = fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 });
const daysOff = fc.constantFrom([], ["2026-03-30", "2026-12-24", "2026-12-25"]);

function hoursWithin(startMinute: number, endMinute: number) {
  const [least, most] = [startMinute / 15, endMinute / 15];
  return fc
    .tuple(days, daysOff, fc.integer({ min: least, max: most - 4 }), fc.integer({ min: 4, max: most }))
    .map(([days, daysOff, start, length]): WorkingHours => ({
      days,
      daysOff,
      startMinute: start * 15,
      endMinute: Math.min(start + length, most) * 15,
    }));
}

// Counts every quarter of an hour in which the wall clock shows working time.
function counted(from: number, workMs: number, { hours, zone }: { hours: WorkingHours; zone: string }): number {
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  let left = workMs / quarterMs;
  for (let at = from; ; at += quarterMs) {
    if (left === 0) return at;
    const [date = "", time = ""] = clock.format(at).split(" ");
    const [hour = 0, minute = 0] = time.split(":").map(Number);
    const isDay = hours.days.includes(new Date(date).getUTCDay() || 7) && !hours.daysOff.includes(date);
    const wall = hour * 60 + minute;
    if (isDay && wall >= hours.startMinute && wall < hours.endMinute) left--;
  }
}

// Clocks change at night. There, a count of what the clock shows would count an hour twice.
test("working time: in every zone, it equals a count of quarter hours", () => {
  const quarters = fc.integer({ min: 1, max: 60 });
  const property = fc.property(froms, quarters, hoursWithin(5 * 60, 22 * 60), zone, (from, work, hours, zone) => {
    expect(addWorkingTime(from, work * quarterMs, { hours, zone })).toBe(counted(from, work * quarterMs, { hours, zone }));
  });
  fc.assert(property, { numRuns: 150 });
});

test("working time: adding it in two parts gives the same end, and a later start never ends earlier", () => {
  const parts = fc.integer({ min: 1, max: 40 * 60 });
  const property = fc.property(froms, parts, parts, hoursWithin(0, 24 * 60), zone, (from, one, other, hours, zone) => {
    const add = (start: number, minutes: number) => addWorkingTime(start, minutes * 60_000, { hours, zone });
    const whole = add(from, one + other);
    expect(add(add(from, one), other)).toBe(whole);
    expect(add(from + other * 60_000, one)).toBeGreaterThanOrEqual(add(from, one));
    expect(add(from, one)).toBeGreaterThanOrEqual(from + one * 60_000);
  });
  fc.assert(property, { numRuns: 300 });
});

test("working time: days off are skipped, by the date in the zone", () => {
  const closed = { ...office, daysOff: ["2026-12-24", "2026-12-25"] };
  expect(due("2026-12-23T15:00:00.000Z", 2, { hours: closed })).toBe("2026-12-28T09:00:00.000Z");
  // In Sydney, the 24th has begun.
  const sydney = { hours: closed, zone: "Australia/Sydney" };
  expect(due("2026-12-23T14:00:00.000Z", 1, sydney)).toBe("2026-12-27T23:00:00.000Z");
});
