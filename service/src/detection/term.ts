import type { FeatureValue, FieldType } from "./catalogue.ts";
import { RuleFault } from "./fault.ts";
import type { Syntax } from "./syntax.ts";
import type { RuleContext } from "./vector.ts";

// An attribute's type is known with the event only.
export type TermType = FieldType | "attribute";

// `undefined` is "not known": an attribute that is not there or has another type, a division by zero. It passes through every
// operator except where the other side of `&&` or `||` settles the matter, and a rule that ends in it is false.
export type Known = FeatureValue | undefined;
export type Run = (context: RuleContext) => Known;

export type Term = {
  type: TermType;
  syntax: Syntax;
  run: Run;
  constant?: Known;
  isRing?: boolean;
};

export const plainTypes: Record<TermType, string> = {
  number: "a number",
  string: "a string",
  boolean: "true or false",
  map: "the map of all attributes",
  attribute: "an attribute",
};

// Static where the type is known; an attribute's value is looked at when it is there.
export function requireType({ type, syntax }: Term, wanted: "number" | "string" | "boolean", operator: string): void {
  if (type === wanted || type === "attribute") return;
  throw new RuleFault(`\`${operator}\` needs ${plainTypes[wanted]}, and this is ${plainTypes[type]}.`, syntax);
}
