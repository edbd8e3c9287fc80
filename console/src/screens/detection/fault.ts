import type { FieldErrors } from "../../changes/rules.ts";

// What is wrong with a text, and where, as the service says it: "... (line 1, column 8). hint".
export type Fault = { message: string; hint: string; place: { start: number; end: number } | null };

const form = /^(.*) \(line (\d+), column (\d+)\)\.(?: (.*))?$/s;

export function faultOf(errors: FieldErrors, field: string, text: string): Fault | null {
  const error = errors.find((each) => each.field === field);
  if (!error) return null;
  const [, message, line, column, hint = ""] = form.exec(error.message) ?? [];
  if (message === undefined) return { message: error.message, hint: "", place: null };
  const start = offsetOf(text, Number(line), Number(column));
  return { message: `${message}.`, hint, place: { start, end: endOfWord(text, start) } };
}

// Lines and columns count from one, in UTF-16 units as the service and the text area count.
function offsetOf(text: string, line: number, column: number): number {
  const before = text.split("\n").slice(0, line - 1);
  const start = before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  return Math.min(start, text.length);
}

// A whole name or number, so that there is something to see; at the end of the text what stands last.
function endOfWord(text: string, start: number): number {
  const [word = ""] = /^(?:[\w.]+|"[^"\n]*"?|.)/s.exec(text.slice(start)) ?? [];
  return start + word.length;
}

export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}
