import { expect, test } from "vitest";
import { LineRelay } from "./line-relay.ts";

function openRelay(isJson: boolean) {
  const written: string[] = [];
  const stray: string[] = [];
  const output = { write: (text: string) => written.push(text) };
  const relay = new LineRelay({ output, onStray: isJson ? (text) => stray.push(text) : null });
  return { relay, written, stray };
}

test("log of a worker: lines are passed on whole, wherever the chunks end", () => {
  const { relay, written, stray } = openRelay(true);
  const text = '{"a":1}\n{"b":"two"}\n{"c":3}\n';
  for (const character of text) relay.write(character);
  relay.write('{"d":4}\n{"e"');
  relay.write(":5}\n");
  relay.end();
  expect(written).toEqual(['{"a":1}\n', '{"b":"two"}\n', '{"c":3}\n', '{"d":4}\n', '{"e":5}\n']);
  expect(stray).toEqual([]);
});

test("log of a worker: what is not JSON, and half a line of a worker that was killed, is put into a line of its own", () => {
  const { relay, written, stray } = openRelay(true);
  relay.write('{"a":1}\nFATAL ERROR: heap\n\n at f\n{"b":2}\n{"c":');
  relay.end();
  expect(written).toEqual(['{"a":1}\n', '{"b":2}\n']);
  expect(stray).toEqual(["FATAL ERROR: heap", " at f", '{"c":']);
});

test("log of a worker: lines for people are passed on as they are", () => {
  const { relay, written } = openRelay(false);
  relay.write("10:00:00  warn   slow\n          Error: x\n");
  relay.write("10:00:01  err");
  relay.end();
  expect(written.join("")).toBe("10:00:00  warn   slow\n          Error: x\n10:00:01  err\n");
});

test("log of a worker: a line without an end is passed on in parts instead of filling the memory", () => {
  const { relay, written } = openRelay(false);
  const piece = "x".repeat(100_000);
  for (let count = 0; count < 25; count++) relay.write(piece);
  expect(written.join("").length).toBeGreaterThan(2_000_000);
});
