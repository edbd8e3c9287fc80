import { expect, test } from "vitest";
import { progressLine } from "./backup-progress.ts";

test("backup progress: a line shows the share, the rows, the bytes and the table", () => {
  const step = { what: "backing up", share: 0.429, table: "events", rows: 12_345, bytes: 4_200_000 };
  expect(progressLine(step)).toBe("backing up  42%  12,345 rows  4.2 MB  events");
  expect(progressLine({ what: "checking", share: 1 })).toBe("checking 100%");
});
