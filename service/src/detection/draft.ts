import type { ReadValue } from "../domain/decision.ts";
import { firstCharacters } from "../domain/text.ts";
import type { FeatureValue, Features } from "./catalogue.ts";
import { compileRule } from "./compile.ts";
import { listWords, valueOf } from "./contributor.ts";
import { findField } from "./field-name.ts";
import { listOfRead, type ListView } from "./list-view.ts";
import { contextOf, findPlace, unpack, valueIn, type Attributes, type RuleContext } from "./vector.ts";

const attributeCharactersShown = 300;

// A rule that is tried on the texts of stored decisions.
export type Draft = {
  reads: string[];
  readsAttributes: boolean;
  readsLists: boolean;
  hasPatterns: boolean;
  // `lists` are those that there are now, because what they contained at that time is not stored.
  test: (decision: string, document: string, lists?: ListView) => boolean;
};

// Throws RuleFault.
export function compileDraft(expression: string): Draft {
  const { reads, test, instructions } = compileRule(expression);
  const readsAttributes = reads.includes("event.attributes");
  const { context, show } = lazyContext(reads);
  return {
    reads,
    readsAttributes,
    readsLists: reads.some((name) => listOfRead(name) !== null),
    hasPatterns: instructions > 0,
    test: (decision, document, lists) => {
      show(decision);
      if (lists) context.lists = lists;
      if (readsAttributes) context.event.attributes = attributesOf(document);
      return test(context);
    },
  };
}

// Returns what an expression or a sentence read. Attributes are shown all together, up to a length.
export function valuesOf(reads: string[], context: RuleContext): ReadValue[] {
  return reads.map((name) => {
    const list = listWords(name);
    if (list !== null) return { name, plain_name: list, value: valueOf(context, name) };
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

// Returns one value, at a fraction of the cost of reading all.
export function featureOf(decision: string, name: string): FeatureValue | undefined {
  const place = findPlace(name);
  return place && valueIn(vectorOf(decision), place);
}

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
