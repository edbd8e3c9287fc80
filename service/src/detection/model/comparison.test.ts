import { expect, test } from "vitest";
import { offsetFor, type Unplaced } from "./comparison.ts";

const days = ["2026-11-01", "2026-11-02"];
const row = (more: Partial<Unplaced>): Unplaced => {
  return { day: "2026-11-01", account: "a", weight: 1, score: -5, isHeld: false, rules: 0, ...more };
};
// On each day, the accounts a-1 to a-9 have a payment each, with the scores -1 to -9.
const rated = days.flatMap((day) =>
  Array.from({ length: 9 }, (_, index) => row({ day, account: `a-${index + 1}`, score: -index - 1 })),
);

test("offset: the threshold gives the wanted number of cases a day", () => {
  expect(offsetFor(rated, { wantedPerDay: 3, threshold: 2.5 })).toBe(5.5);
});

test("offset: payments that a rule finds anyway are one case of their account, however many there are", () => {
  const held = days.flatMap((day) =>
    Array.from({ length: 10 }, () => row({ day, account: "held", isHeld: true, rules: 3, score: 9 })),
  );
  expect(offsetFor([...rated, ...held], { wantedPerDay: 4, threshold: 2.5 })).toBe(5.5);
  // Another payment of the same account does not make another case.
  const usual = days.map((day) => row({ day, account: "held", score: 8 }));
  expect(offsetFor([...rated, ...held, ...usual], { wantedPerDay: 4, threshold: 2.5 })).toBe(5.5);
});

test("offset: if rules find more than is wanted, a model still gets one case a day", () => {
  const held = Array.from({ length: 8 }, (_, index) => row({ account: `held-${index}`, isHeld: true, rules: 3 }));
  expect(offsetFor([...rated, ...held], { wantedPerDay: 1, threshold: 2.5 })).toBe(3.5);
});
