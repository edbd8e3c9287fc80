import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "service/{src,test}/**/*.test.ts",
      "{client,tag}/src/**/*.test.ts",
      "console/test/**/*.test.ts",
      "scripts/**/*.test.ts",
    ],
    globalSetup: "service/test/database.ts",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 3,
    // Node runs the sources as the service does, without a transformation of vitest's own.
    experimental: { viteModuleRunner: false },
  },
});
