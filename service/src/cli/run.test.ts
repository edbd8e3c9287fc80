import { expect, test } from "vitest";
import { commandGroups } from "./run.ts";

test.each(commandGroups)(
  "command line: the group of $words has the commands that begin with these words",
  async ({ words, load }) => {
    const commands = await load();
    const begins = commands.map(({ name }) => words.find((begin) => name === begin || name.startsWith(`${begin} `)));
    expect(new Set(begins)).toEqual(new Set(words));
  },
);

test("command line: no two groups have the same word", () => {
  const words = commandGroups.flatMap((group) => group.words);
  expect(words).toHaveLength(new Set(words).size);
});
