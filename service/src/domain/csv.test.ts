import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readCsv, type CsvRecord } from "./csv.ts";

async function read(...pieces: string[]): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  for await (const record of readCsv(toPieces(pieces))) records.push(record);
  return records;
}

async function* toPieces(pieces: string[]): AsyncGenerator<string> {
  yield* pieces;
}

test("csv: quotes, both kinds of line ends, empty lines, a byte order mark and a missing last line end", async () => {
  expect(await read('\uFEFFa,b\r\n"x, ""y""",2\n\n"two\nlines",\r\nlast,1')).toEqual([
    { line: 1, fields: ["a", "b"] },
    { line: 2, fields: ['x, "y"', "2"] },
    { line: 4, fields: ["two\nlines", ""] },
    { line: 6, fields: ["last", "1"] },
  ]);
});

test.each([",", ";", "\t"])("csv: the header determines the delimiter %j", async (delimiter) => {
  const [header, row] = await read(`a${delimiter}b${delimiter}c\n1${delimiter}2${delimiter}3\n`);
  expect([header?.fields, row?.fields]).toEqual([
    ["a", "b", "c"],
    ["1", "2", "3"],
  ]);
});

test("csv: records are the same however the text is cut into pieces", async () => {
  const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "é", " ", ";"), maxLength: 6 });
  const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(rows, fc.array(fc.nat(40), { maxLength: 8 }), async (given, cuts) => {
      const all = [["h1,", "h2"], ...given];
      const quoted = all.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(",")).join("\r\n");
      const places = [0, ...cuts.map((cut) => Math.min(cut, quoted.length)).toSorted((a, b) => a - b), quoted.length];
      const pieces = places.slice(1).map((place, index) => quoted.slice(places[index], place));
      expect((await read(...pieces)).map(({ fields }) => fields)).toEqual(all);
    }),
    { numRuns: 200 },
  );
});

test("csv: a quote that does not end, an endless record and an empty file are rejected", async () => {
  await expect(read('a,b\n1,2\n"open,3\n4,5\n')).rejects.toThrow("line 3: a quoted field does not end");
  await expect(read("a,b\n", `1,"${"x".repeat(70_000)}`)).rejects.toThrow("line 2: the record is longer");
  await expect(read("")).rejects.toThrow("the header is missing");
});

async function* endless(): AsyncGenerator<string> {
  yield "order_id,reason\n";
  for (;;) yield "o-1,stolen\n".repeat(1_000);
}

test("csv: only one record is kept, whatever the size of the file", async () => {
  let last = 0;
  for await (const { line } of readCsv(endless())) {
    last = line;
    if (last === 20_000) break;
  }
  expect(last).toBe(20_000);
});
