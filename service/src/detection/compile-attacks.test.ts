import * as fc from "fast-check";
import { assert, expect, test } from "vitest";
import { fields } from "./catalogue.ts";
import { compileRule, RuleFault } from "./compile.ts";
import { contextOf, type Attributes } from "./vector.ts";

const longest = 2000;

test("compileRule: matches in linear time a pattern that makes backtracking engines hang", () => {
  const rule = compileRule(`event.attributes.text.matches("(a+)+$") || event.attributes.text.matches("(x+x+)+y")`);
  for (let end = 0; end < 100; end++) {
    expect(rule.test(contextOf({}, { text: `${"a".repeat(250)}!${end}` }))).toBe(false);
    expect(rule.test(contextOf({}, { text: `${"x".repeat(250)}${end}` }))).toBe(false);
  }
  expect(rule.test(contextOf({}, { text: "a".repeat(1000) }))).toBe(true);
});

test.each([
  ["event.type.matches('(a')", "Not a pattern: missing closing ): `(a`"],
  ["event.type.matches('a(?=b)')", "Not a pattern: invalid or unsupported Perl syntax: `(?=`"],
  ["event.type.matches(r'(a)\\1')", "Not a pattern: invalid escape sequence: `\\1`"],
  ["event.type.matches('(a{0,30}){0,30}')", "The pattern is too large. Use fewer repetitions."],
  ["event.type.matches('a{1001}')", "Not a pattern: invalid repeat count: `{1001}`"],
  [`event.type.matches('${"a".repeat(201)}')`, "The pattern is longer than 200 characters."],
  ["event.type.matches(event.os)", "A pattern must be written in the rule itself, in quotes."],
  ["event.type.matches(event.attributes.a)", "A pattern must be written in the rule itself, in quotes."],
  ["event.type.matches('a'.lowerAscii())", "A pattern must be written in the rule itself, in quotes."],
])("compileRule: rejects %s at the pattern", (expression, message) => {
  const offset = "event.type.matches(".length;
  const expected = { message, position: { offset, line: 1, column: offset + 1 } };
  expect(() => compileRule(expression)).toThrow(expect.objectContaining(expected));
});

test("compileRule: rejects a sixth pattern in one rule", () => {
  const five = Array.from({ length: 5 }, () => `event.os.matches("a")`).join(" || ");
  expect(compileRule(five).reads).toEqual(["event.os"]);
  expect(() => compileRule(`${five} || event.os.matches("a")`)).toThrow("The rule has more than 5 patterns.");
});

test.each([
  ["10,000 parentheses", `${"(".repeat(10_000)}device.is_known${")".repeat(10_000)}`, /longer than 2000/],
  ["parentheses", `${"(".repeat(900)}device.is_known${")".repeat(900)}`, /deeper than 32/],
  ["parentheses that do not close", "(".repeat(longest), /deeper than 32/],
  ["lists in lists", "[".repeat(longest), /deeper than 32/],
  ["brackets", `event${`["a"]`.repeat(300)}`, /deeper than 32/],
  ["dots", `event${".a".repeat(900)}`, /deeper than 32/],
  ["calls", `event.type${".lowerAscii()".repeat(140)} == ""`, /deeper than 32/],
  ["macros in macros", `${"[1].map(x, ".repeat(150)}1${")".repeat(150)}`, /deeper than 32/],
  ["choices in choices", "device.is_known ? ".repeat(100), /deeper than 32/],
  ["`!`", `${"!".repeat(1900)}device.is_known`, /more than 200/],
  ["`-`", `${"-".repeat(1900)}event.value > 1`, /more than 200/],
  ["`+`", `${"1+".repeat(900)}event.value > 1`, /more than 200/],
  ["a chain of `&&`", `${"true&&".repeat(330)}true`, /more than 200/],
  ["a long list", `event.value in [${"1,".repeat(900)}1]`, /more than 100 values/],
  ["a map", `{${"1:1,".repeat(400)}}.a`, /more than 200/],
  ["arguments", `size(${"1,".repeat(900)}1)`, /Too many arguments/],
  ["digits", `event.value > ${"9".repeat(1900)}`, /too large/],
  ["one name", "a".repeat(longest), /There is no field/],
  ["one string", `"${"a".repeat(1990)}"`, /A rule must be true or false/],
  ["one character too many", `device.is_known${" ".repeat(longest)}`, /longer than 2000/],
])("compileRule: rejects excessive input: %s", (_name, expression, message) => {
  expect(() => compileRule(expression)).toThrow(
    expect.objectContaining({ name: "RuleFault", message: expect.stringMatching(message) }),
  );
});

test("compileRule: accepts a chain of `&&` within the limits, and evaluates every link", () => {
  const chain = Array.from({ length: 40 }, (_, index) => `event.value != ${index}`).join(" && ");
  const rule = compileRule(chain);
  expect(rule.test(contextOf({ "event.value": 40 }, {}))).toBe(true);
  for (let index = 0; index < 40; index++) expect(rule.test(contextOf({ "event.value": index }, {}))).toBe(false);
});

test("compileRule: rejects nested comprehensions before evaluating anything", () => {
  const list = `[${Array.from({ length: 20 }, (_, index) => index).join(",")}]`;
  const nested = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, device.is_known))))`;
  expect(() => compileRule(nested)).toThrow("`all` is not supported in rules.");
});

test.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"])(
  "compileRule: %s is never inherited, and is an attribute only if the event has one",
  (name) => {
    for (const expression of [
      name,
      `event.${name}`,
      `event["${name}"]`,
      `${name}.type`,
      `event.type.${name}`,
      `event.attributes.a.${name}`,
      `event.${name}()`,
    ]) {
      expect(() => compileRule(`${expression} == 1`), expression).toThrow(RuleFault);
    }
    const attribute = `event.attributes["${name}"]`;
    const readings = [
      `has(${attribute})`,
      `"${name}" in event.attributes`,
      `${attribute} != "a"`,
      `${attribute} == ${attribute}`,
    ];
    const own: Attributes = JSON.parse(`{"${name}": "b"}`);
    for (const expression of readings) {
      expect(compileRule(expression).test(contextOf({}, {})), expression).toBe(false);
      expect(compileRule(expression).test(contextOf({}, own)), expression).toBe(true);
    }
  },
);

const tokens = [
  "event attributes a x __proto__ constructor true false null in has( size( matches( .startsWith( .contains( .lowerAscii() .all(x,",
  `. ( ) [ ] { } , : ? ! - + * / % < <= > >= == != && || // """ .map(x, .matches('[') ["a"] in[`,
  `1 64 65 2.5 1e9 0x1F 7u "a" '(a+)+$' r"\\d" b"a" 😀 \u0000 \ud800`,
  fields.map(({ name }) => name).join(" "),
].flatMap((line) => line.split(" "));

const soup = fc
  .tuple(fc.array(fc.constantFrom(...tokens), { maxLength: 40 }), fc.constantFrom(" ", "\n"))
  .map(([parts, between]) => parts.join(between));
const anything = fc.string({ unit: "binary", maxLength: 200 });
const attributes = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double(), fc.boolean()));

function outcomeOf(expression: string, attributes: Attributes): RuleFault | boolean {
  try {
    return compileRule(expression).test(contextOf({}, attributes));
  } catch (error) {
    if (error instanceof RuleFault) return error;
    throw error;
  }
}

test("compileRule: any text is rejected with a valid position, or is a rule that is true or false for any event", () => {
  fc.assert(
    fc.property(fc.oneof(soup, anything), attributes, (expression, attributes) => {
      const outcome = outcomeOf(expression, attributes);
      if (typeof outcome === "boolean") return;
      const { offset, line, column } = outcome.position;
      const lineStart = expression.split("\n", line - 1).reduce((sum, before) => sum + before.length + 1, 0);
      assert(outcome.message !== "" && offset <= expression.length && lineStart + column - 1 === offset);
    }),
    { numRuns: 5000 },
  );
});

test("compileRule: any pattern is rejected, or matches in finite time", () => {
  const pieces = "a b . * + ? ( ) [ ] {1,50} {3} | ^ $ \\d \\pL (?i) (?: é 😀 -".split(" ");
  const pattern = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(""));
  const text = fc
    .array(fc.constantFrom("a", "b", "1", "é", "😀", "\ud800", "\n"), { maxLength: 300 })
    .map((parts) => parts.join(""));
  const seen = new Set<unknown>();
  fc.assert(
    fc.property(pattern, text, (pattern, text) => {
      const outcome = outcomeOf(`event.attributes.a.matches(r"${pattern}")`, { a: text });
      seen.add(outcome instanceof RuleFault ? "fault" : outcome);
    }),
    { numRuns: 2000 },
  );
  expect(seen).toEqual(new Set(["fault", true, false]));
});

test("compileRule: matches a pattern against the first 256 characters of a text, and never against half a character", () => {
  const rule = compileRule(`event.attributes.text.matches("z")`);
  const isHit = (text: string) => rule.test(contextOf({}, { text }));
  expect(isHit(`${"a".repeat(255)}z`)).toBe(true);
  expect(isHit(`${"a".repeat(256)}z`)).toBe(false);
  expect(isHit(`${"\u{1f600}".repeat(255)}z`)).toBe(true);
  expect(isHit(`${"\u{1f600}".repeat(256)}z`)).toBe(false);
});
