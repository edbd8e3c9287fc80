import * as fc from "fast-check";
import { fields } from "../../service/src/detection/catalogue.ts";
import { compileRule, RuleFault } from "../../service/src/detection/compile.ts";
import { defaultRules } from "../../service/src/detection/default-rules.ts";
import { contextOf, type Attributes } from "../../service/src/detection/vector.ts";
import { isStorable } from "../../service/src/domain/text.ts";
import type { Answer } from "./answer.ts";
import { askWithoutEffect, type Asked, type Context } from "./context.ts";
import { bearer, bytesOf } from "./request.ts";
import { refusalFault } from "./schema-rules.ts";
import { withJson } from "./valid.ts";

const expressionMax = 2_000;
const nodesMax = 200;

const tokens = [
  ..."event attributes a x __proto__ constructor true false null in has( size( matches( .startsWith( .contains( .lowerAscii() .all(x, .map(x,".split(
    " ",
  ),
  ...`. ( ) [ ] { } , : ? ! - + * / % < <= > >= == != && || // """ ' " \\ r" ["a"] in[ .matches('(a+)+$') .matches("[") ;`.split(
    " ",
  ),
  ...`1 64 2.5 1e9 1e999 0x1F 7u 99999999999999999999 "a" '(a|b)*' r"\\d" b"a" 😀 \u0000 \ud800 \u2028`.split(" "),
  ...fields.map(({ name }) => name),
];
const token = fc.constantFrom(...tokens);
const soup = fc
  .tuple(fc.array(token, { maxLength: 40 }), fc.constantFrom(" ", "\n", ""))
  .map(([parts, between]) => parts.join(between));

const own = fc.constantFrom(...defaultRules.map(({ expression }) => expression));
const near = fc
  .tuple(own, fc.nat(), fc.nat(8), fc.oneof(token, fc.string({ unit: "binary", maxLength: 3 }), fc.constant("")))
  .map(([expression, place, cut, put]) => {
    const at = place % expression.length;
    return `${expression.slice(0, at)}${put}${expression.slice(at + cut)}`;
  });
const joined = fc.tuple(own, fc.constantFrom(" && ", " || ", " == ", " ? ", " + ", " in "), own).map((parts) => parts.join(""));
const nested = fc
  .tuple(fc.constantFrom("(", "!", "-", "[", "{", "size(", "has(", "a ? ", "1+", "event."), fc.integer({ min: 1, max: 700 }), own)
  .map(([open, depth, expression]) => `${open.repeat(depth)}${expression}${open.endsWith("(") ? ")".repeat(depth) : ""}`);
const huge = fc
  .tuple(fc.constantFrom("9", "a", "1.", "é"), fc.integer({ min: 1, max: 3_000 }))
  .map(([unit, count]) => `event.value > ${unit.repeat(count)}`);
const signs = "a b . * + ? ( ) [ ] {1,50} {1000} {3} | ^ $ \\d \\pL \\1 (?i) (?= (?: é 😀 - \\".split(" ");
const patterns = fc
  .tuple(fc.array(fc.constantFrom(...signs), { maxLength: 14 }), fc.constantFrom(`r"`, `"`, "'"))
  .map(([parts, quote]) => `event.attributes.a.matches(${quote}${parts.join("")}${quote.at(-1)})`);
const anything = fc.string({ unit: "binary", maxLength: 200 });

const ruleTexts = fc.oneof(soup, near, joined, nested, huge, patterns, anything, own);
const attributes = fc.dictionary(
  fc.constantFrom("a", "amount", "__proto__", "label"),
  fc.oneof(fc.string(), fc.double(), fc.boolean()),
);

function faultOf(expression: string): RuleFault | null {
  try {
    compileRule(expression);
    return null;
  } catch (error) {
    if (error instanceof RuleFault) return error;
    throw error;
  }
}

// Throws if the compiler throws anything but a RuleFault.
function isRuleOrFault(expression: string, given: Attributes): boolean {
  const fault = faultOf(expression);
  if (fault) return isPlaceIn(expression, fault) && fault.message !== "" && (fault.hint === null || fault.hint !== "");
  const { reads, test } = compileRule(expression);
  const isBounded = expression.length <= expressionMax && reads.length > 0 && reads.length <= nodesMax;
  return isBounded && typeof test(contextOf({}, given)) === "boolean";
}

function isPlaceIn(expression: string, { position: { offset, line, column } }: RuleFault): boolean {
  const before = expression.slice(0, offset).split("\n");
  return offset >= 0 && offset <= expression.length && line === before.length && column === (before.at(-1) ?? "").length + 1;
}

export function fuzzCompiler({ ledger, random }: Context, runs: number): void {
  const property = fc.property(ruleTexts, attributes, isRuleOrFault);
  const { failed, counterexample, errorInstance } = fc.check(property, { seed: random.word() | 0, numRuns: runs });
  ledger.add("expressions for the rule compiler, in the same process", runs);
  if (failed) ledger.violate("rules' compiler", `${JSON.stringify(counterexample)}: ${String(errorInstance)}`);
}

// Sends a version that is not current. A valid rule conflicts, so nothing is applied either way.
export async function sendRules(context: Context, requests: number): Promise<void> {
  const { world, random } = context;
  const path = `/v2/${world.slug}/rules/${world.ids["rule_id"]}`;
  const request = { method: "PUT", path, params: {}, query: [], headers: [bearer(world.token)] };
  const rest = { name: "A", sentence: "It was.", label: "Bot", weight: 1, about: "account", state: "off", rule_version: 999_999 };
  const asked = fc.sample(ruleTexts, { seed: random.word() | 0, numRuns: requests }).map((expression): Asked => {
    const isRule = expression !== "" && isStorable(expression) && faultOf(expression) === null;
    const refusal = isRule
      ? { status: 409, type: "item-version-conflict" }
      : { status: 422, type: "validation-error", field: "expression" };
    const judge = (answer: Answer) => refusalFault(answer, refusal);
    return { bytes: bytesOf(withJson(request, { ...rest, expression })), about: "an expression", judge };
  });
  await askWithoutEffect(context, "expression for the rule compiler", asked);
}
