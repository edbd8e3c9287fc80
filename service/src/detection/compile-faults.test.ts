import { expect, test } from "vitest";
import { fields, ringSize } from "./catalogue.ts";
import { compileRule, RuleFault } from "./compile.ts";

function faultOf(expression: string): RuleFault {
  try {
    compileRule(expression);
  } catch (error) {
    if (error instanceof RuleFault) return error;
    throw error;
  }
  throw new Error(`It compiled: ${expression}`);
}

// The text from the position that an editor underlines.
function markedIn(expression: string): string {
  return expression.slice(faultOf(expression).position.offset);
}

test.each([
  ["event.type = 'x'", "= 'x'", "Compare with `==`."],
  ["event.value > 1 and device.is_known", "and device.is_known", "Write `&&`."],
  ["event.value > 1 | device.is_known", "| device.is_known", "Write `||`."],
  ["not device.is_known", "device.is_known", null],
  ["event.value > (1", "", "Something is missing, or a bracket is not closed."],
  ["", "", "Something is missing, or a bracket is not closed."],
  ["event.type == 'x", "'x", null],
  ["event.type == 'a\\qb'", "\\qb'", null],
  ["event.value > 1e999", "1e999", null],
  ["device.is_known #", "#", null],
])("compileRule: rejects the syntax of %s at the right position", (expression, marked, hint) => {
  expect(markedIn(expression)).toBe(marked);
  expect(faultOf(expression).hint).toBe(hint);
});

test("compileRule: a fault on the third line reports its line, column and offset", () => {
  const expression = `// Füße 😀\r\ndevice.is_known &&\n  device.accounts_1 > 3`;
  expect(faultOf(expression).position).toEqual({ offset: expression.indexOf("accounts_1"), line: 3, column: 10 });
  expect(faultOf("device.is_known &&\n\n").position).toEqual({ offset: 20, line: 3, column: 1 });
  expect(faultOf("nothing").position).toEqual({ offset: 0, line: 1, column: 1 });
});

test.each([
  ["device.acounts_1h > 3", "acounts_1h > 3", "Did you mean `device.accounts_1h`?"],
  ["devise.accounts_1h > 3", "devise.accounts_1h > 3", "Did you mean `device.accounts_1h`?"],
  ["3 < value_ratio", "value_ratio", "Did you mean `account.value_ratio`?"],
  ["login.score > 3", "score > 3", "Fields of `login`: ratio, history."],
  ["login > 3", "login > 3", "Fields of `login`: ratio, history."],
  [
    "card.number > 3",
    "card.number > 3",
    "A field begins with one of: event, account, device, ip, network, session, login, tenant, payee, instrument, mailbox, look, block.",
  ],
])("compileRule: %s names no field, and the hint suggests existing ones", (expression, marked, hint) => {
  expect(faultOf(expression).message).toMatch(/^There is no field/);
  expect(markedIn(expression)).toBe(marked);
  expect(faultOf(expression).hint).toBe(hint);
});

test.each([
  ["event.value == '5'", "'5'", "Without quotes it is a number: 5."],
  ["event.type == 5", "5", 'In quotes it is a string: "5".'],
  ["'abc' < event.value", "event.value", null],
  ["device.is_known == 1", "1", null],
  ["device.is_known > false", "device.is_known > false", "Compare with `==` or `!=`."],
  ["event.type + 'a' == 'b'", "event.type + 'a' == 'b'", null],
  ["-event.type == 1", "event.type == 1", null],
  ["!event.value", "event.value", null],
  ["event.value && device.is_known", "event.value && device.is_known", null],
  ["device.is_known || event.type", "event.type", null],
  ["event.value ? true : false", "event.value ? true : false", null],
  ["(device.is_known ? 1 : 'a') == 1", "'a') == 1", null],
  ["event.value.startsWith('a')", "event.value.startsWith('a')", null],
  ["event.type.startsWith(1)", "1)", null],
  ["event.type in [1]", "1]", 'In quotes it is a string: "1".'],
  ["event.value in [1, 'a']", "'a']", null],
  ["event.value in [event.asn]", "event.asn]", "Compare fields with `==`."],
  ["event.value in []", "[]", null],
  ["event.country in event.type", "event.type", 'For example `event.country in ["DE", "FR"]`.'],
  ["1 in event.attributes", "1 in event.attributes", null],
  ["event.attributes == event.attributes", "event.attributes == event.attributes", "Write `event.attributes.plan`."],
  ["event.attributes.a.b == 1", "b == 1", null],
  ["event.type.a == 1", "a == 1", null],
  ["event.attributes[event.type] == 1", "event.type] == 1", null],
  ["[1, 2] == [1, 2] && device.is_known", "[1, 2] == [1, 2] && device.is_known", null],
  ["{'a': 1}.a == 1 && device.is_known", "{'a': 1}.a == 1 && device.is_known", null],
  ["event.value == null", "null", null],
  ["event.value == 5u", "5u", null],
  ["event.type == b'a'", "b'a'", null],
  ["event.value > 9007199254740993", "9007199254740993", null],
])("compileRule: rejects the types of %s at the right position", (expression, marked, hint) => {
  expect(markedIn(expression)).toBe(marked);
  expect(faultOf(expression).hint).toBe(hint);
});

test.each(["event.value", "event.type", "event.attributes", "1 + account.logins"])(
  "compileRule: rejects %s, because it is not true or false",
  (expression) => {
    expect(faultOf(expression)).toMatchObject({
      message: expect.stringMatching(/^A rule must be true or false/),
      position: { offset: 0 },
    });
  },
);

test.each(["true", "1 == 1", "!('a' in ['b'])", "'abc'.matches('b')"])(
  "compileRule: rejects %s, because it reads no field",
  (expression) => {
    expect(faultOf(expression).message).toBe("The rule reads no field, so it is the same for every event.");
  },
);

test.each(["all(x, x > 0)", "exists(x, x > 0)", "exists_one(x, x > 0)", "map(x, x)", "map(x, x > 0, x)", "filter(x, x > 0)"])(
  "compileRule: rejects the comprehension %s",
  (comprehension) => {
    const expression = `device.is_known && [1, 2].${comprehension}`;
    expect(markedIn(expression)).toBe(comprehension);
    expect(faultOf(expression).hint).toBe("Write the conditions out, with `&&` and `||`.");
    expect(() => compileRule(`event.attributes.${comprehension}`)).toThrow(RuleFault);
    expect(() => compileRule(comprehension)).toThrow(RuleFault);
  },
);

test.each([
  "join('a')",
  "split('a')",
  "substring(1)",
  "trim()",
  "upperAscii()",
  "indexOf('a')",
  "getFullYear()",
  "constructor('a')",
  "toString()",
])("compileRule: rejects %s, because it is not in the list of functions", (method) => {
  expect(markedIn(`event.type.${method} == "a"`)).toBe(`${method} == "a"`);
  expect(faultOf(`event.type.${method} == "a"`).hint).toBe(
    "Functions: startsWith, endsWith, contains, matches, lowerAscii, size, has.",
  );
});

test.each([
  "string(event.value) == '1'",
  "type(event.value) == int",
  "timestamp(event.type) > 1",
  "dyn(event.value) == 1",
  "matches('a')",
  "size()",
  "size(event.os, 1) > 1",
  "has(1)",
  "has(device.is_known)",
  "has(event.attributes)",
  "cel.bind(x, device.is_known, x)",
  "event.type.size(1) > 1",
  "event.type.contains()",
  "event.type.lowerAscii('a')",
  "event.type.size('a')",
  "event.type.contains() == 'a'",
])("compileRule: rejects the call %s", (expression) => {
  expect(() => compileRule(expression)).toThrow(RuleFault);
});

const ring = "device.accounts_1h";

test.each([
  `${ring} > 64`,
  `${ring} >= 65`,
  `${ring} == 70`,
  `${ring} != 65`,
  `${ring} < 100`,
  `${ring} >= 64.5`,
  `64 < ${ring}`,
  `65 <= ${ring}`,
  `70 == ${ring}`,
  `100 > ${ring}`,
  `${ring} >= 60 + 5`,
  `${ring} > -(-64)`,
  `${ring} in [1, 65]`,
])("compileRule: rejects %s, because the count stops at 64", (expression) => {
  expect(faultOf(expression)).toMatchObject({
    message: `No count of this field is ever above ${ringSize}.`,
    hint: `It is taken over the last ${ringSize} events, so the count stops at ${ringSize}.`,
  });
});

test.each([
  `${ring} >= 64`,
  `${ring} > 63`,
  `${ring} <= 64`,
  `64 <= ${ring}`,
  `${ring} == 64`,
  `${ring} in [1, 64]`,
  `${ring} + ip.accounts_1h > 100`,
  "device.accounts_total > 64",
  "account.logins >= 1000",
])("compileRule: accepts %s, because it can be met", (expression) => {
  expect(compileRule(expression).reads).toHaveLength(expression.includes("ip.") ? 2 : 1);
});

test("compileRule: every field of the catalogue can be read, and every ring count has its limit", () => {
  const example = { number: " >= 1", string: " == 'a'", boolean: "", map: ".a == 1" };
  for (const { name, type } of fields) {
    expect(compileRule(`${name}${example[type]}`).reads).toEqual([name]);
  }
  const counted = fields.filter(({ isRing }) => isRing);
  for (const { name } of counted) expect(() => compileRule(`${name} > ${ringSize}`), name).toThrow(RuleFault);
});
