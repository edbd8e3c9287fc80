import { createHash } from "node:crypto";

export type Row = Record<string, unknown>;

// A statement: text with numbered parameters, and a name under which each connection prepares it once ("": not at all).
export type Statement = { name: string; text: string; values: unknown[] };

const names = new Map<string, string>();

// sql`select 1 where a = ${value}`: every value becomes a parameter, so that no text of a caller is ever part of a statement.
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  return statement(
    strings.reduce((text, piece, index) => `${text}$${index}${piece}`),
    values,
  );
}

// For the few statements whose text is put together, from our own pieces alone.
export function statement(text: string, values: unknown[]): Statement {
  let name = names.get(text);
  if (name === undefined) {
    name = createHash("sha256").update(text).digest("base64url").slice(0, 20);
    names.set(text, name);
  }
  return { name, text, values };
}

// For what is sent once to a connection, and for what cannot be prepared.
export function unprepared(text: string, values: unknown[] = []): Statement {
  return { name: "", text, values };
}

// Arrays of ids, numbers and times, whose texts hold nothing that an array literal would have to quote. The driver's own way
// looks at every character: it was a tenth of the engine's time.
export function plainArray(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? "null").join(",")}}`;
}

// Many JSON texts as one, to be cut up by string_to_array(..., chr(1)): JSON writes that character as an escape.
export function joinJson(texts: readonly string[]): string {
  return texts.join("\u0001");
}
