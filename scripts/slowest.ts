import type { Reporter, TestModule } from "vitest/node";

const shownMax = 10;

// Prints the files that took longest, so that a slow test is noticed when it is new.
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules.map((each) => {
      const { duration, collectDuration, setupDuration } = each.diagnostic();
      return { file: each.relativeModuleId, ms: duration + collectDuration + setupDuration };
    });
    const slowest = timed.toSorted((a, b) => b.ms - a.ms).slice(0, shownMax);
    console.log(`\nThe slowest files, of ${timed.length}:`);
    for (const { file, ms } of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
  }
}
