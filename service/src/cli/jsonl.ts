// `text` is null if the line is too long.
export type TextLine = { line: number; text: string | null };

const lineCharactersMax = 64 * 1024;

// Splits pieces of text into lines and keeps only one line and one piece in memory. Empty lines are skipped.
export async function* readLines(pieces: AsyncIterable<string>): AsyncGenerator<TextLine> {
  let line = 1;
  let rest = "";
  let isTooLong = false;
  const take = (text: string): TextLine[] => {
    const whole = rest + text;
    const at = line++;
    const isLong = isTooLong || whole.length > lineCharactersMax;
    [rest, isTooLong] = ["", false];
    if (isLong) return [{ line: at, text: null }];
    const shown = (at === 1 ? whole.replace(/^\uFEFF/, "") : whole).trim();
    return shown === "" ? [] : [{ line: at, text: shown }];
  };
  for await (const piece of pieces) {
    const parts = piece.split("\n");
    const last = parts.pop() ?? "";
    for (const part of parts) yield* take(part);
    isTooLong ||= rest.length + last.length > lineCharactersMax;
    rest = isTooLong ? "" : rest + last;
  }
  yield* take("");
}
