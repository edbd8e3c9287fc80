import { expect, test } from "vitest";
import { histories, workerHistories } from "./histories.ts";
import { proveShort } from "./prove.ts";

test.each([
  { part: histories, services: 2 },
  { part: workerHistories, services: 1 },
])(
  "proof: the log, one change after another, explains what many clients see of few cases ($part.name)",
  async ({ part, services }) => {
    const figures = await proveShort(part);
    expect(figures["services on one database"]).toBe(services);
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
  },
);
