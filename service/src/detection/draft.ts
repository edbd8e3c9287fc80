import type { ReadValue } from "../domain/decision.ts";
import { firstCharacters } from "../domain/field.ts";
import type { Features } from "./catalogue.ts";
import { compileRule } from "./compile.ts";
import { findField } from "./field-name.ts";
import { contextOf, findPlace, unpack, valueIn, type Attributes, type RuleContext } from "./vector.ts";

const attributeCharactersShown = 300;

// A rule that is tried on stored decisions, given as their texts.
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

// What an expression or a sentence read, in words. Of the attributes it is all of them, as far as there is room.
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
  // Written with the activity, whose attributes were validated.
  return (JSON.parse(document) as { attributes?: Attributes }).attributes ?? {};
}

// By name.
export function featuresOf(decision: string): Features {
  return unpack(vectorOf(decision));
}

const vectorBegins = '"f":"';

// The last member of a decision, and without quotes in it: to take it out costs a fraction of parsing the text.
function vectorOf(decision: string): string {
  const at = decision.lastIndexOf(vectorBegins);
  if (at === -1) return "";
  if (!decision.endsWith('"}')) throw new Error("a stored decision is cut off");
  return decision.slice(at + vectorBegins.length, -'"}'.length);
}

// One context for all decisions: a field is looked for in the text of the one that is shown, and only when the draft asks for it.
function lazyContext(reads: string[]): { context: RuleContext; show: (decision: string) => void } {
  const context = contextOf({}, {});
  let shown = "";
  for (const place of reads.flatMap((each) => findPlace(each) ?? [])) {
    Object.defineProperty(context[place.group], place.key, { get: () => valueIn(shown, place) });
  }
  return { context, show: (decision) => (shown = vectorOf(decision)) };
}
