import type { FieldErrors } from "../../changes/rules.ts";

// What is wrong with a text and where, parsed from the service's message: "... (line 1, column 8). hint".
export type Fault = { message: string; hint: string; place: { start: number; end: number } | null };

const form = /^(.*) \(line (\d+), column (\d+)\)\.(?: (.*))?$/s;

// A message without a position, or with one outside the text, is shown as it is and marks nothing.
export function faultOf(errors: FieldErrors, field: string, text: string): Fault | null {
  const error = errors.find((each) => each.field === field);
  if (!error) return null;
  const [, message, line, column, hint = ""] = form.exec(error.message) ?? [];
  const start = message === undefined ? null : offsetOf(text, Number(line), Number(column));
  if (start === null) return { message: error.message, hint: "", place: null };
  return { message: `${message}.`, hint, place: { start, end: endOfWord(text, start) } };
}

// Lines and columns count from one, in UTF-16 units, as the service and the text area count them. The position just after a
// line's last character is valid.
function offsetOf(text: string, line: number, column: number): number | null {
  const lines = text.split("\n");
  const own = lines[line - 1];
  if (own === undefined || column < 1 || column > own.length + 1) return null;
  return lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
}

// Marks a whole name or number, so the mark is visible.
function endOfWord(text: string, start: number): number {
  const [word = ""] = /^(?:[\w.]+|"[^"\n]*"?|.)/s.exec(text.slice(start)) ?? [];
  return start + word.length;
}

export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}
