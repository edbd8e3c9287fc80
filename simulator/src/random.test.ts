import { expect, test } from "vitest";
import { Random } from "./random.ts";

const draw = (random: Random): number[] => Array.from({ length: 50 }, () => random.word());
const many = (next: () => number): number[] => Array.from({ length: 20_000 }, next).toSorted((a, b) => a - b);
const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test("random: the same seed gives the same stream, and another seed another one", () => {
  expect(draw(new Random("a"))).toEqual(draw(new Random("a")));
  expect(draw(new Random("a"))).not.toEqual(draw(new Random("b")));
});

test("random: a fork neither depends on earlier draws nor affects later ones", () => {
  const [used, fresh] = [new Random("a"), new Random("a")];
  draw(used);
  expect(draw(used.fork("x"))).toEqual(draw(fresh.fork("x")));
  expect(draw(used.fork("x"))).not.toEqual(draw(used.fork("y")));
  draw(fresh);
  expect(draw(used)).toEqual(draw(fresh));
});

test("random: draws follow the distributions they are named after", () => {
  const random = new Random("a");
  expect(mean(many(() => random.unit()))).toBeCloseTo(0.5, 1);
  expect(mean(many(() => random.exponential(7)))).toBeCloseTo(7, 0);
  const normal = many(() => random.normal(3, 2));
  expect(mean(normal)).toBeCloseTo(3, 1);
  expect(Math.sqrt(mean(normal.map((value) => (value - 3) ** 2)))).toBeCloseTo(2, 1);
  const logNormal = many(() => random.logNormal(10, 0.8));
  expect(Math.log(logNormal[10_000] ?? 0)).toBeCloseTo(Math.log(10), 1);
  const whole = many(() => random.whole(2, 5));
  expect(new Set(whole)).toEqual(new Set([2, 3, 4, 5]));
  const picked = many(() => Number(random.pickShare({ "1": 0.9, "2": 0.1 })));
  expect(mean(picked)).toBeCloseTo(1.1, 1);
});

test("random: ids are unique UUIDs of version 4", () => {
  const random = new Random("a");
  const ids = Array.from({ length: 10_000 }, () => random.uuid());
  expect(new Set(ids).size).toBe(ids.length);
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(ids.filter((id) => !form.test(id))).toEqual([]);
});
