import { expect, test } from "vitest";
import { numbersFrom } from "../../../test/labelled-rows.ts";
import { fitPrior, probabilityOf, rulesAlone, startOf, type Prior } from "./prior.ts";

type Labels = { label: number; ruleLogOdds: number; weight?: number }[];

function fit(rows: Labels): Prior {
  return fitPrior({
    labels: Uint8Array.from(rows, ({ label }) => label),
    weights: Float64Array.from(rows, ({ weight }) => weight ?? 1),
    ruleLogOdds: Float64Array.from(rows, ({ ruleLogOdds }) => ruleLogOdds),
  });
}

function drawn(count: number, truth: Prior): Labels {
  const next = numbersFrom(3);
  return Array.from({ length: count }, () => {
    const ruleLogOdds = Math.floor(next() * 5);
    return { ruleLogOdds, label: next() < probabilityOf(startOf(truth, ruleLogOdds)) ? 1 : 0 };
  });
}

test("prior: without labels of both kinds, the rules keep their weights", () => {
  expect(fit([])).toEqual(rulesAlone);
  expect(fit([{ label: 1, ruleLogOdds: 2 }])).toEqual(rulesAlone);
  expect(fit(Array.from({ length: 1000 }, () => ({ label: 0, ruleLogOdds: 0 })))).toEqual(rulesAlone);
});

test("prior: one fraud among a million genuine rows changes the rules' weight little", () => {
  const { a, b } = fit([
    { label: 1, ruleLogOdds: 0 },
    { label: 0, ruleLogOdds: 0, weight: 1e6 },
  ]);
  expect(a).toBeLessThan(0);
  expect(a).toBeGreaterThan(-0.2);
  expect(b).toBe(1);
});

test("prior: many labels find the true line", () => {
  const { a, b } = fit(drawn(50_000, { a: -4, b: 1.4 }));
  expect(a).toBeCloseTo(-4, 0);
  expect(b).toBeCloseTo(1.4, 1);
});

test("prior: rules that point the wrong way are ignored, not reversed", () => {
  expect(fit(drawn(50_000, { a: 1, b: -1 })).b).toBe(0);
});

test("prior: a weight of 2 counts as two rows", () => {
  const rows = drawn(500, { a: -1, b: 0.5 });
  const once = fit([...rows, ...rows]);
  const twice = fit(rows.map((row) => ({ ...row, weight: 2 })));
  expect(twice.a).toBeCloseTo(once.a, 6);
  expect(twice.b).toBeCloseTo(once.b, 6);
});

test("prior: labels that the rules separate perfectly give finite numbers", () => {
  const { a, b } = fit(
    Array.from({ length: 10_000 }, (_, index) => ({ label: index % 2, ruleLogOdds: index % 2 === 1 ? 50 : -50 })),
  );
  expect(Number.isFinite(a) && Number.isFinite(b)).toBe(true);
});
