import { expect, test } from "vitest";
import { cluster } from "./cluster.ts";
import { proveShort } from "./prove.ts";

// A skipped test was not run, because no cluster was given.
test.skipIf(process.env["CITUS_DATABASE_URL"] === undefined)(
  "proof: on a Citus cluster, a killed worker is noticed by its tenants only, and no acknowledged write is lost",
  async () => {
    const figures = await proveShort(cluster);
    const atLeast = (name: string, least: number) => expect(Number(figures[name] ?? 0), name).toBeGreaterThanOrEqual(least);
    atLeast("calls", 1_000);
    atLeast("shards moved under load", 1);
    atLeast("acknowledged changes, each found once", 20);
  },
  600_000,
);
