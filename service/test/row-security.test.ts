import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { dataReply, operation, type Operation } from "../src/api/operation.ts";
import { operations } from "../src/api/operations.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { migrate, readMigrations } from "../src/db/postgres/migrate.ts";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { openTenantLock, tenantRole } from "../src/db/tenant-lock.ts";
import { startService } from "../src/service.ts";
import { TestTenant, testConfig, useService } from "./harness.ts";
import { changeUrl, connectTo, createDatabase } from "./launch.ts";
import { useOpened } from "./process.ts";

// Operations as a careless author would write them: their statements have no tenant condition.
const careless: Operation[] = [
  operation({
    id: "readCarelessly",
    method: "GET",
    path: "/careless",
    scope: "read:cases",
    summary: "Every account",
    tag: "Test",
    success: { status: 200, description: "All" },
    problems: [],
    handle: async ({ database }) => dataReply(await database.query(sql`select tenant_id from accounts`)),
  }),
  operation({
    id: "changeCarelessly",
    method: "DELETE",
    path: "/careless",
    scope: "update:case",
    summary: "Block everybody",
    tag: "Test",
    success: { status: 200, description: "All" },
    problems: [],
    handle: async ({ database }) =>
      dataReply(await database.transaction((tx) => tx.query(sql`update accounts set is_blocked = true returning tenant_id`))),
  }),
];
// The router is built from the table when the service starts. Other files use the same table afterwards.
const table = operations as Operation[];
table.push(...careless);
afterAll(() => {
  table.splice(-careless.length);
});

const service = useService({ rowSecurity: "on" });
const unlocked = useService({ rowSecurity: "off" });
let one: TestTenant;
let two: TestTenant;

beforeAll(async () => {
  [one, two] = await Promise.all([TestTenant.create(service.current), TestTenant.create(service.current)]);
  for (const tenant of [one, two]) {
    const { case_id } = await tenant.openCase("user-1");
    await tenant.call("POST", `/cases/${case_id}/notes`, { body: { text: "A note" }, key: randomUUID() });
  }
});

const tenantsOf = (rows: unknown) => new Set((rows as { tenant_id: string }[]).map((row) => row.tenant_id));

test("lock: the functions of search return nothing of a tenant that was not named, although they run as the owner", async () => {
  const { database } = service.current;
  const ask = (as: TestTenant, about: TestTenant) =>
    database.forTenant(as.tenantId).query(sql`
      select 1 as found from search_account_parts(${about.tenantId}, '%user%', 5)
      union all select 1 from search_email_parts(${about.tenantId}, '%example%', 5)
      union all select 1 from search_reasons(${about.tenantId}, 'word'::tsquery, 5)
      union all select 1 from search_notes(${about.tenantId}, 'note'::tsquery, 5)`);
  expect(await ask(one, one)).toHaveLength(2);
  expect(await ask(one, two)).toEqual([]);
});

test("lock: an operation without a tenant condition reads only the caller's rows", async () => {
  const answer = await one.call("GET", "/careless");
  expect(tenantsOf(answer.json.data)).toEqual(new Set([one.tenantId]));
});

test("lock: an operation without a tenant condition changes only the caller's rows", async () => {
  const answer = await one.call("DELETE", "/careless");
  expect(tenantsOf(answer.json.data)).toEqual(new Set([one.tenantId]));
  const account = await two.call("GET", "/enduseraccounts/user-1");
  expect(account.json.data).toMatchObject({ is_blocked: false });
});

test("ROW_SECURITY off: the same operation would read the rows of all tenants", async () => {
  const careful = await TestTenant.create(unlocked.current);
  const answer = await careful.call("GET", "/careless");
  expect(tenantsOf(answer.json.data).size).toBeGreaterThan(1);
});

// Every table with tenant data, without partitions.
async function listTables(database: Queryable): Promise<{ name: string; is_locked: boolean }[]> {
  return database.query(sql`
    select c.relname as name,
      c.relrowsecurity and exists (select from pg_policy as p where p.polrelid = c.oid and p.polname = 'tenant_lock') as is_locked
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`);
}

test("migrations: every table with a tenant_id has the lock", async () => {
  const tables = await listTables(service.current.database);
  expect(tables.length).toBeGreaterThanOrEqual(29);
  expect(tables.filter((table) => !table.is_locked)).toEqual([]);
});

test("role: it may use only the tables with the lock", async () => {
  const { database } = service.current;
  const rows = await database.query<{ name: string }>(
    statement(
      `select relname as name
       from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
         and has_table_privilege($1, oid, 'select, insert, update, delete, truncate')
       order by relname`,
      [tenantRole],
    ),
  );
  expect(rows.map((row) => row.name)).toEqual((await listTables(database)).map((table) => table.name));
});

test("lock: a tenant sees no other tenant's row in any table", async () => {
  const { database } = service.current;
  const seen: string[] = [];
  for (const { name } of await listTables(database)) {
    const rows = await database.forTenant(one.tenantId).query(statement(`select distinct tenant_id from ${name}`, []));
    if (rows.length > 0) seen.push(name);
    for (const row of rows) expect(row, name).toEqual({ tenant_id: one.tenantId });
  }
  expect(seen).toEqual(expect.arrayContaining(["accounts", "activities", "cases", "clients", "events", "rules", "tenants"]));
});

test("lock: a row for another tenant cannot be written", async () => {
  const { database } = service.current;
  const foreign = database
    .forTenant(one.tenantId)
    .transaction((tx) =>
      tx.query(
        sql`insert into rule_hits (tenant_id, rule_id, is_shadow, day, hits) values (${two.tenantId}, 'r', false, '2026-01-01', 1)`,
      ),
    );
  await expect(foreign).rejects.toMatchObject({ code: "42501" });
  const moved = database.forTenant(one.tenantId).transaction((tx) => tx.query(sql`update links set tenant_id = ${two.tenantId}`));
  await expect(moved).resolves.toEqual([]);
  const given = database
    .forTenant(one.tenantId)
    .transaction((tx) => tx.query(sql`update accounts set tenant_id = ${two.tenantId}`));
  await expect(given).rejects.toMatchObject({ code: "42501" });
});

test("no tenant set: no row is visible, and none can be written", async () => {
  const { database } = service.current;
  const tables = await listTables(database);
  const client = await database.connect({ role: tenantRole });
  try {
    for (const { name } of tables) expect((await client.query(`select from ${name}`)).rowCount, name).toBe(0);
    expect((await client.query("update accounts set is_blocked = true")).rowCount).toBe(0);
    expect((await client.query("delete from cases")).rowCount).toBe(0);
    const written = client.query("insert into event_counters (tenant_id) values ($1)", [randomUUID()]);
    await expect(written).rejects.toMatchObject({ code: "42501" });
    // The tenant is set only for its transaction.
    await client.query(`begin; set local casehound.tenant = '${one.tenantId}'`);
    expect((await client.query("select from tenants")).rowCount).toBe(1);
    await client.query("commit");
    expect((await client.query("select from tenants")).rowCount).toBe(0);
  } finally {
    await client.end();
  }
});

test("reads: with many tenants on the shared connections, each sees only its own rows", async () => {
  const { database } = service.current;
  const others = await Promise.all(Array.from({ length: 6 }, () => TestTenant.create(service.current)));
  const ids = [one, two, ...others].map((tenant) => tenant.tenantId);
  const asked = Array.from({ length: 2_000 }, (_, n) => ids[(n * n + Math.floor(n / 3)) % ids.length] ?? "");
  const answers = await Promise.all(asked.map((id) => database.forTenant(id).query(sql`select tenant_id from tenants`)));
  expect(answers).toEqual(asked.map((tenant_id) => [{ tenant_id }]));
});

test("lock: a tenant id that is not a UUID is rejected before it becomes part of a statement", () => {
  expect(() => service.current.database.forTenant("x'; reset role; --")).toThrow("UUID");
});

const opened = useOpened();

// A database whose owner is not a superuser and may not create roles.
async function createPlain(): Promise<{ url: string; user: string }> {
  const user = `plain_${randomUUID().replaceAll("-", "")}`;
  const url = await createDatabase(inject("databaseUrl"));
  const admin = await connectTo({ connectionString: url });
  await admin.query(`create role ${user} login`);
  await admin.query(`grant all on schema public to ${user}`);
  await admin.end();
  return { url: changeUrl(url, { user }), user };
}

test("lock: if the owner cannot use the role, the reason is reported, and ROW_SECURITY=on does not start without the lock", async () => {
  const { url, user } = await createPlain();
  const database = opened.database(url);
  await migrate(database);
  expect(await openTenantLock(database)).toMatch(/can neither create nor set the role casehound_tenant/);
  await expect(startService(testConfig({ databaseUrl: url, rowSecurity: "on" }))).rejects.toThrow(/^ROW_SECURITY: /);
  const admin = await connectTo({ connectionString: inject("databaseUrl") });
  await admin.query(`grant ${tenantRole} to ${user}`);
  await admin.end();
  const granted = await startService(testConfig({ databaseUrl: url, rowSecurity: "on" }));
  opened.keep({ end: () => granted.stop() });
  const tenant = await TestTenant.create(granted);
  const opens = await tenant.openCase("user-1");
  expect((await tenant.put(opens.case_id, { status: "CLOSED", case_version: 1 })).status).toBe(200);
  await TestTenant.create(granted);
  expect(await granted.database.forTenant(tenant.tenantId).query(sql`select slug from tenants`)).toEqual([{ slug: tenant.slug }]);
});

test("lock: options in the URL do not prevent connections from using the role", async () => {
  const url = inject("databaseUrl");
  const database = opened.database(
    `${url}${url.includes("?") ? "&" : "?"}options=${encodeURIComponent("-c search_path=public")}`,
  );
  expect(await openTenantLock(database)).toBeNull();
});

test("upgrade: rows stored before the lock are still visible with it", async () => {
  const url = await createDatabase(inject("databaseUrl"));
  const database = opened.database(url);
  await migrate(database, readMigrations().slice(0, 4));
  const tenants = [randomUUID(), randomUUID()];
  for (const id of tenants) {
    await database.query(
      statement("insert into tenants (tenant_id, slug, app_key, created_at) values ($1::uuid, $1::text, $1::text, now())", [id]),
    );
    await database.query(
      statement(
        `insert into accounts (tenant_id, website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, created_at, updated_at)
         values ($1, 'user-1', 'crm-1', false, false, false, now(), now())`,
        [id],
      ),
    );
  }
  expect(await migrate(database)).toContain("0005_tenant_lock.sql");
  expect(await openTenantLock(database)).toBeNull();
  for (const tenant_id of tenants) {
    const found = await database.forTenant(tenant_id).query(sql`
      select tenant_id
      from accounts
      where crm_key = hashtextextended('crm-1', 0)`);
    expect(found).toEqual([{ tenant_id }]);
  }
});
