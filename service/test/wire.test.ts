import { expect, inject, test } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { sql, unprepared } from "../src/db/postgres/sql.ts";
import { send } from "../src/db/postgres/wire.ts";

const open = () => new Database({ connectionString: inject("databaseUrl") });
const asked = (value: number) => sql`select ${value}::int as value`;

test.concurrent("wire: a statement is prepared once per connection, and from then on it is executed by its name", async ({
  onTestFinished,
}) => {
  const client = await open().connect();
  onTestFinished(() => client.end());
  const answers = await Promise.all([1, 2, 3].map((value) => send(client, asked(value))));
  expect(answers.flatMap(({ rows }) => rows)).toEqual([{ value: 1 }, { value: 2 }, { value: 3 }]);
  const { rows } = await send(
    client,
    unprepared("select name, generic_plans + custom_plans as times from pg_prepared_statements"),
  );
  expect(rows).toEqual([{ name: asked(0).name, times: 3 }]);
});

test.concurrent("wire: a failed statement is reported only to its own caller, and the others of the same turn are answered", async ({
  onTestFinished,
}) => {
  const client = await open().connect();
  onTestFinished(() => client.end());
  const settled = await Promise.allSettled([1, 0, 2].map((by) => send(client, sql`select 2 / ${by}::int as value`)));
  expect(settled).toMatchObject([
    { status: "fulfilled", value: { rows: [{ value: 2 }] } },
    { status: "rejected", reason: { code: "22012" } },
    { status: "fulfilled", value: { rows: [{ value: 1 }] } },
  ]);
});
