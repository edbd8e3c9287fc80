import * as fc from "fast-check";
import { expect, test } from "vitest";
import { CsvFault, csvCell, csvRecords } from "./csv.ts";
import { readEntries } from "./list-csv.ts";

const nowMs = Date.parse("2026-11-15T00:00:00.000Z");
const read = (csv: string, first_line?: number) =>
  readEntries("ip", { csv, ...(first_line !== undefined && { first_line }) }, nowMs);

test("readEntries: takes what is right, and counts what is refused by its reason", () => {
  const csv = [
    "value;expires_at;reason;other",
    "203.0.113.7;2027-01-31;An attack;x",
    "203.0.113.0/24;2027-01-31T12:00:00Z;;",
    "203.0.113.9/24;;;",
    "198.51.100.9/24;;;",
    "nonsense;;;",
    "203.0.113.8;2026-11-14;;",
    "203.0.113.8;soon;;",
    "",
  ].join("\r\n");
  expect(read(csv)).toEqual({
    entries: [
      { value: "203.0.113.7", expires_at: "2027-01-31T00:00:00.000Z", reason: "An attack" },
      { value: "203.0.113.0/24", expires_at: "2027-01-31T12:00:00.000Z" },
    ],
    refused: 5,
    reasons: [
      { reason: "value has bits set after its prefix", count: 2 },
      { reason: "value must be an IP address, or a block such as 203.0.113.0/24", count: 1 },
      { reason: "expires_at must be in the future", count: 1 },
      { reason: expect.stringContaining("expires_at must be a day"), count: 1 },
    ],
    refusals: [4, 5, 6, 7, 8].map((line) => expect.objectContaining({ line })),
  });
});

test("readEntries: a single column needs no header, and a part names the lines of the whole file", () => {
  expect(read("203.0.113.7\n203.0.113.8\n").entries).toEqual([{ value: "203.0.113.7" }, { value: "203.0.113.8" }]);
  expect(read("value\nx\n203.0.113.8\ny\n", 5_001).refusals.map(({ line }) => line)).toEqual([5_001, 5_003]);
  expect(read("x\n203.0.113.8\n", 7).refusals.map(({ line }) => line)).toEqual([7]);
});

test("readEntries: a file whose columns are unknown, or whose quotes do not end, is refused as a whole", () => {
  expect(() => read("ip,why\n203.0.113.7,x\n")).toThrow(CsvFault);
  expect(() => read('value\n"203.0.113.7\n')).toThrow(CsvFault);
});

test("csvCell: no cell begins like a formula, and every text comes back from an import", () => {
  const odd = fc.string({
    unit: fc.constantFrom("=", "+", "-", "@", "'", '"', ",", ";", "\t", "\n", " ", "a", "1"),
    minLength: 1,
  });
  fc.assert(
    fc.property(odd, (text) => {
      const cell = csvCell(text);
      const [, record] = csvRecords(`value,reason\nx,${cell}\n`);
      expect(record?.fields[1]).not.toMatch(/^[=+\-@\t]/);
      const back = readEntries("text", { csv: `value,reason\nx,${cell}\n` }, nowMs).entries[0]?.reason;
      expect(back).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});
