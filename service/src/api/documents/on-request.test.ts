import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const module = new URL("on-request.ts", import.meta.url).href;

// Runs in a process of its own, with few file descriptors. It asks for each document while none is left, and again afterwards.
const program = `
  import { closeSync, openSync } from "node:fs";
  const { documentsOnRequest } = await import("${module}");
  const documents = documentsOnRequest("https://fraud.example");
  const asked = () => Promise.allSettled([documents.tag(), documents.docs("")]);
  const held = [];
  try {
    for (;;) held.push(openSync("/dev/null"));
  } catch {}
  const without = await asked();
  for (const each of held) closeSync(each);
  const after = await asked();
  console.log(JSON.stringify([without, after].map((all) => all.map(({ status }) => status))));
`;

test("documents on request: one that could not be made, because no file could be opened, is made at the next request", () => {
  const command = 'ulimit -n 128 && exec "$0" --input-type=module --eval "$1"';
  const { stdout, stderr } = spawnSync("sh", ["-c", command, process.execPath, program], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    encoding: "utf8",
  });
  expect(stdout.trim(), stderr).toBe('[["rejected","rejected"],["fulfilled","fulfilled"]]');
});
