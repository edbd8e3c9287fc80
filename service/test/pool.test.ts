import { randomUUID } from "node:crypto";
import { expect, inject, test } from "vitest";
import { Database, type Queryable } from "../src/db/postgres/database.ts";
import { caseSorts } from "../src/db/case-filters.ts";
import { listCases } from "../src/db/lists.ts";
import { sql, unprepared } from "../src/db/postgres/sql.ts";
import { labels } from "../src/domain/finding.ts";
import { eventually } from "./process.ts";

test("transaction 429: if every connection is busy, nothing is tried and the caller gets Retry-After", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") }, { writersMax: 1 });
  const gate = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const holding = database.transaction(async (tx) => {
    await tx.query(sql`select 1 as held`);
    began.resolve();
    await gate.promise;
  });
  await began.promise;
  let wasTried = false;
  const refused = database.transaction(() => {
    wasTried = true;
    return Promise.resolve();
  });
  await expect(refused).rejects.toMatchObject({ code: "rate-limited", headers: { "retry-after": "1" } });
  expect(wasTried).toBe(false);
  gate.resolve();
  await holding;
  await database.end();
});

test("transaction: a statement sent after the transaction failed is rejected and changes nothing", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") }, { writersMax: 1 });
  const late = Promise.withResolvers<unknown>();
  const ended = Promise.withResolvers<void>();
  const failing = database.transaction(async (tx) => {
    void ended.promise.then(() => tx.query(sql`create table came_too_late ()`)).catch(late.resolve);
    await tx.query(sql`select 1 as began`);
    throw new Error("failed");
  });
  await expect(failing).rejects.toThrow("failed");
  ended.resolve();
  expect(await late.promise).toMatchObject({ message: "The transaction has ended." });
  expect(await database.query(sql`select to_regclass('came_too_late') as it`)).toEqual([{ it: null }]);
  await database.end();
});

test("transaction: if a statement loses a race, the transaction is run again, even if the error of a later statement arrives first", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") }, { writersMax: 1 });
  const losing = unprepared("do $$ begin raise exception using errcode = '40001'; end $$");
  let attempts = 0;
  const deep = (work: Promise<unknown>, depth: number): Promise<unknown> =>
    depth === 0
      ? work
      : deep(
          work.then((value) => value),
          depth - 1,
        );
  const rows = await database.transaction(async (tx) => {
    attempts++;
    const race = attempts === 1 ? losing : sql`select 0 as lost`;
    const both = Promise.all([deep(tx.query(race), 20), tx.query(sql`select 1 as done`)]);
    // Both responses are waiting when this process reads again.
    setImmediate(() => setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)));
    return (await both)[1];
  });
  expect([attempts, rows]).toEqual([2, [{ done: 1 }]]);
  await database.end();
});

test("transaction 502: the database ends an idle transaction, and the error says so", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") });
  const idle = database.transaction(async (tx) => {
    const [own] = await tx.query<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    await tx.query(sql`set local idle_in_transaction_session_timeout = 1`);
    const find = sql`select pid from pg_stat_activity where pid = ${own?.pid ?? 0}`;
    await eventually(async () => expect(await database.query(find)).toEqual([]));
    await tx.query(sql`select 1 as late`);
  });
  const detail = "The database ended a transaction that was idle for too long. Retry after a short delay.";
  await expect(idle).rejects.toMatchObject({ code: "bad-gateway", message: detail, cause: { code: "25P03" } });
  await database.end();
});

const insertAlone = (value: number) => sql`
  with added as (insert into kept_alone select ${value}::int returning value)
  select value, 1 / (value - 1) as divided
  from added`;

test("alone: one statement is committed, and one that fails changes nothing and leaves the connection usable", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") }, { writersMax: 1 });
  await database.query(sql`create table kept_alone (value int not null)`);
  expect(await database.alone(insertAlone(2))).toEqual([{ value: 2, divided: 1 }]);
  await expect(database.alone(insertAlone(1))).rejects.toMatchObject({ code: "22012" });
  expect(await database.alone(insertAlone(3))).toEqual([{ value: 3, divided: 0 }]);
  expect(await database.query(sql`select value from kept_alone order by value`)).toEqual([{ value: 2 }, { value: 3 }]);
  await database.query(sql`drop table kept_alone`);
  await database.end();
});

test("alone: a statement that loses a race is run again", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") }, { writersMax: 1 });
  await database.query(sql`create sequence lost_alone`);
  await database.query(sql`
    create function lose_once() returns bigint language plpgsql as $$
    begin
      if nextval('lost_alone') = 1 then
        raise exception using errcode = '40001';
      end if;
      return currval('lost_alone');
    end $$`);
  expect(await database.alone(sql`select lose_once() as attempt`)).toEqual([{ attempt: 2 }]);
  await database.query(sql`drop function lose_once`);
  await database.query(sql`drop sequence lost_alone`);
  await database.end();
});

test("alone 502: the database ended the connection before the statement was done", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") }, { writersMax: 1 });
  await expect(database.alone(sql`select pg_terminate_backend(pg_backend_pid())`)).rejects.toMatchObject({ code: "bad-gateway" });
  expect(await database.alone(sql`select 1 as done`)).toEqual([{ done: 1 }]);
  await database.end();
});

test("transaction: plans are kept for all values if the caller wants it, and only for that transaction", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") }, { writersMax: 1 });
  const asked = sql`select ${1}::int as value`;
  await database.transaction((tx) => tx.query(asked), { keepsPlans: true });
  await database.alone(asked);
  const plans = await database.transaction(async (tx) => {
    await tx.query(asked);
    return tx.query(sql`select generic_plans, custom_plans from pg_prepared_statements where name = ${asked.name}`);
  });
  expect(plans).toEqual([{ generic_plans: 2, custom_plans: 1 }]);
  await database.end();
});

test("list cases: at most 64 statement shapes are prepared, whatever callers combine", async () => {
  const named = new Set<string>();
  let sent = 0;
  const recorder: Queryable = {
    query: (statement) => {
      sent++;
      if (statement.name !== "") named.add(statement.name);
      return Promise.resolve([]);
    },
  };
  for (const sort of caseSorts) {
    for (const label of labels) {
      for (const min_score of [1, 2, 3, 4, 5]) {
        for (const status of ["OPEN", "CLOSED"]) {
          await listCases(recorder, randomUUID(), { filter: { label, min_score, status }, sort, after: null, limit: 1 });
        }
      }
    }
  }
  expect(sent).toBeGreaterThan(160);
  // Other files of the same worker may have used up some of them.
  expect(named.size).toBeLessThanOrEqual(64);
});
