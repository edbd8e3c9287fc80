import { expect, test } from "vitest";
import { fitWorkers } from "./connections.ts";

const explicit = (count: number) => ({ count, isAuto: false });
// By the same arithmetic as in docs/guide/production.md.
const needed = ({ count, writersMax }: { count: number; writersMax: number }, lanes: number) =>
  count * (lanes * (writersMax + Math.ceil(writersMax / 2) + 2) + 2) + lanes * 17 + 2 + lanes * 5 + 2;

test.for([2, 3, 4, 6, 8, 16])("workers: %i of them and the engine stay below the connections that PostgreSQL allows", (count) => {
  for (const [lanes, hasRowSecurity] of [
    [1, false],
    [2, true],
  ] as const) {
    const limit = 500;
    const fit = fitWorkers(explicit(count), limit, hasRowSecurity);
    expect(fit.count).toBe(count);
    expect(needed(fit, lanes)).toBeLessThanOrEqual(limit - 10);
    expect(fit.writersMax).toBeGreaterThanOrEqual(4);
  }
});

test("workers: if PostgreSQL allows few connections, each worker gets fewer", () => {
  expect(fitWorkers(explicit(4), 197, false)).toEqual({ count: 4, writersMax: 6 });
  const fit = fitWorkers(explicit(8), 97, false);
  expect(fit).toEqual({ count: 8, writersMax: 2 });
  expect(needed(fit, 1)).toBeLessThanOrEqual(97);
});

test("workers: too many for PostgreSQL are refused, and `auto` takes as many as fit", () => {
  expect(() => fitWorkers(explicit(16), 97, false)).toThrow(
    /^WORKERS: 16 workers need \d+ connections, but PostgreSQL allows 97: /,
  );
  const fit = fitWorkers({ count: 16, isAuto: true }, 97, false);
  expect(fit.count).toBeGreaterThan(2);
  expect(needed(fit, 1)).toBeLessThanOrEqual(97);
});
