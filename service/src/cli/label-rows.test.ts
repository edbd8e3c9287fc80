import { expect, test } from "vitest";
import { labelReader, readMap } from "./label-rows.ts";

const nowMs = Date.parse("2026-11-15T10:00:00.000Z");
const readerOf = (header: string, map?: string) =>
  labelReader({ line: 1, fields: header.split(",") }, { map: readMap(map), nowMs });

test("labels import: columns are found by name or by map, in any order and letter case", () => {
  const read = readerOf("Date,Amount,OrderRef,Fraud", "order_id=orderref,known_at=Date,fraudulent=Fraud");
  expect(read({ line: 2, fields: ["2026-11-01", "12", " o-1 ", "No"] })).toEqual({
    label: { order_id: "o-1", fraudulent: false, known_at: "2026-11-01T00:00:00.000Z" },
  });
});

test("labels import: without a column for it every row is a fraud, and an activity is preferred to an order", () => {
  const read = readerOf("order_id,activity_id");
  expect(read({ line: 2, fields: ["o-1", "a-1"] })).toEqual({ label: { activity_id: "a-1", fraudulent: true } });
  expect(read({ line: 3, fields: ["o-1", ""] })).toEqual({ label: { order_id: "o-1", fraudulent: true } });
});

test.each([
  [["", "1", ""], "names neither an activity nor an order"],
  [["o", "maybe", ""], '"maybe" is neither true nor false'],
  [["o", "1", "1.11.2026"], '"1.11.2026" is not a time'],
  [["o", "1", "2026-02-30"], '"2026-02-30" is not a time'],
  [["o", "1", "2026-11-16"], "2026-11-16 is in the future"],
  [["o", "1"], "has 2 fields instead of 3"],
  [["x".repeat(129), "1", ""], "more than 128 characters"],
  [["a\0b", "1", ""], "cannot be stored"],
])("labels import: the row %j is bad", (fields, fault) => {
  expect(readerOf("order_id,fraudulent,known_at")({ line: 2, fields })).toEqual({ fault: expect.stringContaining(fault) });
});

test.each([
  ["2026-11-01T12:00:00Z", "2026-11-01T12:00:00.000Z"],
  ["2026-11-01 12:00+02:00", "2026-11-01T10:00:00.000Z"],
])("labels import: the time %s is read", (text, known_at) => {
  expect(readerOf("order_id,known_at")({ line: 2, fields: ["o", text] })).toMatchObject({ label: { known_at } });
});

test("labels import: a wrong map and a file without a usable column are reported before anything is sent", () => {
  expect(() => readMap("order=OrderRef")).toThrow("--map must be like");
  expect(() => readMap("order_id")).toThrow("--map must be like");
  expect(() => readerOf("a,b")).toThrow("no column activity_id or order_id");
  expect(() => readerOf("a,b", "order_id=c")).toThrow('no column "c"');
});
