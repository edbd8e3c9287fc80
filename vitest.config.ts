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
    // On a busy machine, a test may lose a race with its own clock. It is run once more and must pass then, and the report names
    // it.
    retry: 1,
    // Node runs the sources directly, as for the service. Vitest does not transform them.
    experimental: { viteModuleRunner: false },
  },
});
