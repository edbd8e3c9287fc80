import { expect, test } from "vitest";
import { readLines, type TextLine } from "./jsonl.ts";

async function* piecesOf(...pieces: string[]): AsyncGenerator<string> {
  yield* pieces;
}

async function read(...pieces: string[]): Promise<TextLine[]> {
  const lines: TextLine[] = [];
  for await (const line of readLines(piecesOf(...pieces))) lines.push(line);
  return lines;
}

test("lines: line numbers are right wherever the pieces end, and empty lines are skipped", async () => {
  const wanted = [
    { line: 1, text: "a" },
    { line: 3, text: "bc" },
    { line: 4, text: "d" },
  ];
  expect(await read("\uFEFFa\r\n\r\nbc\nd")).toEqual(wanted);
  expect(await read("\uFEFFa\r", "\n \nb", "c\n", "d\n", "")).toEqual(wanted);
  expect(await read("")).toEqual([]);
});

test("lines: a line that is too long is reported and not kept, and the next one is read", async () => {
  const long = "x".repeat(40_000);
  expect(await read(long, long, `${long}\nnext`)).toEqual([
    { line: 1, text: null },
    { line: 2, text: "next" },
  ]);
  expect(await read(`${long}${long}\nnext`)).toEqual([
    { line: 1, text: null },
    { line: 2, text: "next" },
  ]);
});
