import { expect, test } from "vitest";
import { importLine, scoredOf } from "./progress.ts";

test.each([
  [0, 0, 1_000, "sending   0%  0 lines  0 lines/s"],
  [0.5, 10_000, 10_000, "sending  50%  10,000 lines  1,000 lines/s  10 s left"],
  [0.1, 10_000, 10_000, "sending  10%  10,000 lines  1,000 lines/s  2 min left"],
  [0.001, 10_000, 10_000, "sending   0%  10,000 lines  1,000 lines/s  2.8 h left"],
  [1, 10_000, 10_000, "sending 100%  10,000 lines  1,000 lines/s  0 s left"],
])("progress: %d of the file, %d lines in %d ms", (share, lines, ms, wanted) => {
  expect(importLine({ what: "sending", share, lines, beganMs: 5 }, ms + 5)).toBe(wanted);
});

test("progress: without the number of lines, the share and the time left are shown", () => {
  expect(importLine({ what: "scoring", share: 0.5, lines: null, beganMs: 5 }, 10_005)).toBe("scoring  50%  10 s left");
});

const [from, until] = ["2026-10-01T00:00:00.000Z", "2026-10-11T00:00:00.000Z"];

test.each([
  [
    { all: 200, waiting: 150, oldest_at: from },
    { share: 0.25, lines: 50 },
  ],
  [
    { all: 0, waiting: 0 },
    { share: 0, lines: 0 },
  ],
  // More than the service counts.
  [
    { all: 1_000_000, waiting: 1_000_000, oldest_at: "2026-10-04T00:00:00.000Z" },
    { share: 0.3, lines: null },
  ],
  [
    { all: 1_000_000, waiting: 4, oldest_at: "2026-10-12T00:00:00.000Z" },
    { share: 1, lines: null },
  ],
  [
    { all: 1_000_000, waiting: 0 },
    { share: 0, lines: null },
  ],
])("progress: of the waiting history %j, this has been scored: %j", ({ all, ...now }, wanted) => {
  expect(scoredOf({ all, from, until }, now)).toEqual(wanted);
});
