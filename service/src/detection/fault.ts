// A position in the author's text, for an editor to underline. Offset and column count UTF-16 units, as editors do.
type Position = { offset: number; line: number; column: number };

type SourcePosition = { input: string; start: number };

// An error in a rule, worded for its author.
export class RuleFault extends Error {
  readonly position: Position;
  readonly hint: string | null;

  constructor(message: string, place: SourcePosition, hint: string | null = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "RuleFault";
    this.position = positionOf(place);
    this.hint = hint;
  }
}

function positionOf({ input, start }: SourcePosition): Position {
  const lines = input.slice(0, start).split("\n");
  return { offset: start, line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}
