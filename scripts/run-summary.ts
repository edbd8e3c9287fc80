import type { Reporter, TestModule } from "vitest/node";

const shownMax = 10;

// Prints the files that took longest, so that a slow test is noticed when it is new, and then the tests that failed, so that the
// end of a long log says what is wrong.
export class RunSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules.map((each) => {
      const { duration, collectDuration, setupDuration } = each.diagnostic();
      return { file: each.relativeModuleId, ms: duration + collectDuration + setupDuration };
    });
    const slowest = timed.toSorted((a, b) => b.ms - a.ms).slice(0, shownMax);
    console.log(`\nThe slowest files, of ${timed.length}:`);
    for (const { file, ms } of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
    for (const line of modules.flatMap((each) => failuresOf(each)).slice(0, shownMax)) console.log(line);
  }
}

function failuresOf(module: TestModule): string[] {
  const ofFile = module.errors().map(({ message }) => failure(module.relativeModuleId, message));
  const ofTests = [...module.children.allTests("failed")].map((test) => {
    const [first] = test.result().errors ?? [];
    return failure(`${module.relativeModuleId}: ${test.fullName}`, first?.message ?? "no message");
  });
  return [...ofFile, ...ofTests];
}

function failure(where: string, message: string): string {
  return `\nFailed: ${where}\n  ${message.split("\n").slice(0, shownMax).join("\n  ")}`;
}
