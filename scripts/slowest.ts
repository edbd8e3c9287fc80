import type { Reporter, TestModule } from "vitest/node";

const shown = 10;

// Prints the files that took longest at the end of a run.
export class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const times = modules.map((module) => ({ file: module.relativeModuleId, ms: module.diagnostic().duration }));
    const slowest = times.toSorted((a, b) => b.ms - a.ms).slice(0, shown);
    const lines = slowest.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
    console.log(["", "The slowest files:", ...lines].join("\n"));
  }
}
