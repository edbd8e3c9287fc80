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
    setupFiles: "service/test/cheap-passwords.ts",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // Files of one worker share its modules, its service and its browser. Loading the modules anew for each file took ten minutes.
    isolate: false,
    sequence: { shuffle: true },
    retry: 0,
    // Node runs the sources as the service does, without a transformation of vitest's own.
    experimental: { viteModuleRunner: false },
  },
});
