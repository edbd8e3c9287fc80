import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, expect, inject, test, vi } from "vitest";
import { launchCli, runCli, type Ended } from "./cli.ts";
import { TestTenant, send, useService } from "./harness.ts";

const service = useService();
const folder = mkdtempSync(join(tmpdir(), "casehound-cli-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Runs a command on the run's database with the URL of this file's service.
function run(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return runCli(args, { DATABASE_URL: inject("databaseUrl"), PUBLIC_URL: service.current.url, ...env });
}

async function json(args: string[], env?: Record<string, string>): Promise<Record<string, unknown>> {
  const { code, out, err } = await run([...args, "--json"], env);
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
}

test("cli: --help lists every command and exit code", async () => {
  for (const args of [[], ["--help"], ["help"]]) {
    const { code, out } = await run(args);
    expect(code).toBe(0);
    for (const word of [
      "tenant create",
      "user create",
      "user set-up",
      "link [--tenant",
      "user list",
      "user disable",
      "user reset-second-factor",
      "client create",
      "client revoke",
      "token",
      "cases",
      "keys rotate",
      "migrate",
      "backup",
      "restore",
      "doctor",
      "--json",
      "Exit codes",
    ]) {
      expect(out).toContain(word);
    }
  }
  const own = await run(["token", "--help"]);
  expect(own.out).toContain("--expires-in");
});

test("cli: --version prints the program's version, and --help of a command group lists only its commands", async () => {
  expect((await run(["--version"])).out).toMatch(/^casehound \d+\.\d+\.\d+\n$/);
  for (const [word, own] of [
    ["cases", "cases close"],
    ["events", "events tail"],
    ["tenant", "tenant list"],
  ] as const) {
    const { code, out } = await run([word, "--help"]);
    expect(code).toBe(0);
    expect(out).toContain(own);
    expect(out).not.toMatch(/doctor|webhooks/);
  }
});

test("cli: tenant list and user list print tables with a header", async () => {
  const tenant = await TestTenant.create(service.current);
  expect((await run(["tenant", "list"])).out).toMatch(/^tenant +app key +addresses +created/);
  const { tenants } = await json(["tenant", "list"]);
  expect((tenants as { slug: string }[]).map(({ slug }) => slug)).toContain(tenant.slug);
  await json(["user", "create", "ada@shop.example", "--role", "lead", "--tenant", tenant.slug]);
  expect((await run(["user", "list", "--tenant", tenant.slug])).out).toMatch(
    /^email +role +state +name\nada@shop\.example +lead +invited +ada\n$/,
  );
});

test("cli: tenant create returns working credentials and rejects the same slug again", async () => {
  const slug = `cli-${randomUUID()}`;
  const made = await json(["tenant", "create", slug, "--origin", "https://shop.example"]);
  expect(Object.keys(made).toSorted()).toEqual(["app_key", "client_id", "client_secret", "tenant", "tenant_id"]);
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: String(made["client_id"]),
    client_secret: String(made["client_secret"]),
  });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const granted = await send(service.current.port, "POST", "/v2/oauth/token", { rawBody: form.toString(), headers });
  const { access_token: token } = JSON.parse(granted.text) as { access_token: string };
  const tenant = await send(service.current.port, "GET", `/v2/${slug}/tenants`, { token });
  expect(tenant.json.data).toMatchObject({
    tenant_name: slug,
    allowed_origins: ["https://shop.example"],
    clickstream_app_id: made["app_key"],
  });
  const again = await run(["tenant", "create", slug]);
  expect(again).toMatchObject({ code: 1, out: "", err: `casehound: tenant ${slug} already exists\n` });
});

test("cli: token has the requested scopes and lifetime, and works", async () => {
  const tenant = await TestTenant.create(service.current);
  const made = await json(["token", "--tenant", tenant.slug, "--scope", "read:cases read:case", "--expires-in", "90"]);
  const claims = decodeJwt(String(made["access_token"]));
  expect(claims).toMatchObject({ scope: "read:cases read:case", client_id: tenant.clientId, tenant_slug: tenant.slug });
  expect(Number(claims.exp) - Number(claims.iat)).toBe(90);
  const { out: plain } = await run(["token", "--tenant", tenant.slug]);
  const answer = await tenant.call("GET", "/tenants", { token: plain.trim() });
  expect(answer.status).toBe(200);
});

test("cli: client create limits the client to its scopes, and client revoke ends its tokens", async () => {
  const tenant = await TestTenant.create(service.current);
  const client = await json(["client", "create", "--tenant", tenant.slug, "--scope", "read:cases"]);
  const { access_token: token } = await json(["token", "--tenant", tenant.slug, "--client-id", String(client["client_id"])]);
  expect((await tenant.call("GET", "/cases", { token: String(token) })).status).toBe(200);
  expect((await tenant.call("GET", "/tenants", { token: String(token) })).status).toBe(403);
  const lacking = await run([
    "token",
    "--tenant",
    tenant.slug,
    "--client-id",
    String(client["client_id"]),
    "--scope",
    "update:case",
  ]);
  expect(lacking).toMatchObject({ code: 1, out: "" });
  await json(["client", "revoke", String(client["client_id"])]);
  await vi.waitFor(async () => expect((await tenant.call("GET", "/cases", { token: String(token) })).status).toBe(401));
  expect((await run(["client", "revoke", String(client["client_id"])])).code).toBe(1);
});

test("cli: cases lists and shows the same cases as the API", async () => {
  const tenant = await TestTenant.create(service.current);
  expect((await run(["cases", "--tenant", tenant.slug])).out).toBe("no cases\n");
  const opened = await tenant.openCase("someone");
  const listed = await json(["cases", "--tenant", tenant.slug, "--status", "OPEN"]);
  expect(listed).toMatchObject({ cases: [{ case_id: opened.case_id, website_account_id: "someone" }] });
  expect((await run(["cases", "--tenant", tenant.slug])).out).toMatch(new RegExp(`${opened.case_id}  OPEN +1 +5`));
  expect(await json(["cases", opened.case_id, "--tenant", tenant.slug])).toEqual(opened);
  const absent = await run(["cases", randomUUID(), "--tenant", tenant.slug]);
  expect(absent.code).toBe(1);
  expect(absent.err).toContain("Case not found");
});

test("cli: keys rotate and migrate report what they did", async () => {
  expect(await json(["keys", "rotate"])).toMatchObject({ kid: expect.any(String) });
  expect(await json(["migrate"])).toEqual({ applied: [] });
});

test.each([
  [["nope"], 'there is no command "nope"'],
  [["tenant", "create"], "usage: tenant create"],
  [["tenant", "create", "Bad_Slug"], "a tenant slug must consist of"],
  [["tenant", "create", "oauth"], "reserved"],
  [["tenant", "create", "fine-slug", "--origin", "https://shop.example/path"], "is not an origin"],
  [["token", "--scope", "read:everything"], 'there is no scope "read:everything"'],
  [["token", "--expires-in", "0"], "--expires-in must be"],
  [["token", "--unknown"], "Unknown option"],
  [["cases", "--limit", "1001"], "--limit must be"],
  [["cases", "--status", "open"], "--status must be"],
  [["user", "create", "notmail", "--role", "lead"], "notmail is not an e-mail address"],
  [["cases", "show", ""], "usage: cases show"],
  [["backup"], "usage: backup <file>"],
  [["restore", "one", "two"], "usage: restore <file>"],
])("cli: wrong usage prints one line and exits with code 2: %j", async (args, words) => {
  const { code, out, err } = await run(args);
  expect(err).toContain(words);
  expect(out).toBe("");
  expect(code).toBe(2);
});

test("cli: commands that only read create no database", async () => {
  const none = join(folder, "none");
  for (const args of [["token"], ["cases"], ["keys", "rotate"]]) {
    const { code, out, err } = await run(args, { DATABASE_URL: "", DATA_DIR: none });
    expect({ code, out, err }).toEqual({
      code: 2,
      out: "",
      err: `casehound: there is no database in DATA_DIR ${none}: start the service first\n`,
    });
  }
  expect(existsSync(none)).toBe(false);
});

test("cli: a process writes the result to standard output, errors to standard error, and exits with the code", async () => {
  const tenant = await TestTenant.create(service.current);
  const env = { DATABASE_URL: inject("databaseUrl"), PUBLIC_URL: service.current.url };
  const done = await launchCli(["token", "--tenant", tenant.slug], env).ended;
  expect(done).toMatchObject({ code: 0, err: "" });
  expect(decodeJwt(done.out.trim())).toMatchObject({ tenant_slug: tenant.slug });
  const failed = await launchCli(["cases", "show", "nothing", "--tenant", tenant.slug], env).ended;
  expect(failed).toMatchObject({ code: 1, out: "" });
  expect(failed.err).toMatch(/^casehound: .+\n$/);
  expect(await launchCli(["nope"], env).ended).toMatchObject({ code: 2, out: "" });
});

test("cli: invalid configuration prints one line and exits with code 2", async () => {
  const { code, out, err } = await run(["token"], { DATABASE_URL: "mysql://nowhere" });
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err.trimEnd().split("\n")).toHaveLength(1);
});
