import { expect, test } from "vitest";
import { barsOf, compare, countOnly, ratioTarget, tableOf, type Runner } from "./measure.ts";
import type { Context } from "./part.ts";
import { pictures, report, toText } from "./report.ts";

// The measurement only reports its progress to it.
const context = { progress: () => {} } as unknown as Context;

function cellsOf(
  ours: number[],
  bare: number[],
  { order = [], connections = 100 }: { order?: string[]; connections?: number } = {},
) {
  const runner = (name: string, speeds: number[]): Runner => {
    const left = [...speeds];
    return {
      name,
      run: async () => {
        order.push(name);
        return countOnly(1, left.shift() ?? Number.NaN);
      },
    };
  };
  const runners = [runner("ours", ours), runner("bare", bare)];
  return compare(context, { work: "GET case", connections, runners, rounds: ours.length });
}

test("report: contenders take turns, and every round reverses the order", async () => {
  const order: string[] = [];
  await cellsOf([1, 1, 1], [1, 1, 1], { order });
  expect(order.join(" ")).toBe("ours bare bare ours ours bare");
});

test("report: a ratio is computed round by round, and its median decides whether a target is reached", async () => {
  // The machine is half as fast in the second round, for both of them.
  const cell = await cellsOf([80, 40, 90], [100, 50, 100]);
  expect(ratioTarget("it", [cell], { to: "bare", least: { 100: 0.8 } })).toMatchObject({
    isReached: true,
    measured: expect.stringMatching(/^0\.80 \(0\.80 to 0\.90\)/),
  });
  expect(ratioTarget("it", [cell], { to: "bare", least: { 100: 0.81 } }).isReached).toBe(false);
  expect(ratioTarget("it", [cell], { to: "pgbench", least: { 100: 1 } })).toMatchObject({
    isReached: null,
    measured: "not measured",
  });
});

test("report: a target with several goals is reached if each of them is", async () => {
  const cells = [
    await cellsOf([30], [100], { connections: 1 }),
    await cellsOf([50], [100], { connections: 16 }),
    await cellsOf([80], [100]),
  ];
  const reached = ratioTarget("it", cells, { to: "bare", least: { 1: 0.3, 100: 0.8 } });
  expect(reached).toMatchObject({ isReached: true, wanted: "at least 0.30 at 1, 0.80 at 100" });
  expect(reached.measured).toMatch(/^0\.30 .* at 1, 0\.50 .* at 16, 0\.80 .* at 100$/);
  expect(ratioTarget("it", cells, { to: "bare", least: { 1: 0.31, 100: 0.8 } }).isReached).toBe(false);
  expect(ratioTarget("it", cells, { to: "bare", least: { 1: 0.3, 2: 9, 100: 0.81 } }).isReached).toBe(false);
});

test("report: shows the targets and the measured values, and marks the targets that were missed", async () => {
  const cells = [await cellsOf([80], [100])];
  const targets = [
    ratioTarget("it", cells, { to: "bare", least: { 100: 0.7 } }),
    ratioTarget("that", cells, { to: "bare", least: { 100: 0.9 } }),
  ];
  const findings = { targets, tables: [tableOf("GET <case>", cells)], bars: barsOf("GET <case>", cells, { bare: { 100: 0.7 } }) };
  const plot = { name: "growth", title: "Growth", x: "cases", y: "µs", lines: [{ name: "a", points: [{ x: 1, y: 2 }] }] };
  const part = { name: "reads", title: "Reads", run: () => Promise.resolve(findings) };
  const outcome = { part, findings: { ...findings, plots: [plot] }, seconds: 60, fault: null };
  const text = report([outcome], ["Machine: a"]);
  expect(text).toContain("**1 of 2 targets reached.**");
  expect(text).toMatch(/\| it \| at least 0\.70 at 100 \| 0\.80 .* \| reached \|/);
  expect(text).toMatch(/\| that \| at least 0\.90 at 100 \| 0\.80 .* \| not reached \|/);
  expect(text).toContain("pictures/benchmark-growth.svg");
  const drawn = pictures([outcome]);
  expect([...drawn.keys()]).toEqual(["benchmark.svg", "benchmark-growth.svg"]);
  expect(drawn.get("benchmark.svg")).toContain("GET &lt;case&gt;, 100 connections");
  expect([...drawn.values()].join("")).not.toMatch(/NaN|Infinity|undefined/);
  expect(toText({ ...outcome, fault: "it broke" })).toContain("FAILED after 60 s: it broke");
});
