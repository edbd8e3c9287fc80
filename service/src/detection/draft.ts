import type { ReadValue } from "../domain/decision.ts";
import { firstCharacters } from "../domain/field.ts";
import type { Features } from "./catalogue.ts";
import { compileRule } from "./compile.ts";
import { findField } from "./field-name.ts";
import { contextOf, findPlace, unpack, valueIn, type Attributes, type RuleContext } from "./vector.ts";

const attributeCharactersShown = 300;

// A rule that is tried on the texts of stored decisions.
export type Draft = {
  reads: string[];
  readsAttributes: boolean;
  hasPatterns: boolean;
  test: (decision: string, document: string) => boolean;
};

// Throws RuleFault.
export function compileDraft(expression: string): Draft {
  const { reads, test, instructions } = compileRule(expression);
  const readsAttributes = reads.includes("event.attributes");
  const { context, show } = lazyContext(reads);
  return {
    reads,
    readsAttributes,
    hasPatterns: instructions > 0,
    test: (decision, document) => {
      show(decision);
      if (readsAttributes) context.event.attributes = attributesOf(document);
      return test(context);
    },
  };
}

// Returns what an expression or a sentence read. Attributes are shown all together, up to a length.
export function valuesOf(reads: string[], context: RuleContext): ReadValue[] {
  return reads.map((name) => {
    const place = findPlace(name);
    const value = place && context[place.group][place.key];
    const shown = value === undefined || typeof value === "object" ? attributesShown(context.event.attributes) : value;
    return { name, plain_name: findField(name)?.plain ?? name, value: shown };
  });
}

function attributesShown(attributes: Attributes): string {
  return firstCharacters(JSON.stringify(attributes), attributeCharactersShown);
}

export function attributesOf(document: string): Attributes {
  // The activity's attributes were validated before it was stored, so the type is known.
  return (JSON.parse(document) as { attributes?: Attributes }).attributes ?? {};
}

// Returns a decision's features by name.
export function featuresOf(decision: string): Features {
  return unpack(vectorOf(decision));
}

const vectorBegins = '"f":"';

// The vector is the last member of a decision and contains no quotes, so extracting it costs a fraction of parsing the text.
function vectorOf(decision: string): string {
  const at = decision.lastIndexOf(vectorBegins);
  if (at === -1) return "";
  if (!decision.endsWith('"}')) throw new Error("a stored decision is cut off");
  return decision.slice(at + vectorBegins.length, -'"}'.length);
}

// Uses one context for all decisions. A field is searched in the current decision's text, and only when the draft reads it.
function lazyContext(reads: string[]): { context: RuleContext; show: (decision: string) => void } {
  const context = contextOf({}, {});
  let shown = "";
  for (const place of reads.flatMap((each) => findPlace(each) ?? [])) {
    Object.defineProperty(context[place.group], place.key, { get: () => valueIn(shown, place) });
  }
  return { context, show: (decision) => (shown = vectorOf(decision)) };
}
