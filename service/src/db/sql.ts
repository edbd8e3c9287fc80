import { createHash } from "node:crypto";

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
