import { defineConfig } from "vitest/config";
import { Slowest } from "./scripts/slowest.ts";

export default defineConfig({
  test: {
    include: [
      "{service,client}/{src,test}/**/*.test.ts",
      "{tag,simulator}/src/**/*.test.ts",
      "console/test/**/*.test.ts",
      "{scripts,proof,bench}/**/*.test.ts",
    ],
    // What takes minutes by nature: npm run test:slow.
    exclude: ["**/node_modules/**", "**/*.slow.test.ts"],
    globalSetup: "service/test/database.ts",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // The files of a worker share its modules, its service and its browser.
    isolate: false,
    sequence: { shuffle: true },
    reporters: ["default", new Slowest()],
    // Node runs the sources as the service does, without a transformation of vitest's own.
    experimental: { viteModuleRunner: false },
  },
});
