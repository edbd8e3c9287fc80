import { expect, test } from "vitest";
import { cappedHonest, cappedWeights, type GivenLabel } from "./guards.ts";

const label = (account: string, person: string | null = null): GivenLabel => ({ account, person, weight: 1 });
const sumFor = (labels: GivenLabel[], isWanted: (each: GivenLabel) => boolean) => {
  const weights = cappedWeights(labels);
  return labels.reduce((sum, each, index) => sum + (isWanted(each) ? (weights[index] ?? 0) : 0), 0);
};
const many = (count: number, make: (index: number) => GivenLabel) => Array.from({ length: count }, (_, index) => make(index));

test.each([
  { others: 400, flooding: 100, share: 0.01 },
  { others: 400, flooding: 50_000, share: 0.01 },
  { others: 50, flooding: 10_000, share: 2 / 51 },
])(
  "guards: $flooding labels of one account beside $others others have a small share of the weight",
  ({ others, flooding, share }) => {
    const labels = [...many(others, (index) => label(`a-${index}`)), ...many(flooding, () => label("flood"))];
    const flood = sumFor(labels, ({ account }) => account === "flood");
    expect(flood / sumFor(labels, () => true)).toBeCloseTo(share, 9);
    expect(sumFor(labels, ({ account }) => account === "a-7")).toBe(1);
  },
);

test("guards: if few accounts have frauds, each the same number, all labels count in full", () => {
  const labels = many(2000, (index) => label(`a-${index % 50}`));
  expect(cappedWeights(labels)).toEqual(labels.map(() => 1));
  expect(cappedWeights([label("one"), label("one"), label("two")])).toEqual([1, 1, 1]);
});

test("guards: the labels that one person gave have at most a quarter of the weight", () => {
  const labels = many(400, (index) => label(`a-${index}`, index < 300 ? "mallory" : `p-${index % 5}`));
  expect(sumFor(labels, ({ person }) => person === "mallory")).toBeCloseTo(100, 9);
  expect(sumFor(labels, ({ person }) => person === "p-1")).toBe(20);
});

test("guards: a tenant with one investigator still learns from all labels", () => {
  const labels = many(60, (index) => label(`a-${index}`, "only"));
  expect(cappedWeights(labels)).toEqual(labels.map(() => 1));
});

test("guards: the honest activities of one account together have at most the weight of 200, and the total weight does not change", () => {
  const accounts = [...Array.from({ length: 1000 }, (_, index) => `a-${index}`), ...Array.from({ length: 1000 }, () => "flood")];
  const weights = cappedHonest(
    accounts,
    accounts.map(() => 1),
  );
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(2000, 6);
  const [usual = 0, flooding = 0] = [weights[0], weights.at(-1)];
  expect((1000 * flooding) / usual).toBeCloseTo(200, 6);
  expect(new Set(weights.slice(1000)).size).toBe(1);
  expect(cappedHonest(accounts.slice(0, 900), weights.slice(0, 900))).toEqual(weights.slice(0, 900));
});
