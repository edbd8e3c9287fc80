import { expect, inject, test } from "vitest";
import { distributedTables, localTables, referenceTables } from "../src/db/citus/tables.ts";
import { runCli } from "./cli.ts";
import { connectTo } from "./launch.ts";
import { useOpened } from "./process.ts";

const opened = useOpened();
const placed = [...localTables, ...referenceTables, ...distributedTables];

test("distribute exit 2: plain PostgreSQL is refused in one line, and nothing changes", async () => {
  for (const args of [["distribute"], ["distribute", "--check"], ["distribute", "--shards", "8"]]) {
    const { code, out, err } = await runCli(args, { DATABASE_URL: inject("databaseUrl") });
    expect(err).toMatch(/^casehound: the database is not a Citus cluster: the extension citus is missing[^\n]*\n$/);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  }
});

test("distribute exit 2: an invalid number of shards is refused", async () => {
  for (const shards of ["0", "-1", "1.5", "1025", "many", ""]) {
    const { code, err } = await runCli(["distribute", `--shards=${shards}`], { DATABASE_URL: inject("databaseUrl") });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("--shards must be a whole number from 1 to 1024") });
  }
});

test("distribute: every table of the schema says where it is in a cluster", async () => {
  const client = await connectTo({ connectionString: inject("databaseUrl") });
  opened.keep(client);
  const { rows } = await client.query<{ table: string; columns: string[] }>(`
    select c.relname as table, array_agg(a.attname::text) as columns
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    group by c.relname`);
  expect(placed.toSorted()).toEqual(rows.map(({ table }) => table).toSorted());
  const withTenant = rows.filter(({ columns }) => columns.includes("tenant_id")).map(({ table }) => table);
  expect([...referenceTables, ...distributedTables].toSorted()).toEqual(withTenant.toSorted());
});
