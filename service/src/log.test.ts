import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { errorShown, prettyLine } from "./log.ts";

test("log: an error shows what went wrong, but not the data that could not be read", () => {
  const outer = new Error("A batch failed.", { cause: Object.assign(new Error('bad value: "user-42"'), { code: "22P02" }) });
  const text = JSON.stringify(errorShown(outer));
  expect(text).toContain("A batch failed.");
  expect(text).toContain("22P02");
  expect(text).not.toContain("user-42");
  let parsing: unknown;
  try {
    JSON.parse("user-42");
  } catch (error) {
    parsing = error;
  }
  expect(String(parsing)).toContain("user-42");
  expect(JSON.stringify(errorShown(parsing))).toMatch(/SyntaxError/);
  expect(JSON.stringify(errorShown(parsing))).not.toContain("user-42");
});

test("log: a terminal gets short lines about what needs attention, anything else gets JSON from info on, and both can be set", () => {
  expect(readConfig({}, true)).toMatchObject({ logFormat: "pretty", logLevel: "warn" });
  expect(readConfig({}, false)).toMatchObject({ logFormat: "json", logLevel: "info" });
  const set = { LOG_FORMAT: "json", LOG_LEVEL: "debug" };
  expect(readConfig(set, true)).toMatchObject({ logFormat: "json", logLevel: "debug" });
  expect(() => readConfig({ LOG_FORMAT: "xml" })).toThrow(/LOG_FORMAT/);
});

test("log: a line for people has time, level, message and members, and the error below it", () => {
  const err = errorShown(new Error("A batch failed.", { cause: new Error("No disk.") }));
  const line = JSON.stringify({ level: "warn", time: "2026-11-18T10:30:03.123Z", tenant: "demo", rows: 3, err, msg: "retrying" });
  const [head, ...below] = prettyLine(line).split("\n");
  expect(head).toBe("10:30:03  warn   retrying  tenant=demo  rows=3");
  expect(below.join("\n")).toMatch(/^ {10}Error: A batch failed\.\n[^]* {10}Error: No disk\.\n/);
});

test("log: a caller's text cannot move a terminal's cursor, begin a new line or reverse it", () => {
  const path = "/v2/\u001b[2J\u009b1A\r\n10:30:03  info   all is well\u202e";
  const text = prettyLine(JSON.stringify({ level: "info", time: "2026-11-18T10:30:03.123Z", path, msg: "request" }));
  expect(text.match(/[\p{Cc}\p{Cf}]/gu)).toEqual(["\n"]);
});
