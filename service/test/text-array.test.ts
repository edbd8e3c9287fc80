import { expect, test } from "vitest";
import { sql, textArray } from "../src/db/postgres/sql.ts";
import { useService } from "./harness.ts";

const service = useService();

test("textArray: PostgreSQL reads back the texts that were given, whatever they contain", async () => {
  const texts = [
    "",
    " ",
    "null",
    "NULL",
    null,
    'a"b',
    "a\\b",
    "\\",
    '"',
    '\\"',
    "a,b",
    "{a}",
    "line\nbreak\t",
    "$&",
    "é\u202e😀",
    "'",
  ];
  const rows = await service.current.database.query<{ text: string | null }>(sql`
    select text
    from unnest(${textArray(texts)}::text[]) with ordinality as t (text, position)
    order by position`);
  expect(rows.map(({ text }) => text)).toEqual(texts);
  expect(await service.current.database.query(sql`select cardinality(${textArray([])}::text[]) as count`)).toEqual([
    { count: 0 },
  ]);
});
