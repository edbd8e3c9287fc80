import { expect, test } from "vitest";
import { proveShort } from "./prove.ts";
import { standby } from "./standby.ts";

test("proof: a standby takes over under load, and no acknowledged write is lost", async () => {
  const figures = await proveShort(standby);
  const atLeast = (name: string, least: number) => expect(Number(figures[name] ?? 0), name).toBeGreaterThanOrEqual(least);
  atLeast("failovers by a synchronous standby", 3);
  atLeast("acknowledged changes, each found once", 20);
  atLeast("times a name pointed to a read-only server", 1);
  atLeast("changes that it did not confirm, none acknowledged", 1);
  atLeast("failovers by an asynchronous standby", 1);
}, 300_000);
