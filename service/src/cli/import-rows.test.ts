import { expect, test } from "vitest";
import { lineReader, readColumnMap, recordReader } from "./import-rows.ts";

const settings = { slug: "shop", nowMs: Date.parse("2026-11-15T10:00:00.000Z"), knownAfterDays: 7 };
const readerOf = (header: string, ...maps: string[]) =>
  recordReader({ line: 1, fields: header.split(",") }, { map: readColumnMap(maps), ...settings });
const rowOf = (...fields: string[]) => ({ line: 2, fields });

test("import: members come from mapped columns, from columns with their name and from constants, including nested members", () => {
  const read = readerOf(
    "TxId,Customer,When,Total,Bin,Channel,Risk,currency,Other",
    "activity_id=TxId,website_account_id=customer,occurred_at=When,amount=Total",
    "instrument.bin=Bin,instrument.type=:card,attributes.channel=Channel,attributes.risk=Risk,type=:payment",
  );
  expect(read(rowOf("t-1", " c 7 ", "2026-11-01 12:00:00", "12.50", "411111", "web", "0.7", "EUR", "x"))).toEqual({
    past: {
      activity_id: "t-1",
      website_account_id: "c 7",
      occurred_at: "2026-11-01T12:00:00.000Z",
      amount: 12.5,
      currency: "EUR",
      type: "payment",
      instrument: { bin: "411111", type: "card" },
      attributes: { channel: "web", risk: 0.7 },
    },
  });
});

test("import: an empty cell is left out", () => {
  const read = readerOf("occurred_at,amount,payee_id", "type=:payment");
  expect(read(rowOf("2026-11-01", "", ""))).toEqual({
    past: {
      activity_id: expect.stringMatching(/^import-[0-9a-f]{40}$/),
      occurred_at: "2026-11-01T00:00:00.000Z",
      type: "payment",
    },
  });
});

test("import: the id of an activity without one is computed from its line and its tenant", () => {
  const idOf = (read: ReturnType<typeof readerOf>, ...fields: string[]) => {
    const parsed = read(rowOf(...fields));
    return "past" in parsed ? parsed.past.activity_id : parsed.fault;
  };
  const read = readerOf("occurred_at,amount", "type=:payment");
  const [one, same, other] = ["5", "5", "6"].map((amount) => idOf(read, "2026-11-01", amount));
  expect(one).toBe(same);
  expect(one).not.toBe(other);
  const elsewhere = recordReader(
    { line: 1, fields: ["occurred_at", "amount"] },
    { map: readColumnMap(["type=:payment"]), ...settings, slug: "other" },
  );
  expect(idOf(elsewhere, "2026-11-01", "5")).not.toBe(one);
});

test.each([
  ["a flag and a time", "fraudulent,known_at", ["t", "2026-11-05"], { fraudulent: true, known_at: "2026-11-05T00:00:00.000Z" }],
  ["a flag alone", "fraudulent", ["1"], { fraudulent: true, known_at: "2026-11-08T00:00:00.000Z" }],
  ["a flag that says no", "fraudulent", ["f"], { fraudulent: false }],
  ["a time alone", "known_at", ["2026-11-05"], { fraudulent: true, known_at: "2026-11-05T00:00:00.000Z" }],
  ["no time", "known_at", [""], {}],
])("import: a known fraud is recognized by %s", (_name, columns, values, wanted) => {
  const parsed = readerOf(`occurred_at,${columns}`, "type=:payment")(rowOf("2026-11-01", ...values));
  const { past } = parsed as { past: Record<string, unknown> };
  const { activity_id: _id, type: _type, occurred_at: _at, ...rest } = past;
  expect(rest).toEqual(wanted);
});

test("import: for a fraud of the last days, no known_at is sent, so the service uses the current time", () => {
  const parsed = readerOf("occurred_at,fraudulent", "type=:payment")(rowOf("2026-11-14", "yes"));
  expect("past" in parsed && parsed.past.known_at).toBe(undefined);
});

test.each([
  ["1763200800", "2025-11-15T10:00:00.000Z"],
  ["1763200800123", "2025-11-15T10:00:00.123Z"],
  ["2025-11-15T12:00:00+02:00", "2025-11-15T10:00:00.000Z"],
  ["2025-11-15 10:00", "2025-11-15T10:00:00.000Z"],
])("import: the time %s is read", (text, occurred_at) => {
  expect(readerOf("occurred_at", "type=:payment")(rowOf(text))).toMatchObject({ past: { occurred_at } });
});

test.each([
  [["15.11.2026", "1", "EUR"], 'occurred_at "15.11.2026" is not a time'],
  [["2026-11-16", "1", "EUR"], "occurred_at must not be in the future"],
  [["2026-11-01", "1.234,50", "EUR"], 'amount "1.234,50" is not a number'],
  [["2026-11-01", "1", "Euro"], "currency is not an allowed value or format"],
  [["", "1", "EUR"], "occurred_at is required"],
  [["2026-11-01", "1"], "has 2 fields instead of 3"],
])("import: the row %j is bad", (fields, fault) => {
  const read = readerOf("occurred_at,amount,currency", "type=:payment");
  expect(read(rowOf(...fields))).toEqual({ fault: expect.stringContaining(fault) });
});

test("import: a wrong map, or a file without the required columns, is reported before anything is read", () => {
  for (const map of ["total", "total=Amount", "amount=", "type=:", "instrument=Card", "attributes.=x"])
    expect(() => readColumnMap([map])).toThrow("--map must be like");
  expect(() => readerOf("a,b", "type=:payment")).toThrow("no column occurred_at");
  expect(() => readerOf("occurred_at")).toThrow("--map type=:payment");
  expect(() => readerOf("occurred_at", "type=Kind")).toThrow('no column "Kind"');
});

const line = { type: "payment", occurred_at: "2026-11-01T00:00:00Z" };

test.each([
  [JSON.stringify({ ...line, activity_id: "a" }), { past: { ...line, activity_id: "a" } }],
  [JSON.stringify(line), { past: { ...line, activity_id: expect.stringMatching(/^import-/) } }],
  ["{", { fault: expect.stringContaining("JSON") }],
  ["[1]", { fault: "is not a JSON object" }],
  [JSON.stringify({ ...line, amont: 5 }), { fault: "amont is not a member that can be set" }],
  [JSON.stringify({ ...line, type: "x", amount: "5" }), { fault: expect.stringMatching(/^type .*; amount must be a number$/) }],
])("import: the line %s is read", (text, wanted) => {
  expect(lineReader(settings)(text)).toEqual(wanted);
});
