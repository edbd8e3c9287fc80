import { expect, inject, onTestFinished, test } from "vitest";
import { Database } from "../src/db/postgres/database.ts";
import { sql } from "../src/db/postgres/sql.ts";

test("wire: a statement that waits behind others on its connection does not time out because of the time they take", async () => {
  const database = new Database({ connectionString: inject("databaseUrl") });
  onTestFinished(() => database.end());
  // Two on each of the two read connections: the second is answered later than the timeout of a silent connection.
  const slow = [1, 2, 3, 4].map((each) => database.query<{ each: number }>(sql`select ${each}::int as each from pg_sleep(7)`));
  expect((await Promise.all(slow)).flat()).toEqual([{ each: 1 }, { each: 2 }, { each: 3 }, { each: 4 }]);
});
