import { expect, test } from "vitest";
import { proveShort } from "./prove.ts";
import { rolling } from "./rolling.ts";
import { isInHistory, readRelease } from "./rolling/last-release.ts";

test.skipIf(!isInHistory(readRelease()))(
  "proof: processes of the last release are replaced under load, and no call fails",
  async () => {
    const figures = await proveShort(rolling);
    const atLeast = (name: string, least: number) => expect(Number(figures[name] ?? 0), name).toBeGreaterThanOrEqual(least);
    atLeast("calls", 1_000);
    atLeast("calls to both releases side by side", 600);
    atLeast("activities accepted and scored", 200);
    atLeast("PUT done", 10);
  },
  300_000,
);
