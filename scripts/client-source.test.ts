import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { clientSources } from "./client-source.ts";

test.each(Object.entries(clientSources()))("client: %s matches the service's table of operations", (name, text) => {
  const written = readFileSync(new URL(`../client/src/${name}`, import.meta.url), "utf8");
  expect(written, "run `npm run generate`").toBe(text);
});
