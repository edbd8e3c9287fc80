import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packClient } from "../../scripts/client-package.ts";
import { TestTenant, useService } from "../../service/test/harness.ts";

const service = useService();
const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "casehound-client-"));
const { folder: packed, file } = packClient(join(folder, "packed"));
const gzipBytesMax = 13_000;

// A project with the package installed.
beforeAll(() => {
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const { status, stderr } = spawnSync("npm", ["install", "--offline", "--no-audit", file], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("client package: has no publint findings", async () => {
  const { messages, pkg } = await publint({ pkgDir: packed, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg ?? {}))).toEqual([]);
});

test("client package: has no dependencies and at most 13 kB", () => {
  const { dependencies, private: isPrivate } = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
  expect({ dependencies, isPrivate }).toEqual({ dependencies: undefined, isPrivate: undefined });
  const files = readdirSync(join(packed, "lib")).filter((name) => name.endsWith(".js"));
  const all = files.map((name) => readFileSync(join(packed, "lib", name), "utf8"));
  expect(all.join("")).not.toMatch(/from "node:|require\(/);
  expect(gzipSync(all.join("")).length).toBeLessThanOrEqual(gzipBytesMax);
});

const consumer = `
import { CasehoundClient, ProblemError, type Case } from "@casehound/client";
const client = new CasehoundClient({ baseUrl: "http://127.0.0.1:1", tenant: "demo", credentials: { token: "t" } });
export async function closeAll(): Promise<Case[]> {
  const closed: Case[] = [];
  for await (const { case_id, overall_risk_score } of client.each("listCases", { query: { status: "OPEN" } })) {
    const score: number = overall_risk_score;
    const { case: found } = await client.closeCase(case_id, { decide: (fresh) => (fresh.details.summary === "" || score > 4 ? null : {}) });
    closed.push(found);
  }
  return closed;
}
export const wordsOf = (error: unknown) => (error instanceof ProblemError ? error.type : "");
// @ts-expect-error: there is no such status.
void client.listCases({ status: "LOST" });
// @ts-expect-error: a close needs the version that was seen.
void client.updateCase("id", { status: "CLOSED" });
`;

test.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])("client package: its types compile with module %s and resolution %s", (module, moduleResolution) => {
  writeFileSync(join(folder, "use.ts"), consumer);
  const options = { module, moduleResolution, target: "es2022", strict: true, noEmit: true, lib: ["es2022", "dom"], types: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["use.ts"] }));
  const { status, stdout } = spawnSync(tsc, ["--project", folder], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});

test("client package: once installed, closes a case of a running service", async () => {
  const tenant = await TestTenant.create(service.current);
  const opened = await tenant.openCase();
  const { clientId, clientSecret, slug } = tenant;
  const options = { baseUrl: service.current.url, tenant: slug, credentials: { clientId, clientSecret } };
  writeFileSync(
    join(folder, "use.mjs"),
    `import { CasehoundClient } from "@casehound/client";
const client = new CasehoundClient(${JSON.stringify(options)});
const { closed } = await client.closeCase(${JSON.stringify(opened.case_id)}, { decide: () => ({ disposition: "FALSE_POSITIVE" }) });
console.log(closed);`,
  );
  // Run it asynchronously in its own process, because this process serves its requests.
  const printed = await new Promise<string>((resolve, reject) =>
    execFile(process.execPath, [join(folder, "use.mjs")], (error, stdout) => (error ? reject(error) : resolve(stdout))),
  );
  expect(printed.trim()).toBe("true");
  expect(await tenant.read(opened.case_id)).toMatchObject({ status: "CLOSED", current_state: { disposition: "FALSE_POSITIVE" } });
});
