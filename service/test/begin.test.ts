import { connect, createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { early } from "../src/db/postgres/transaction.ts";

// A proxy in front of the database that misspells BEGIN. The statement fails and the connection stays open.
async function openWithoutBegin(): Promise<Database> {
  const { host, port, user = "", database: name = "" } = new Client({ connectionString: inject("databaseUrl") });
  const target = host.startsWith("/") ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
  const proxy = createServer((client) => {
    const server = connect(target);
    client.on("data", (sent) => server.write(Buffer.from(sent.toString("latin1").replaceAll("begin\0", "began\0"), "latin1")));
    server.on("data", (answered) => client.write(answered));
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port: own } = proxy.address() as AddressInfo;
  const database = new Database({ connectionString: `postgresql://${user}@127.0.0.1:${own}/${name}` });
  onTestFinished(async () => {
    await database.end();
    proxy.close();
  });
  return database;
}

test.each(["transaction", "tryOnce"] as const)("%s: if BEGIN fails, nothing is applied", async (way) => {
  const database = await openWithoutBegin();
  await database.query(sql`select 1 as ready`);
  const name = `begin-${way}`;
  const done = database[way]((tx) => tx.query(sql`insert into service_settings (name, value) values (${name}, '')`));
  await expect(done).rejects.toThrow(/began/);
  expect(await database.query(sql`select name from service_settings where name = ${name}`)).toEqual([]);
});

test("if BEGIN fails, a statement that was sent with it does not let the next one be applied", async () => {
  const database = await openWithoutBegin();
  const done = database.tryOnce(async (tx) => {
    await early(tx).query(sql`select name from service_settings for update`);
    await tx.query(sql`insert into service_settings (name, value) values ('begin-early', '')`);
  });
  await expect(done).rejects.toThrow(/began/);
  expect(await database.query(sql`select name from service_settings where name = 'begin-early'`)).toEqual([]);
});
