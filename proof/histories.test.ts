import { expect, test } from "vitest";
import { histories } from "./histories.ts";
import { proveShort } from "./prove.ts";

test("proof: the log, one change after another, explains what many clients see of few cases", async () => {
  const figures = await proveShort(histories);
  const atLeast = (name: string, least: number) => expect(Number(figures[name] ?? 0), name).toBeGreaterThanOrEqual(least);
  atLeast("calls", 2_000);
  atLeast("clients", 8);
  atLeast("cases", 3);
  atLeast("reads", 500);
  atLeast("PUT done", 30);
  atLeast("PUT 409 item-version-conflict", 30);
  atLeast("PUT unknown", 3);
  atLeast("versions in the chains", 100);
  atLeast("replays compared byte for byte", 30);
});
