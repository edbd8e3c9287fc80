import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, expect, inject, test, vi } from "vitest";
import { launchCli, runCli, type Ended } from "./cli.ts";
import { TestTenant, useService } from "./harness.ts";

// Commands that start PostgreSQL or wait for a time limit.
vi.setConfig({ testTimeout: 120_000 });

const service = useService();
const folder = mkdtempSync(join(tmpdir(), "casehound-cli-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return runCli(args, { DATABASE_URL: inject("databaseUrl"), PUBLIC_URL: service.current.url, ...env });
}

async function json(args: string[], env: Record<string, string>): Promise<Record<string, unknown>> {
  const { code, out, err } = await run([...args, "--json"], env);
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
}

test("cli: concurrent commands on one embedded database all succeed, and the last one stops PostgreSQL", async () => {
  const shared = join(folder, "shared");
  const env = { DATABASE_URL: "", DATA_DIR: shared };
  const ended = await Promise.all(
    ["one", "two", "three", "four"].map((name) => launchCli(["tenant", "create", `at-once-${name}`], env).ended),
  );
  expect(ended.map(({ code, err }) => ({ code, err }))).toEqual(Array.from({ length: 4 }, () => ({ code: 0, err: "" })));
  await vi.waitFor(() => expect(existsSync(join(shared, "postgres", "postmaster.pid"))).toBe(false), { timeout: 60_000 });
  await json(["token", "--tenant", "at-once-four"], env);
});

test("cli: consecutive commands on an embedded database work, and nothing is left running", async () => {
  const env = { DATABASE_URL: "", DATA_DIR: folder };
  await json(["tenant", "create", "alone"], env);
  const { access_token: token } = await json(["token", "--tenant", "alone"], env);
  expect(decodeJwt(String(token))).toMatchObject({ tenant_slug: "alone" });
  const { out } = await run(["cases", "--tenant", "alone"], { ...env, PUBLIC_URL: "http://127.0.0.1:1" });
  expect(out).toBe("");
});

test("cli: a read from a service that hangs fails and reports it", async () => {
  const hung = createServer(() => {});
  await new Promise<void>((resolve) => hung.listen(0, "127.0.0.1", () => resolve()));
  const url = `http://127.0.0.1:${(hung.address() as AddressInfo).port}`;
  const tenant = await TestTenant.create(service.current);
  const { code, out, err } = await run(["cases", "--url", url, "--tenant", tenant.slug]);
  hung.close();
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toContain(`${url} did not respond in time`);
});
