// Loaded into a service before its own code (`node --expose-gc --import`). On SIGUSR2 it reports what the process holds.
import { readdirSync, writeSync } from "node:fs";

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const held = { heapBytes: process.memoryUsage().heapUsed, descriptors: readdirSync("/proc/self/fd").length, resources };
  writeSync(2, `gauge: ${JSON.stringify(held)}\n`);
});
