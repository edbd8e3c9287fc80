import * as fc from "fast-check";
import { parseJson } from "../../service/src/api/http/json.ts";
import { Failure } from "../../service/src/domain/failure.ts";
import { isDeepStrictEqual } from "node:util";
import { problemOf } from "./answer.ts";
import { askWithoutEffect, type Asked, type Context } from "./context.ts";
import { bearer, bytesOf } from "./request.ts";
import { withBody } from "./valid.ts";

const depthMax = 64;

const pieces = [
  ...`{ } [ ] , : " \\ 0 1 -1 1.5 1e5 1e999 -0 true false null "a" "b" "\\u0061" "\\ud800" "\\ud83d\\ude00" "\\u0000" "" "__proto__" '`.split(
    " ",
  ),
  `{"a":1}`,
  `{"a":1,"\\u0061":2}`,
  `"a":`,
  ` "b" :`,
  "\n",
  "\t ",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "\0",
  "/**/",
  "NaN",
  "9".repeat(40),
];

const valid = fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)));
const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((parts) => Buffer.from(parts.join("")));
const twins = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom("a", "b", "\\u0061", "c", "__proto__", "\\u005f_proto__"), fc.jsonValue({ maxDepth: 1 }))),
    fc.boolean(),
  )
  .map(([members, isInner]) => {
    const object = `{${members.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(" , ")}}`;
    return Buffer.from(isInner ? `{"x":[${object}]}` : object);
  });
const nested = fc
  .tuple(fc.integer({ min: 28, max: 70 }), fc.constantFrom(["[", "]"], [`{"a":`, "}"], [`[{"a":`, "}]"]))
  .map(([depth, [open = "", close = ""]]) => Buffer.from(`${open.repeat(depth)}1${close.repeat(depth)}`));
const changed = fc
  .tuple(fc.oneof(valid, twins), fc.nat(), fc.nat(255), fc.constantFrom("set", "cut", "insert"))
  .map(([bytes, place, byte, how]) => {
    const at = bytes.length === 0 ? 0 : place % bytes.length;
    const middle = how === "cut" ? [] : [byte];
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(middle), bytes.subarray(how === "insert" ? at : at + 1)]);
  });

// Texts that are JSON, nearly JSON, and not JSON at all.
const jsonTexts = fc.oneof(
  valid,
  soup,
  twins,
  nested,
  changed,
  fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
);

// An independent oracle: JSON.parse accepts the text, it yields as many members as there are colons outside strings, and it is
// not nested too deep.
function expectedOf(bytes: Buffer): { value: unknown } | null {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "");
  let deepest = 0;
  let depth = 0;
  for (const sign of bare) {
    if (sign === "{" || sign === "[") deepest = Math.max(deepest, ++depth);
    if (sign === "}" || sign === "]") depth--;
  }
  const written = bare.split(":").length - 1;
  return written === membersOf(value) && deepest <= depthMax ? { value } : null;
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value).reduce((sum: number, each) => sum + membersOf(each), 0);
  return Array.isArray(value) ? inner : inner + Object.keys(value).length;
}

function isParsedRight(bytes: Buffer): boolean {
  const expected = expectedOf(bytes);
  try {
    const value = parseJson(bytes);
    return expected !== null && isDeepStrictEqual(value, expected.value);
  } catch (error) {
    return expected === null && error instanceof Failure && error.code === "bad-request";
  }
}

export function fuzzParser({ ledger, random }: Context, runs: number): void {
  const property = fc.property(jsonTexts, isParsedRight);
  const { failed, counterexample } = fc.check(property, { seed: random.word() | 0, numRuns: runs });
  ledger.add("texts for the JSON parser, in the same process", runs);
  if (failed) ledger.violate("JSON parser", "the result differs from JSON.parse and the contract", counterexample?.[0]);
}

// Sent to an account that does not exist, so nothing can be applied whatever the text.
export async function sendTexts(context: Context, requests: number): Promise<void> {
  const { world, random } = context;
  const path = `/v2/${world.slug}/enduseraccounts/absent`;
  const request = { method: "PUT", path, params: {}, query: [], headers: [bearer(world.token)] };
  const asked = fc.sample(jsonTexts, { seed: random.word() | 0, numRuns: requests }).map((text): Asked => {
    const type = typeOf(expectedOf(text));
    const judge = ({ text: answer }: { text: string }) => (problemOf(answer)?.type === type ? null : `expected ${type}`);
    return { bytes: bytesOf(withBody(request, text)), about: "a body", judge };
  });
  await askWithoutEffect(context, "text for the JSON parser", asked);
}

function typeOf(expected: { value: unknown } | null): string {
  if (!expected) return "bad-request";
  const { value } = expected;
  const isEmpty = typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  return isEmpty ? "item-not-found" : "validation-error";
}
