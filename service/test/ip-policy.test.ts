import { hash, randomUUID } from "node:crypto";
import { expect, inject, onTestFinished, test } from "vitest";
import { migrate, readMigrations } from "../src/db/postgres/migrate.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { DetectionTenant, type Sent } from "./detection.ts";
import { createDatabase } from "./launch.ts";
import { useOpened } from "./process.ts";

const opened = useOpened();
const ip = "192.0.2.77";

async function openHashing(): Promise<DetectionTenant> {
  const tenant = await DetectionTenant.create();
  onTestFinished(() => tenant.end());
  await tenant.database.query(statement("update tenants set ip_policy = 'hash' where tenant_id = $1", [tenant.tenantId]));
  return tenant;
}

async function play(tenant: DetectionTenant, ...sent: Sent[]): Promise<void> {
  await tenant.send(...sent);
  await tenant.score();
}

async function addressesOf({ database, tenantId }: DetectionTenant): Promise<string[]> {
  const text = `
    select ip from activities where tenant_id = $1
    union all select b from links where tenant_id = $1 and kind = 'account-ip'`;
  return (await database.query<{ ip: string }>(statement(text, [tenantId]))).map((row) => row.ip);
}

test("ip_policy hash: an address has one hash per tenant, a different one in each, and none is a plain hash of the address", async () => {
  const [first, second] = [await openHashing(), await openHashing()];
  for (const tenant of [first, second])
    for (const account of ["a", "b"]) await play(tenant, { type: "login_succeeded", website_account_id: account, ip });
  const [own, ...more] = new Set(await addressesOf(first));
  const [other] = await addressesOf(second);
  expect(more).toEqual([]);
  expect(own).toMatch(/^h-[0-9a-f]{24}$/);
  expect(other).not.toBe(own);
  const guesses = [ip, `ip:${ip}`].map((guess) => `h-${hash("sha256", guess, "hex").slice(0, 24)}`);
  expect(guesses).not.toContain(own);
});

test("ip_policy hash: an attack from one address opens one case, named after the hashed address", async () => {
  const tenant = await openHashing();
  const tries = Array.from({ length: 10 }, (_, n) => ({ type: "login_failed", website_account_id: `u-${n}`, ip }));
  await play(tenant, ...tries.slice(0, 9));
  await play(tenant, ...tries.slice(9));
  const [kept] = await addressesOf(tenant);
  expect((await tenant.cases()).map(({ subject }) => subject)).toEqual([`ip:${kept}`]);
});

test("ip_policy hash: an attack from a block of addresses does not show the block", async () => {
  const tenant = await openHashing();
  const tries = Array.from({ length: 60 }, (_, n) => ({
    type: "login_failed",
    website_account_id: `u-${n}`,
    ip: `192.0.2.${40 + (n % 8)}`,
  }));
  for (let n = 0; n < 60; n += 10) await play(tenant, ...tries.slice(n, n + 10));
  const cases = await tenant.cases();
  expect(cases.map(({ subject }) => subject)).toContainEqual(expect.stringMatching(/^network:h-[0-9a-f]{24}$/));
  expect(JSON.stringify(cases)).not.toContain("192.0.2");
  const text = "select subject from rule_subjects where tenant_id = $1";
  const subjects = await tenant.database.query<{ subject: string }>(statement(text, [tenant.tenantId]));
  expect(subjects.length).toBeGreaterThan(0);
  expect(subjects.filter(({ subject }) => subject.includes("192.0.2"))).toEqual([]);
});

test("migrate: each existing tenant gets its own random key", async () => {
  const database = opened.database(await createDatabase(inject("databaseUrl")));
  await migrate(
    database,
    readMigrations().filter(({ version }) => version < 8),
  );
  for (const slug of ["one", "two"])
    await database.query(
      statement("insert into tenants (tenant_id, slug, app_key, created_at) values ($1, $2, $2, now())", [randomUUID(), slug]),
    );
  await migrate(database);
  const keys = await database.query<{ key: string }>(statement("select encode(ip_key, 'hex') as key from tenants", []));
  expect(keys.filter(({ key }) => /^[0-9a-f]{64}$/.test(key))).toHaveLength(2);
  expect(new Set(keys.map(({ key }) => key)).size).toBe(2);
});
