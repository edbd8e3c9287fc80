import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Failure } from "../failure.ts";
import { parseFilter, parsePath, type Filter, type Literal } from "./filter.ts";
import { matches } from "./matching.ts";
import { readChanges } from "./patch.ts";
import { changePerson, readNewPerson } from "./person.ts";

const names = ["userName", "active", "externalId", "emails", "name.givenName", "emails.value", "displayName"];
const operators = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
const resource = {
  schemas: [],
  id: "1",
  userName: "Ada@shop.example",
  externalId: "E1",
  active: true,
  name: { givenName: "Ada" },
  emails: [{ value: "ada@shop.example", type: "work", primary: true }],
};

const literal: fc.Arbitrary<Literal> = fc.oneof(fc.string({ unit: "binary" }), fc.boolean(), fc.constant(null), fc.integer());
const comparison = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom(...operators), literal)
  .map(([name, operator, value]) => `${name} ${operator} ${JSON.stringify(value)}`);
const { filter } = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    comparison,
    fc.constantFrom(...names).map((name) => `${name} pr`),
    fc.tuple(tie("filter"), fc.constantFrom("and", "or", "AND"), tie("filter")).map(([a, word, b]) => `(${a}) ${word} (${b})`),
    tie("filter").map((inner) => `not (${inner})`),
    comparison.map(() => 'emails[type eq "work" and primary eq true]'),
  ),
}));

// Returns null if the text is rejected with an error that SCIM defines.
function tryTo<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Failure && error.code === "bad-request" && error.scimType !== undefined) return null;
    throw error;
  }
}

test("filters: every filter of the grammar is parsed and evaluated, and its negation gives the opposite result", () => {
  fc.assert(
    fc.property(filter, (text) => {
      // The limits hold for all filters.
      fc.pre(text.length < 1_500);
      const parsed = tryTo(() => parseFilter(text));
      fc.pre(parsed !== null);
      const answer = matches(parsed, resource);
      expect(matches({ kind: "not", part: parsed }, resource)).toBe(!answer);
      expect(matches(parseFilter(`(${text}) or id eq "1"`), resource)).toBe(true);
      expect(matches(parseFilter(`(${text}) and id eq "2"`), resource)).toBe(false);
    }),
  );
});

test("filters: a string in quotes matches exactly itself, whatever it contains", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const parsed: Filter = parseFilter(`externalId eq ${JSON.stringify(text)}`);
      expect(parsed).toEqual({ kind: "compare", path: { name: "externalid", sub: null }, operator: "eq", value: text });
      expect(matches(parsed, { externalId: text })).toBe(true);
      expect(matches(parsed, { externalId: `${text}x` })).toBe(false);
    }),
  );
});

const soup = fc.array(
  fc.oneof(
    fc.constantFrom(
      ...names,
      ...operators,
      "and",
      "or",
      "not",
      "pr",
      "(",
      ")",
      "[",
      "]",
      '"',
      "\\",
      ".",
      ":",
      "true",
      "null",
      "-1",
      "$ref",
    ),
    fc.constantFrom("__proto__", "constructor", "urn:ietf:params:scim:schemas:core:2.0:User:userName", "\u0000", "\u202e"),
    fc.string({ unit: "binary", maxLength: 5 }),
  ),
  { maxLength: 60 },
);

test("filters and paths: any text is either parsed or rejected as SCIM defines", () => {
  fc.assert(
    fc.property(soup, fc.constantFrom(" ", ""), (parts, separator) => {
      const text = parts.join(separator);
      const answer = tryTo(() => matches(parseFilter(text), resource));
      const path = tryTo(() => parsePath(text));
      expect([null, true, false]).toContain(answer);
      expect(typeof path?.name).toBe(path ? "string" : "undefined");
    }),
  );
});

test("filters: `and` binds more closely than `or`, and letter case does not matter", () => {
  const yes = [
    'id eq "1" or id eq "2" and id eq "3"',
    'USERNAME EQ "ADA@SHOP.EXAMPLE"',
    'emails.value Sw "ADA"',
    'not (id eq "2")',
  ];
  const no = [
    '(id eq "1" or id eq "2") and id eq "3"',
    'externalId eq "e1"',
    "nickName pr",
    'emails[type eq "home"]',
    "active eq false",
  ];
  for (const text of yes) expect(matches(parseFilter(text), resource), text).toBe(true);
  for (const text of no) expect(matches(parseFilter(text), resource), text).toBe(false);
});

test("filters: the core schema may stand in front of an attribute, and other schemas are something else", () => {
  const core = 'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "ada@shop.example"';
  const other = 'urn:example:User:userName eq "ada@shop.example"';
  expect(matches(parseFilter(core), resource)).toBe(true);
  expect(matches(parseFilter(other), resource)).toBe(false);
});

test("filters: the time to read a long text grows with its length only", () => {
  for (const text of [`externalId eq "${"\\\\".repeat(900)}`, "a.".repeat(900), `${" ".repeat(1_900)}x`, "(".repeat(1_900)])
    expect(tryTo(() => parseFilter(text))).toBeNull();
});

test("changes: any body is applied or refused, and no member of an object's prototype changes", () => {
  const before = readNewPerson({ userName: "ada@shop.example", displayName: "Ada" });
  const value = fc.jsonValue({ maxDepth: 3 });
  const path = fc.oneof(
    fc.constantFrom(...names, "__proto__", "constructor.prototype", 'emails[type eq "work"].value'),
    fc.string(),
  );
  const operation = fc.record({ op: fc.constantFrom("add", "Replace", "remove", "x"), path: fc.option(path), value });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 5 }), (Operations) => {
      const after = tryTo(() => changePerson(before, readChanges({ Operations })));
      if (!after) return;
      expect(Object.keys(after).toSorted()).toEqual(Object.keys(before).toSorted());
      expect(typeof after.active).toBe("boolean");
      expect(Object.prototype).not.toHaveProperty("displayName");
    }),
  );
});
