import { expect, test } from "vitest";
import { PatternBudget, restMs } from "./pattern-budget.ts";

// The test controls the time, both while patterns run and between events.
class Bench {
  now = 0;
  spentMs = 0;
  readonly budget = new PatternBudget(() => this.now);

  // Runs one event through all rules that are not paused. Returns the rules that are paused from now on.
  run(costs: Record<string, number>): string[] {
    const event = {};
    this.budget.use(Object.keys(costs));
    const limited: string[] = [];
    for (const [id, ms] of Object.entries(costs)) {
      if (this.budget.isLimited(id)) continue;
      this.now += ms;
      this.spentMs += ms;
      limited.push(...this.budget.spend(id, ms, event));
    }
    return limited;
  }
}

test("budget: ten typical patterns at five thousand events per second are never limited", () => {
  const bench = new Bench();
  const costs = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`rule-${n}`, 0.002]));
  for (let events = 0; events < 10_000; events++) {
    bench.now += 0.2;
    expect(bench.run(costs)).toEqual([]);
  }
});

test("budget: one slow rule is paused and resumes automatically, and the others continue", () => {
  const bench = new Bench();
  const costs = { first: 0.003, slow: 4, last: 0.003 };
  let events = 0;
  while (!bench.budget.isLimited("slow")) {
    expect(++events).toBeLessThan(200);
    bench.run(costs);
  }
  expect(["first", "last"].filter((id) => bench.budget.isLimited(id))).toEqual([]);
  for (let more = 0; more < 1_000; more++) expect(bench.run({ ...costs, slow: 0 })).toEqual([]);
  bench.now += restMs;
  expect(bench.budget.isLimited("slow")).toBe(false);
  // The rule was fixed in the meantime, so it stays active.
  for (let more = 0; more < 1_000; more++) expect(bench.run({ ...costs, slow: 0.003 })).toEqual([]);
});

test("budget: two hundred slow rules delay one event little, and take at most a twentieth of an hour of events", () => {
  const bench = new Bench();
  const costs = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`slow-${n}`, 20]));
  bench.run(costs);
  expect(bench.spentMs).toBeLessThan(150);
  const hourMs = 60 * 60 * 1000;
  while (bench.now < hourMs) {
    bench.now += 100;
    bench.run(costs);
  }
  expect(bench.spentMs).toBeLessThan(hourMs / 20 + 1_000);
});

test("budget: rules that are known to be cheap continue next to a hundred slow ones", () => {
  const bench = new Bench();
  const cheap = { first: 0.003, second: 0.003 };
  bench.run(cheap);
  const slow = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`slow-${n}`, 20]));
  for (let events = 0; events < 7_000; events++) {
    bench.now += 100;
    bench.run({ ...slow, ...cheap });
    expect(["first", "second"].filter((id) => bench.budget.isLimited(id))).toEqual([]);
  }
});

test("budget: a rule that was cheap for a hundred thousand events is caught as quickly as any other when it becomes slow", () => {
  const bench = new Bench();
  for (let events = 0; events < 100_000; events++) {
    bench.now += 1;
    bench.run({ sly: 0.003, other: 0.003 });
  }
  const before = bench.spentMs;
  while (!bench.budget.isLimited("sly")) bench.run({ sly: 20, other: 0.003 });
  expect(bench.spentMs - before).toBeLessThan(600);
  expect(bench.budget.isLimited("other")).toBe(false);
});

test("budget: a stall that no rule caused is not charged to the slowest rule", () => {
  const bench = new Bench();
  // Now and then the process stalls while a cheap rule runs.
  for (let events = 0; events < 10_000; events++) {
    bench.now += 1;
    expect(bench.run({ a: events % 100 === 0 ? 1 : 0.003, b: 0.002 })).toEqual([]);
  }
});
