import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Failure } from "../../domain/failure.ts";
import { canonicalJson, isRounded, parseJson } from "./json.ts";

// The same cases in every run.
fc.configureGlobal({ seed: 7, numRuns: 300 });

function parse(text: string): unknown {
  return parseJson(Buffer.from(text));
}

// The failure's code, or the value if there was no failure.
function outcome(bytes: Buffer | string): unknown {
  try {
    return { value: parseJson(Buffer.from(bytes)) };
  } catch (error) {
    return error instanceof Failure ? error.code : error;
  }
}

// Writes every code unit in one of the ways that JSON allows.
function written(name: string, choices: number[]): string {
  const units = Array.from({ length: name.length }, (_, index) => {
    const unit = name.charCodeAt(index);
    const hex = unit.toString(16).padStart(4, "0");
    const plain = JSON.stringify(name[index]).slice(1, -1);
    const solidus = name[index] === "/" ? "\\/" : plain;
    return [plain, `\\u${hex}`, `\\u${hex.toUpperCase()}`, solidus][(choices[index % choices.length] ?? 0) % 4];
  });
  return `"${units.join("")}"`;
}

const names = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("status", "__proto__", "constructor", 'a"b', "a/b", "a\\", "{", "}:", "\u0000", "\ud800", "é", "😀"),
);
const choices = fc.array(fc.nat(3), { minLength: 1, maxLength: 6 });
const blanks = fc.constantFrom("", " ", "\n", "\t\r\n ");

// Brackets, quotes and colons inside strings trip up a naive scanner.
const texts = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom('"', '\\"', '{"a":1,"a":2}', "[", "}", ":", '":"', "\\\\"));
const scalars = fc.oneof(
  texts,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, scalars, tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  object: fc.dictionary(names, tie("value"), { maxKeys: 4 }),
}));

test("parseJson: equals JSON.parse if no member name is repeated", () => {
  fc.assert(
    fc.property(values, fc.nat(4), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parse(text)).toEqual(JSON.parse(text));
      expect(parse(`\uFEFF ${text}\n`)).toEqual(JSON.parse(text));
    }),
  );
});

test("parseJson: a duplicate member name is rejected, however each is escaped and whatever stands between", () => {
  fc.assert(
    fc.property(names, choices, choices, values, blanks, (name, one, other, value, blank) => {
      const member = JSON.stringify(value);
      const first = `${blank}${written(name, one)}${blank}:${blank}${member}`;
      const second = `${written(name, other)}${blank}:null`;
      expect(outcome(`{${first},${second}}`)).toBe("bad-request");
      expect(outcome(`[{"outer":[{${first}${blank},${blank}${second}${blank}}]}]`)).toBe("bad-request");
      expect(outcome(`{${first}}`)).toEqual({ value: JSON.parse(`{${first}}`) });
    }),
  );
});

test("parseJson: the same name in different objects, and as a value, is not a duplicate", () => {
  fc.assert(
    fc.property(names, choices, (name, how) => {
      const text = written(name, how);
      const document = `{${text}:{${text}:[{${text}:${text}},{${text}:1}]},"x${text.slice(1)}:[${text},${text}]}`;
      expect(parse(document)).toEqual(JSON.parse(document));
    }),
  );
});

test("parseJson: bytes that are not a JSON document are always a bad request", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      fc.pre(!isJson(bytes));
      expect(outcome(Buffer.from(bytes))).toBe("bad-request");
    }),
  );
  const broken = [
    "",
    " ",
    "\uFEFF",
    "{",
    "{}{}",
    "1 2",
    "{a:1}",
    "{'a':1}",
    "[1,]",
    "NaN",
    "01",
    "// x\n1",
    '"\n"',
    "undefined",
    "{}\0",
  ];
  for (const text of broken) expect(outcome(text)).toBe("bad-request");
  for (const bytes of [[0xff], [0x22, 0xc0, 0xaf, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0xfe, 0xff, 0x00, 0x31]])
    expect(outcome(Buffer.from(bytes))).toBe("bad-request");
});

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

test("parseJson: nesting is accepted up to 64 levels and is a bad request at any greater depth", () => {
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
    expect(outcome(nested(64))).toEqual({ value: JSON.parse(nested(64)) });
    for (const depth of [65, 1_000, 100_000]) expect(outcome(nested(depth))).toBe("bad-request");
  }
});

test("parseJson: __proto__ is a member like any other and changes no prototype", () => {
  const value = parse('{"__proto__":{"polluted":true}}');
  expect(Object.keys(value as object)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect({}).not.toHaveProperty("polluted");
});

function shuffled(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((each) => shuffled(each, seed));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, shuffled(member, seed)] as const);
  const turned = [...entries.slice(seed % (entries.length + 1)), ...entries.slice(0, seed % (entries.length + 1))];
  return Object.fromEntries(seed % 2 === 0 ? turned.toReversed() : turned);
}

test("canonicalJson: the order of members, white space and escapes do not matter, at any depth", () => {
  fc.assert(
    fc.property(values, fc.nat(9), fc.nat(4), (value, seed, indent) => {
      const sent = parse(JSON.stringify(value));
      expect(canonicalJson(parse(JSON.stringify(shuffled(sent, seed), null, indent)))).toBe(canonicalJson(sent));
    }),
  );
  expect(canonicalJson(parse('{"b":1,"a":"\\u0078"}'))).toBe(canonicalJson(parse('{ "a" : "x" , "b" : 1 }')));
});

test("canonicalJson: the notation of a number does not matter, its value does", () => {
  for (const text of ["3", "3.0", "3.000", "30e-1", "0.3E+1"]) expect(canonicalJson(parse(text))).toBe("3");
  expect(canonicalJson(parse("-0"))).toBe(canonicalJson(parse("0")));
  expect(canonicalJson(parse("3.1"))).not.toBe("3");
});

test("canonicalJson: nothing is lost, so different values give different texts", () => {
  fc.assert(
    fc.property(values, (value) => {
      const sent = parse(JSON.stringify(value));
      expect(JSON.parse(canonicalJson(sent))).toEqual(sent);
    }),
  );
  for (const [one, other] of [
    ["[1,2]", "[2,1]"],
    ['{"a":"1"}', '{"a":1}'],
    ['{"a":null}', "{}"],
    ["[[1],2]", "[[1,2]]"],
  ] as const)
    expect(canonicalJson(parse(one))).not.toBe(canonicalJson(parse(other)));
});

// A decimal literal with or without a fraction, and whether it is a whole number.
const literals = fc
  .record({
    whole: fc.bigInt(0n, 2n ** 53n - 1n),
    fraction: fc.constantFrom("", "0", "000", "1", "00000000000000000001", "99999999999999999999"),
    shift: fc.integer({ min: -25, max: 25 }),
    isNegative: fc.boolean(),
  })
  .map(({ whole, fraction, shift, isNegative }) => {
    // The same number with its decimal point moved and an exponent to compensate.
    const digits = `${whole}`.padStart(30, "0") + fraction.padEnd(30, "0");
    const at = 30 + shift;
    const moved = `${digits.slice(0, at).replace(/^0+(?=\d)/, "")}.${digits.slice(at)}e${-shift}`;
    return { text: `${isNegative ? "-" : ""}${moved}`, isWhole: /^0*$/.test(fraction) };
  });

test("isRounded: a literal that becomes an integer was rounded if it has a fraction, in any notation", () => {
  fc.assert(
    fc.property(literals, ({ text, isWhole }) => {
      const parsed = parse(`{"list":[0, ${text}],"n":${text}}`) as { list: number[]; n: number };
      const isSafe = Number.isSafeInteger(parsed.n);
      expect([isRounded(parsed, "n"), isRounded(parsed.list, 1), isRounded(parsed.list, 0)]).toEqual([
        isSafe && !isWhole,
        isSafe && !isWhole,
        false,
      ]);
      expect(parsed.n).toBe(Number(text));
    }),
  );
});

test.each([
  "1",
  "1.0",
  "-0",
  "0.0",
  "0e999999999",
  "10e-1",
  "0.1e1",
  "1e15",
  "9007199254740991",
  "9007199254740993",
  "1e400",
  "12.5",
  "0.1",
])("isRounded: %s was not rounded", (text) => expect(isRounded(parse(`[${text}]`) as number[], 0)).toBe(false));

test.each([
  "0.99999999999999999999",
  "1.00000000000000000001",
  "1e-400",
  "-1e-400",
  "9007199254740991.4",
  `1.${"0".repeat(100_000)}1`,
])("isRounded: %s was rounded", (text) =>
  expect(isRounded((parse(`{"a":"1.0","b":{"c":${text}}}`) as { b: object }).b, "c")).toBe(true),
);
