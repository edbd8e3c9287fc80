import { expect, test } from "vitest";
import { CsvFault } from "../domain/csv.ts";
import { readEntries } from "../domain/list-csv.ts";
import { listParts, type ListPart } from "./list-parts.ts";

async function* pieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 1_000) yield text.slice(at, at + 1_000);
}

async function partsOf(text: string): Promise<ListPart[]> {
  const parts: ListPart[] = [];
  for await (const part of listParts(pieces(text))) parts.push(part);
  return parts;
}

const nowMs = Date.parse("2026-11-01T00:00:00.000Z");

test("parts of a list: the service reads the same entries as from the whole file, and names the same lines", async () => {
  const lines = [
    "Value;owner;reason;expires_at",
    '203.0.113.1;"a\nb";"he said ""no""; and\nleft";2027-01-31',
    "",
    "not an address;x;y;",
    "'=1;x;'=2;yesterday",
    "203.0.113.2;;'=2;",
    ";;;",
  ];
  const whole = lines.join("\r\n");
  const [part, ...others] = await partsOf(whole);
  expect(others).toEqual([]);
  expect(part?.records).toBe(5);
  const { csv = "", first_line = 0 } = part ?? {};
  expect(readEntries("ip", { csv, first_line }, nowMs)).toEqual(readEntries("ip", { csv: whole }, nowMs));
});

test("parts of a list: a large file becomes several parts, and each names its own lines", async () => {
  const values = Array.from({ length: 60_000 }, (_, index) =>
    index === 50_000 ? "wrong" : `10.${(index >> 8) >> 8}.${(index >> 8) & 255}.${index & 255}`,
  );
  for (const header of [[], ["value"]]) {
    const parts = await partsOf([...header, ...values].join("\n"));
    expect(parts.length).toBeGreaterThan(1);
    const read = parts.map(({ records: _records, ...body }) => readEntries("ip", body, nowMs));
    expect(read.flatMap(({ entries }) => entries)).toHaveLength(values.length - 1);
    expect(read.flatMap(({ refusals }) => refusals)).toEqual([
      { line: 50_001 + header.length, value: "wrong", reason: expect.stringContaining("value must") },
    ]);
  }
});

test("parts of a list: thousands of empty lines are not sent, and a file without a usable first line is rejected", async () => {
  const parts = await partsOf(`203.0.113.1${"\n".repeat(5_000)}wrong`);
  expect(parts.map(({ csv }) => csv.length < 100)).toEqual([true, true]);
  expect(parts[1]?.first_line).toBe(5_001);
  await expect(partsOf("")).rejects.toThrow(CsvFault);
  await expect(partsOf("a,b\n1,2")).rejects.toThrow("no column named value");
});
