import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generateClient } from "./client-source.ts";

test("client: its operations are those of the service's table", () => {
  const written = readFileSync(new URL("../client/src/operations.ts", import.meta.url), "utf8");
  expect(written, "run `npm run generate`").toBe(generateClient());
});
