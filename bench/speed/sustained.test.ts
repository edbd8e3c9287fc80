import { expect, test } from "vitest";
import type { Sustained } from "../load-sustained.ts";
import { isKeptUp, sustainedTarget } from "./sustained.ts";

const tried = (rate: number, given: Partial<Sustained> = {}) => ({
  rate,
  found: {
    requests: 10 * rate,
    events: 10 * rate,
    refused: 0,
    seconds: 10,
    drainedSeconds: 0,
    backlog: [0, 0],
    isGivenUp: false,
    probe: { delaysMs: [], lost: 0 },
    memoryMb: [],
    cpu: { service: 100, postgres: 60, generator: 20 },
    ...given,
  },
});

test("a rate is sustained if everything was accepted and at most two seconds of events wait at the end", () => {
  expect(isKeptUp(tried(8_000, { backlog: [40_000, 16_000, 9_000] }))).toBe(true);
  expect(isKeptUp(tried(8_000, { backlog: [0, 9_000, 16_001] }))).toBe(false);
  expect(isKeptUp(tried(8_000, { refused: 1 }))).toBe(false);
  expect(isKeptUp(tried(8_000, { events: 79_000 }))).toBe(false);
  expect(isKeptUp(tried(8_000, { isGivenUp: true }))).toBe(false);
});

test("the target names the sustained rate and those that were not", () => {
  const failed = tried(8_000, { isGivenUp: true });
  expect(sustainedTarget([failed, tried(6_500)])).toMatchObject({
    wanted: "8,000 with under 130 + 70 µs",
    measured: "6,500 with 100 + 60 µs; not sustained: 8,000",
    isReached: false,
  });
  expect(sustainedTarget([failed])).toMatchObject({ measured: "no rate; not sustained: 8,000", isReached: false });
});

test("the target is reached at the wanted rate only with the wanted CPU", () => {
  expect(sustainedTarget([tried(8_000)]).isReached).toBe(true);
  expect(sustainedTarget([tried(8_000, { cpu: { service: 131, postgres: 60, generator: 20 } })]).isReached).toBe(false);
  expect(sustainedTarget([tried(8_000, { cpu: { service: 100, postgres: 71, generator: 20 } })]).isReached).toBe(false);
});
