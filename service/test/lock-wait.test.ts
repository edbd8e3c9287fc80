import { expect, onTestFinished, test } from "vitest";
import { advisoryLocks } from "../src/db/postgres/advisory-locks.ts";
import { Database } from "../src/db/postgres/database.ts";
import { takeLock } from "../src/db/postgres/lock-wait.ts";
import { newDatabase } from "./harness.ts";
import { connectTo } from "./launch.ts";

async function open() {
  const connectionString = await newDatabase();
  const database = new Database({ connectionString });
  onTestFinished(() => database.end());
  const client = await database.connect();
  onTestFinished(() => client.end());
  const holder = await connectTo({ connectionString, application_name: "an old process" });
  onTestFinished(() => holder.end());
  await holder.query("select pg_advisory_lock($1)", [advisoryLocks.migrations]);
  const [row] = (await holder.query<{ pid: number }>("select pg_backend_pid() as pid")).rows;
  return { client, holder, pid: row?.pid ?? 0 };
}

test("lock: if its holder does nothing, waiting ends with the name of the holder", async () => {
  const { client, pid } = await open();
  const taking = takeLock(client, "migrations", { idle: 300, working: 60_000 });
  await expect(taking).rejects.toThrow(
    new RegExp(
      `the lock "migrations" was not released .*process ${pid} of PostgreSQL holds it \\(an old process, user \\w+, from .*, connected since .* UTC\\).*pg_terminate_backend\\(${pid}\\)`,
    ),
  );
});

test("lock: a holder that works is waited for", async () => {
  const { client, holder } = await open();
  await holder.query("begin");
  const taking = takeLock(client, "migrations", { idle: 300, working: 60_000 });
  await holder.query("select pg_sleep(1)");
  await holder.query("commit");
  await holder.query("select pg_advisory_unlock($1)", [advisoryLocks.migrations]);
  await taking;
});

test("lock: there is a limit on waiting for a holder that works, too", async () => {
  const { client, holder } = await open();
  await holder.query("begin");
  await expect(takeLock(client, "migrations", { idle: 60_000, working: 500 })).rejects.toThrow(/was not released/);
});
