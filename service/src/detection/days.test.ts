import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addToDays, bumpFraud, dailyFrauds, daysKept, daysSinceFrauds, largestOfDays, newDays, sumOfDays } from "./days.ts";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;
const today = Date.UTC(2026, 4, 31);
const noon = today + 12 * hourMs;

test("days: a window is the sum of its days, and a rolling window also takes a part of the day before", () => {
  const days = newDays();
  for (const [ago, n] of [
    [8, 5],
    [7, 4],
    [6, 3],
    [0, 2],
  ] as const)
    addToDays(days, noon - ago * dayMs, { n, sum: 10 * n });
  expect(sumOfDays(days, "n", { at: noon, span: 1 })).toBe(2);
  expect(sumOfDays(days, "n", { at: noon, span: 7 })).toBe(5);
  // Half of the day before is still within 7 times 24 hours.
  expect(sumOfDays(days, "n", { at: noon, span: 7, isRolling: true })).toBe(7);
  expect(sumOfDays(days, "sum", { at: today, span: 7, isRolling: true })).toBe(90);
  expect(sumOfDays(days, "n", { at: noon, span: 30 })).toBe(14);
});

test("days: a window that ends at a late activity does not contain the days after it", () => {
  const days = newDays();
  for (const ago of [0, 1, 2, 3]) addToDays(days, noon - ago * dayMs, { n: 1, z: ago });
  expect(sumOfDays(days, "n", { at: noon - 2 * dayMs, span: 28 })).toBe(2);
  expect(largestOfDays(days, "z", { at: noon - dayMs, span: 2 })).toBe(2);
});

test("days: an activity before the oldest day, or with an impossible time, changes nothing", () => {
  const days = newDays();
  addToDays(days, noon, { n: 1 });
  const before = structuredClone(days);
  const wrong = [noon - daysKept * dayMs, Date.UTC(1999, 0, 1), Date.UTC(2101, 0, 1), Number.NaN, Infinity, -Infinity];
  for (const at of wrong) {
    addToDays(days, at, { n: 1, frauds: 1 });
    bumpFraud(days, at, 1);
  }
  expect(days).toEqual(before);
  expect(wrong.map((at) => sumOfDays(days, "n", { at, span: 28, isRolling: true }))).toEqual(wrong.map(() => 0));
  expect(wrong.map((at) => daysSinceFrauds(days, at))).toEqual(wrong.map(() => null));
});

test("days: days that are no longer kept are forgotten, also after a long silence", () => {
  const days = newDays();
  addToDays(days, noon, { n: 3, frauds: 1 });
  addToDays(days, noon + 29 * dayMs, { n: 1 });
  expect(sumOfDays(days, "n", { at: noon + 29 * dayMs, span: 30 })).toBe(4);
  expect(daysSinceFrauds(days, noon + 29 * dayMs)).toEqual({ last: 29, first: 29 });
  addToDays(days, noon + 3000 * dayMs, { n: 1 });
  expect(days).toEqual({ day: Math.floor(noon / dayMs) + 3000, n: [1] });
});

test("days: a fraud belongs to the day of its activity, whenever it becomes known", () => {
  const days = newDays();
  for (const ago of [9, 8, 0]) addToDays(days, noon - ago * dayMs, { n: 2 });
  bumpFraud(days, noon - 9 * dayMs, 1);
  bumpFraud(days, noon - 8 * dayMs, 1);
  expect([7, 9, 10].map((span) => sumOfDays(days, "frauds", { at: noon, span }))).toEqual([0, 1, 2]);
  expect(daysSinceFrauds(days, noon)).toEqual({ last: 8, first: 9 });
  expect(daysSinceFrauds(days, noon - 9 * dayMs)).toEqual({ last: 0, first: 0 });
  const { n, frauds } = dailyFrauds(days, noon);
  expect([n.slice(8, 11), frauds.slice(8, 11)]).toEqual([
    [2, 2, 0],
    [1, 1, 0],
  ]);
  bumpFraud(days, noon - 8 * dayMs, -1);
  expect(daysSinceFrauds(days, noon)).toEqual({ last: 9, first: 9 });
});

const step = fc.record({ ago: fc.integer({ min: 0, max: 40 }), by: fc.constantFrom<1 | -1>(1, -1) });

test("days: a label that is withdrawn leaves no trace, whatever the order of the changes", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.array(fc.nat(29), { maxLength: 20 }), (steps, active) => {
      const days = newDays();
      addToDays(days, noon, { n: 1 });
      for (const ago of active) addToDays(days, noon - ago * dayMs, { n: 1, fresh: 1 });
      const before = structuredClone(days);
      const undone = steps.map(({ ago, by }) => ({ ago, by: by === 1 ? (-1 as const) : (1 as const) }));
      for (const { ago, by } of [...steps, ...undone.toReversed()]) bumpFraud(days, noon - ago * dayMs, by);
      expect(days).toEqual(before);
    }),
  );
});

const seen = (order: number[]) => {
  const days = newDays();
  for (const ago of order) addToDays(days, noon - ago * hourMs, { n: 1, sum: ago, z: ago / 100 });
  return days;
};

test("days: the order in which activity arrives does not matter", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(29 * 24), { minLength: 1, maxLength: 50 }), (hoursAgo) => {
      expect(seen(hoursAgo.toReversed())).toEqual(seen(hoursAgo));
    }),
  );
});

test("days: the days of a busy payee take less than 600 bytes", () => {
  const days = newDays();
  for (let ago = 29; ago >= 0; ago--) addToDays(days, noon - ago * dayMs, { n: 950, fresh: 75, sum: 54_321.99, frauds: 3 });
  const text = JSON.stringify({ first: noon, last: noon, days });
  expect(text.length).toBeLessThan(700);
  const { sum: _sum, ...ofPayee } = days;
  expect(JSON.stringify({ first: noon, last: noon, fresh: 5000, days: ofPayee }).length).toBeLessThan(600);
});
