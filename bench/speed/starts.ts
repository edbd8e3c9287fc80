// How long a start takes: on an empty folder, where the database is created first, and on one that was shut down cleanly.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { percentile, spawnService } from "../machine.ts";
import type { Context, Findings, Part } from "./part.ts";

const limits = { cold: 10, warm: 0.8 };
const times = { quick: { cold: 1, warm: 2 }, full: { cold: 5, warm: 3 } };
const cache = fileURLToPath(new URL("../../node_modules/.cache/node", import.meta.url));

const seconds = (value: number) => `${value.toFixed(2)} s`;

export const starts: Part = { name: "starts", title: "Starts", run };

async function run({ scale, progress }: Context): Promise<Findings> {
  const { cold, warm } = times[scale];
  const found: { cold: number[]; warm: number[] } = { cold: [], warm: [] };
  for (let round = 0; round < cold; round++) {
    progress(round, cold, "starting");
    const folder = mkdtempSync(join(tmpdir(), "casehound-start-"));
    try {
      found.cold.push(await start(folder));
      for (let again = 0; again < warm; again++) found.warm.push(await start(folder));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const kinds = ["cold", "warm"] as const;
  return {
    targets: kinds.map((kind) => {
      const median = percentile(found[kind], 0.5);
      const [name, wanted] = [`${kind} start`, `under ${limits[kind]} s`];
      return { name, wanted, measured: seconds(median), isReached: median < limits[kind] };
    }),
    tables: [
      {
        title: "Starts",
        note: "Time from the start of the process until /readyz returns 200, without the demo. Cold: the folder is empty, so the database is created and all migrations run.",
        columns: ["start", "median", "min", "max", "runs"],
        rows: kinds.map((kind) => [
          kind,
          ...[0.5, 0, 1].map((share) => seconds(percentile(found[kind], share))),
          String(found[kind].length),
        ]),
      },
    ],
  };
}

// Seconds until the service reports that it is ready.
async function start(folder: string): Promise<number> {
  const startMs = performance.now();
  const service = await spawnService({ DATA_DIR: folder, DEMO: "off", NODE_COMPILE_CACHE: cache });
  try {
    const { status } = await fetch(`${service.url}/readyz`);
    if (status !== 200) throw new Error(`a service that is up returned ${status} for /readyz`);
    return (performance.now() - startMs) / 1000;
  } finally {
    await service.stop();
  }
}
