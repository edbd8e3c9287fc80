import { defineConfig } from "vitest/config";
import { RunSummary } from "./scripts/run-summary.ts";
import { citusFiles, slowFiles } from "./scripts/suites.ts";

const files = [
  "{service,client}/{src,test}/**/*.test.ts",
  "{tag,simulator}/src/**/*.test.ts",
  "console/test/**/*.test.ts",
  "{scripts,proof,bench}/**/*.test.ts",
];
// Set by scripts/test.ts. Without it, all files can be run by name.
const suite = process.env["CASEHOUND_SUITE"];

export default defineConfig({
  test: {
    include:
      suite === "slow"
        ? slowFiles
        : suite === "citus"
          ? citusFiles
          : suite === "citus-plans"
            ? ["service/test/cluster-plans.test.ts"]
            : files,
    exclude: ["**/node_modules/**", ...(suite === "gate" ? slowFiles : [])],
    globalSetup: "service/test/database.ts",
    setupFiles: ["service/test/cheap-passwords.ts", "service/test/record-statements.ts"],
    // Ends a test that hangs. The longest slow tests take a minute on a quiet machine, and several on a busy one.
    testTimeout: suite === "slow" ? 300_000 : 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // Files of one worker share its modules, its service and its browser. Loading the modules again for each file took ten minutes.
    isolate: false,
    sequence: { shuffle: true },
    retry: 0,
    reporters: ["default", new RunSummary()],
    // Node runs the sources directly, as for the service. Vitest does not transform them.
    experimental: { viteModuleRunner: false },
  },
});
