import type { FeatureValue, FieldType } from "./catalogue.ts";
import { RuleFault } from "./fault.ts";
import type { Syntax } from "./syntax.ts";
import type { RuleContext } from "./vector.ts";

// The type of an attribute is known only at run time.
export type TermType = FieldType | "attribute";

// `undefined` means unknown: an attribute that is missing or has another type, or a division by zero. Every operator passes it
// on, unless the other side decides `&&` or `||`. A rule whose result is unknown is false.
export type Known = FeatureValue | undefined;
export type Run = (context: RuleContext) => Known;

export type Term = {
  type: TermType;
  syntax: Syntax;
  run: Run;
  constant?: Known;
  isRing?: boolean;
  // The name of the field, if the term is nothing but a field.
  name?: string;
  // The event types for which the term can be true. Unset if it may be true for any type.
  types?: ReadonlySet<string>;
};

export const plainTypes: Record<TermType, string> = {
  number: "a number",
  string: "a string",
  boolean: "true or false",
  map: "the map of all attributes",
  attribute: "an attribute",
};

// Checks a known type now. An attribute's value is checked at run time.
export function requireType({ type, syntax }: Term, wanted: "number" | "string" | "boolean", operator: string): void {
  if (type === wanted || type === "attribute") return;
  throw new RuleFault(`\`${operator}\` needs ${plainTypes[wanted]}, but this is ${plainTypes[type]}.`, syntax);
}
