import { createHash } from "node:crypto";

export type Row = Record<string, unknown>;

// A statement: text with numbered parameters, and the name under which each connection prepares it once. With an empty name, it
// is not prepared. One that changes nothing may be sent together with the BEGIN of its transaction.
export type Statement = { name: string; text: string; values: unknown[]; changesNothing?: boolean };

const names = new Map<string, string>();
// A place in the source always passes the same array, so its text is assembled once.
const templates = new WeakMap<TemplateStringsArray, Omit<Statement, "values">>();

// sql`select 1 where a = ${value}`: every value becomes a parameter, so a caller's text is never part of a statement.
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  let template = templates.get(strings);
  if (!template) {
    const { name, text } = statement(
      strings.reduce((before, piece, index) => `${before}$${index}${piece}`),
      values,
    );
    template = { name, text };
    templates.set(strings, template);
  }
  return { name: template.name, text: template.text, values };
}

// For the few statements whose text is assembled. The pieces must be our own text, never a caller's.
export function statement(text: string, values: unknown[]): Statement {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash("sha256").update(text).digest("base64url").slice(0, 20);
    names.set(text, name);
  }
  return { name, text, values };
}

// For statements that are sent once per connection, or that cannot be prepared.
export function unprepared(text: string, values: unknown[] = []): Statement {
  return { name: "", text, values };
}

// For arrays of ids, numbers and times, whose texts need no quoting in an array literal. The driver's own conversion checks every
// character and took a tenth of the engine's time.
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? "null").join(",")}}`;
}

const needsEscape = /["\\]/;
const toEscape = /["\\]/g;

// For arrays of texts that may contain anything. The driver's own conversion searches each text twice and joins them one by one.
export function textArray(values: readonly (string | null)[]): string {
  const quoted = values.map((value) => {
    if (value === null) return "null";
    return needsEscape.test(value) ? `"${value.replace(toEscape, "\\$&")}"` : `"${value}"`;
  });
  return `{${quoted.join(",")}}`;
}

// Joins JSON texts into one, to be split by string_to_array(..., chr(1)). JSON always escapes that character.
export function joinJson(texts: readonly string[]): string {
  return texts.join("\u0001");
}
