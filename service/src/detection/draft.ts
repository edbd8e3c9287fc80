import type { ReadValue } from "../domain/decision.ts";
import { firstCharacters } from "../domain/field.ts";
import type { FeatureValue, Features } from "./catalogue.ts";
import { compileRule } from "./compile.ts";
import { findField } from "./field-name.ts";
import { contextOf, findPlace, unpack, type Attributes, type RuleContext } from "./vector.ts";

const attributeCharactersShown = 300;

// A rule that is tried on stored decisions, given as their texts.
export type Draft = {
  reads: string[];
  readsAttributes: boolean;
  test: (decision: string, document: string) => boolean;
};

// Throws RuleFault.
export function compileDraft(expression: string): Draft {
  const { reads, test } = compileRule(expression);
  const readsAttributes = reads.includes("event.attributes");
  const { context, show } = lazyContext(reads);
  return {
    reads,
    readsAttributes,
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
  // Written by the engine.
  return unpack((JSON.parse(decision) as { f?: Features }).f ?? {});
}

// One context for all decisions: a field is looked for in the text of the one that is shown, and only when the draft asks for it.
function lazyContext(reads: string[]): { context: RuleContext; show: (decision: string) => void } {
  const context = contextOf({}, {});
  let shown = "";
  for (const { name, code, group, key, zero } of reads.flatMap((each) => findPlace(each) ?? [])) {
    const token = `"${code}":`;
    const get = () => {
      const at = shown.indexOf(token);
      if (at === -1) return zero;
      const value = valueAt(shown, at + token.length) ?? featuresOf(shown)[name] ?? zero;
      return zero === false ? value === true || value === 1 : value;
    };
    Object.defineProperty(context[group], key, { get });
  }
  return { context, show: (decision) => (shown = decision) };
}

const codes = { quote: 34, comma: 44, minus: 45, zero: 48, nine: 57, brace: 125 };

// To take single values out of the text costs half of parsing it. A code with its quotes and its colon stands in a decision as
// the name of a feature and nowhere else: it begins with a digit, and inside of a text its last quote would be escaped.
// Undefined where the plain look is not enough.
function valueAt(text: string, from: number): FeatureValue | undefined {
  const code = text.charCodeAt(from);
  if (code === codes.quote) {
    const value = text.slice(from + 1, text.indexOf('"', from + 1));
    return value.includes("\\") ? undefined : value;
  }
  if (code === codes.minus || (code >= codes.zero && code <= codes.nine)) {
    let to = from + 1;
    while (to < text.length && text.charCodeAt(to) !== codes.comma && text.charCodeAt(to) !== codes.brace) to++;
    return Number(text.slice(from, to));
  }
  if (text.startsWith("true", from)) return true;
  return text.startsWith("false", from) ? false : undefined;
}
