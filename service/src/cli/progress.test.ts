import { expect, test } from "vitest";
import { importLine } from "./progress.ts";

test.each([
  [0, 0, 1_000, "sending   0%  0 lines  0 lines/s"],
  [0.5, 10_000, 10_000, "sending  50%  10,000 lines  1,000 lines/s  10 s left"],
  [0.1, 10_000, 10_000, "sending  10%  10,000 lines  1,000 lines/s  2 min left"],
  [0.001, 10_000, 10_000, "sending   0%  10,000 lines  1,000 lines/s  2.8 h left"],
  [1, 10_000, 10_000, "sending 100%  10,000 lines  1,000 lines/s  0 s left"],
])("progress: %d of the file, %d lines in %d ms", (share, lines, ms, wanted) => {
  expect(importLine({ what: "sending", share, lines, beganMs: 5 }, ms + 5)).toBe(wanted);
});
