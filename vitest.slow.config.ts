import { defineConfig } from "vitest/config";
import fast from "./vitest.config.ts";

export default defineConfig({
  test: { ...fast.test, include: ["**/*.slow.test.ts"], exclude: ["**/node_modules/**"] },
});
