import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { migrate, readMigrations } from "../src/db/postgres/migrate.ts";
import { isDatabaseTrouble } from "../src/operator.ts";
import { within } from "./backup-lab.ts";
import { runCli } from "./cli.ts";
import { testConfig } from "./harness.ts";
import { createDatabase } from "./launch.ts";
import { useProcesses } from "./process.ts";
import { startService } from "../src/service.ts";

const processes = useProcesses();
const role = `app_${randomUUID().slice(0, 8)}`;
let url = "";

beforeAll(async () => {
  url = await createDatabase(inject("databaseUrl"));
  const database = new Database({ connectionString: url });
  await migrate(database);
  await database.end();
  await within(url, (client) => client.query(`create role ${role} login`));
});

afterAll(() => within(url, (client) => client.query(`drop role ${role}`)));

const nameOf = (address: string) => /\/(test_\w+)/.exec(address)?.[1] ?? "";
const asRole = (address: string) => address.replace("//casehound@", `//${role}@`);
const commands = [
  ["migrate"],
  ["user", "list"],
  ["cases"],
  ["tenant", "create", "some-shop"],
  ["token"],
  ["backup", "/tmp/never-written"],
];

// Expects one line on standard error, exit code 2 and an empty standard output.
async function lineOf(args: string[], databaseUrl: string): Promise<string> {
  const { code, out, err } = await runCli(args, { DATABASE_URL: databaseUrl });
  expect(err).toMatch(/^casehound: [^\n]+\n$/);
  expect({ code, out }, err).toEqual({ code: 2, out: "" });
  return err;
}

test.each(commands)("cli exit 2: %s %s with an unreachable database prints one line", async (...args) => {
  const line = await lineOf(args, "postgresql://casehound@127.0.0.1:1/casehound");
  expect(line).toMatch(
    /^casehound: DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1; check that the database is running, and the host/,
  );
});

test.each(commands)("cli exit 2: %s %s with a role that lacks privileges names the role and what to grant", async (...args) => {
  expect(await lineOf(args, asRole(url))).toMatch(new RegExp(`permission denied for .*grant <owner> to ${role}`));
});

test("cli exit 2: an unknown role and exhausted connections get their own messages, not that of a database that is down", async () => {
  expect(await lineOf(["user", "list"], url.replace("//casehound@", "//nobody_at_all@"))).toContain(
    "check the user nobody_at_all, the password",
  );
  const full = await createDatabase(inject("databaseUrl"));
  await within(full, (client) => client.query(`alter database ${nameOf(full)} connection limit 0`));
  for (const args of commands) expect(await lineOf(args, asRole(full))).toContain("raise max_connections");
  const { out, code } = await runCli(["doctor"], { DATABASE_URL: asRole(full) });
  expect(out).toMatch(/FAIL {2}database[^]*what to do: all connections are in use/);
  expect(code).toBe(1);
});

test("cli: tenant list leaves no tenant out, however many there are", async () => {
  const address = await createDatabase(inject("databaseUrl"));
  const database = new Database({ connectionString: address });
  await migrate(database);
  await database.end();
  await within(address, (client) =>
    client.query(`
      insert into tenants (tenant_id, slug, app_key, allowed_origins, created_at)
      select gen_random_uuid(), 'shop-' || n, 'key-' || n, '{}', now()
      from generate_series(1, 1500) as n`),
  );
  const { out } = await runCli(["tenant", "list", "--json"], { DATABASE_URL: address });
  expect((JSON.parse(out) as { tenants: unknown[] }).tenants).toHaveLength(1500);
});

test("serve exit 2: a database problem prints the same line", async () => {
  const refused = processes.launch({ DATABASE_URL: asRole(url) });
  expect(await refused.refusal()).toContain(`grant <owner> to ${role}`);
});

test("doctor: a role without privileges is a finding that names the role, as text and as JSON", async () => {
  const { code, out, err } = await runCli(["doctor", "--json"], { DATABASE_URL: asRole(url) });
  expect({ code, err }).toEqual({ code: 1, err: "" });
  const { checks } = JSON.parse(out) as { checks: { name: string; is_ok: boolean; detail: string; next?: string }[] };
  expect(checks.filter(({ is_ok }) => !is_ok)).toEqual([
    {
      name: "migrations",
      is_ok: false,
      detail: "permission denied for table migrations",
      next: expect.stringContaining(`grant <owner> to ${role}`),
    },
  ]);
});

test("doctor: if privileges are missing for some tables, each affected check is a finding", async () => {
  await within(url, (client) => client.query(`grant select on migrations, service_settings to ${role}`));
  try {
    const { code, out, err } = await runCli(["doctor"], { DATABASE_URL: asRole(url), METRICS_PORT: "off", PORT: "0" });
    expect({ code, err }).toEqual({ code: 1, err: "" });
    for (const name of ["tenants", "engine", "service"]) expect(out).toMatch(new RegExp(`^FAIL {2}${name} `, "m"));
    expect(out).toMatch(/tenants +permission denied for table tenants\n +what to do: the role app_/);
  } finally {
    await within(url, (client) => client.query(`revoke all on migrations, service_settings from ${role}`));
  }
});

test("doctor and serve: a read-only database and one with another encoding are reported", async () => {
  const [standby, latin] = [
    await createDatabase(inject("databaseUrl")),
    await createDatabase(inject("databaseUrl"), "encoding 'LATIN1' locale 'C'"),
  ];
  await within(standby, (client) => client.query(`alter database ${nameOf(standby)} set default_transaction_read_only = on`));
  expect((await runCli(["doctor"], { DATABASE_URL: standby })).out).toMatch(/FAIL {2}database +it is read-only/);
  expect(await lineOf(["migrate"], standby)).toContain("use the primary");
  expect((await runCli(["doctor"], { DATABASE_URL: latin })).out).toMatch(
    /FAIL {2}database +.*encoding must be UTF8, not LATIN1/,
  );
  expect(await lineOf(["migrate"], latin)).toContain("must be UTF8, not LATIN1");
});

test("cli exit 2: a read-only command changes no tables, and reports that they are outdated or missing", async () => {
  const [empty, old] = [await createDatabase(inject("databaseUrl")), await createDatabase(inject("databaseUrl"))];
  const database = new Database({ connectionString: old });
  await migrate(database, readMigrations().slice(0, 3));
  await database.end();
  for (const args of [["user", "list"], ["cases"], ["token"]]) {
    expect(await lineOf(args, empty)).toContain("the database is empty. Run casehound migrate");
    expect(await lineOf(args, old)).toMatch(/the database is out of date, pending: 0004.*Run casehound migrate/);
  }
  const tables = await within(empty, (client) => client.query("select 1 from pg_tables where schemaname = 'public'"));
  expect(tables.rows).toEqual([]);
});

test("cli: an error that does not come from the database is not reported as one", () => {
  expect(isDatabaseTrouble(new Error("a bug"))).toBe(false);
  expect(isDatabaseTrouble(Object.assign(new Error("x"), { code: "ENOENT", syscall: "open" }))).toBe(false);
});

test("restore: commands on a copy that was never served call no service, unless PORT names one", async () => {
  const service = await startService(testConfig({ databaseUrl: url }));
  try {
    const file = join(processes.folder(), "backup");
    expect(await runCli(["tenant", "create", "copied"], { DATABASE_URL: url })).toMatchObject({ code: 0 });
    expect(await runCli(["cases", "--tenant", "copied"], { DATABASE_URL: url })).toMatchObject({ code: 0, out: "no cases\n" });
    expect(await runCli(["backup", file], { DATABASE_URL: url })).toMatchObject({ code: 0 });
    const copy = await createDatabase(inject("databaseUrl"));
    expect(await runCli(["restore", file], { DATABASE_URL: copy })).toMatchObject({ code: 0 });
    const never = await runCli(["cases", "--tenant", "copied"], { DATABASE_URL: copy });
    expect(never).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining("no service has been started on this database yet"),
    });
    const doctor = await runCli(["doctor"], { DATABASE_URL: copy, METRICS_PORT: "off" });
    expect(doctor.out).toMatch(/FAIL {2}service +no service has been started on this database yet/);
    for (const databaseUrl of [copy, url]) {
      const named = await runCli(["cases", "--tenant", "copied"], { DATABASE_URL: databaseUrl, PORT: "1" });
      expect(named).toMatchObject({ code: 1, err: expect.stringContaining("nothing answers at http://127.0.0.1:1") });
    }
    const elsewhere = await runCli(["doctor"], { DATABASE_URL: url, PORT: "1", METRICS_PORT: "off" });
    expect(elsewhere.out).toMatch(/FAIL {2}service +nothing answers at http:\/\/127\.0\.0\.1:1\n/);
    const byPort = await runCli(["cases", "--tenant", "copied"], { DATABASE_URL: url, PORT: String(service.port) });
    expect(byPort).toMatchObject({ code: 0, out: "no cases\n" });
  } finally {
    await service.stop();
  }
});
