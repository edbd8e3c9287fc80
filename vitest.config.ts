import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "{service,client}/{src,test}/**/*.test.ts",
      "{tag,simulator}/src/**/*.test.ts",
      "console/test/**/*.test.ts",
      "{scripts,proof,bench}/**/*.test.ts",
    ],
    globalSetup: "service/test/database.ts",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
    // A machine that is busy elsewhere may make one test lose a race with its own clock. Run again, it must pass, and it is named.
    retry: 1,
    // Node runs the sources as the service does, without a transformation of vitest's own.
    experimental: { viteModuleRunner: false },
  },
});
