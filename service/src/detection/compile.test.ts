import { expect, test } from "vitest";
import type { Features } from "./catalogue.ts";
import { compileRule } from "./compile.ts";
import { contextOf, type Attributes } from "./vector.ts";

function holds(expression: string, features: Features = {}, attributes: Attributes = {}): boolean {
  return compileRule(expression).test(contextOf(features, attributes));
}

test("compileRule: integers, decimals and number fields are all of one type", () => {
  expect(holds("device.accounts_1h >= 5", { "device.accounts_1h": 5 })).toBe(true);
  expect(holds("device.accounts_1h >= 5", { "device.accounts_1h": 4 })).toBe(false);
  const rule = "event.value > 100.5 && account.logins < 3 && event.value * 2 > 10";
  expect(holds(rule, { "event.value": 101 })).toBe(true);
  expect(holds(rule, { "event.value": 100.5 })).toBe(false);
  expect(holds(rule, { "event.value": 101, "account.logins": 3 })).toBe(false);
  expect(holds("event.value == 0x10 && event.value != -16", { "event.value": 16 })).toBe(true);
});

test("compileRule: precedence, parentheses, order of operands and `? :` follow CEL", () => {
  const features = { "event.value": 7, "account.logins": 2 };
  expect(holds("event.value - account.logins - 1 == 4", features)).toBe(true);
  expect(holds("event.value - (account.logins - 1) == 6", features)).toBe(true);
  expect(holds("event.value + 2 * account.logins == 11 && event.value / 2 == 3.5 && event.value % 4 == 3", features)).toBe(true);
  expect(holds("device.is_known || event.value > 1 && account.logins == 9", features)).toBe(false);
  expect(holds("(device.is_known ? event.value : account.logins) == 2", features)).toBe(true);
  expect(holds("3 < event.value && 'b' > 'a' && !device.is_known && -event.value <= -7", features)).toBe(true);
});

test.each([
  [`event.type == "a" && account.is_known`, ["a"]],
  [`account.is_known && "a" == event.type`, ["a"]],
  [`event.type in ["a", "b"] && event.type != "b"`, ["a"]],
  [`event.type in ["a", "b"] && event.type == "c"`, []],
  [`event.type == "a" || event.type in ["b"]`, ["a", "b"]],
  [`event.type == "a" || account.is_known`, ["a", "b", "c"]],
  [`!(event.type == "a")`, ["b", "c"]],
  [`!(event.type == "a" && account.is_known) && event.type in ["a", "b"]`, ["b"]],
  [`account.is_known ? event.type == "a" : event.type == "b"`, ["a"]],
  [`event.type == event.attributes.name`, ["c"]],
  [`event.type == "a" || (event.attributes.none == 1 && event.type == "b")`, ["a"]],
])("compileRule: %s is true for exactly the types %j", (expression, types) => {
  const features = { "account.is_known": true };
  const found = ["a", "b", "c"].filter((type) => holds(expression, { ...features, "event.type": type }, { name: "c" }));
  expect(found).toEqual(types);
});

test("compileRule: `reads` lists every field once, in the order of first appearance", () => {
  const { reads } = compileRule(
    `ip.logins_1h > 1 && ("a" in event.attributes || event.os == "x") && ip.logins_1h < event.attributes.b`,
  );
  expect(reads).toEqual(["ip.logins_1h", "event.attributes", "event.os"]);
  expect(compileRule(`device["is_known"] && has(event.attributes.x)`).reads).toEqual(["device.is_known", "event.attributes"]);
});

test("compileRule: attributes are read by name, by brackets, by `in` and by `has`", () => {
  const attributes = { plan: "trial", amount: 6, "is-vip": true, blank: "" };
  expect(holds(`event.attributes["plan"] == "trial"`, {}, attributes)).toBe(true);
  expect(holds("event.attributes.amount > 5 && event.attributes.amount + 1 == 7", {}, attributes)).toBe(true);
  expect(holds(`event.attributes["is-vip"]`, {}, attributes)).toBe(true);
  expect(holds(`"plan" in event.attributes && has(event.attributes.plan) && has(event.attributes.blank)`, {}, attributes)).toBe(
    true,
  );
  expect(holds(`"plan" in event.attributes`, {}, {})).toBe(false);
  expect(holds("has(event.attributes.plan)", {}, {})).toBe(false);
  expect(holds("event.attributes.plan == event.attributes.tier", {}, { plan: "a", tier: "a" })).toBe(true);
  expect(holds("event.attributes.plan < event.attributes.tier", {}, { plan: "a", tier: "b" })).toBe(true);
});

test.each([
  [`event.attributes.plan == "trial"`, 5],
  [`event.attributes.plan != "trial"`, 5],
  [`!(event.attributes.plan == "trial")`, true],
  [`event.attributes.plan > 5`, "9"],
  [`!(event.attributes.plan > 5)`, true],
  [`event.attributes.plan in ["trial", "pro"]`, 5],
  [`!(event.attributes.plan in ["trial", "pro"])`, 5],
  [`!event.attributes.plan.startsWith("t")`, 5],
  [`!event.attributes.plan.matches("t")`, 5],
  [`event.attributes.plan.lowerAscii() != "x"`, 5],
  [`size(event.attributes.plan) >= 0`, 5],
  [`event.attributes.plan`, "true"],
  [`!event.attributes.plan`, 0],
  [`(event.attributes.plan ? 1 : 2) < 3`, 1],
  [`-event.attributes.plan < 100000`, "1"],
  [`event.attributes.plan + 1 < 100000`, "1"],
  [`event.attributes.plan in event.attributes`, 5],
  [`device.accounts_1h == 0 && event.attributes.plan == "trial"`, 5],
])("compileRule: %s is false if the attribute is missing or has the wrong type", (expression, unfit) => {
  const rule = compileRule(expression);
  expect(rule.test(contextOf({}, {}))).toBe(false);
  expect(rule.test(contextOf({}, { plan: unfit, 5: true }))).toBe(false);
});

test("compileRule: one side that decides `&&` or `||` is enough, whatever the other side is", () => {
  expect(holds("event.attributes.none == 1 || device.accounts_1h == 0")).toBe(true);
  expect(holds("device.accounts_1h == 0 || event.attributes.none == 1")).toBe(true);
  expect(holds("!(event.attributes.none == 1 && device.accounts_1h == 1)")).toBe(true);
  expect(holds("!(device.accounts_1h == 1 && event.attributes.none == 1)")).toBe(true);
  expect(holds("event.attributes.none == 1 || device.accounts_1h == 1")).toBe(false);
});

test("compileRule: division by zero and overflow make a rule false, even under `!`", () => {
  expect(holds("event.value / account.logins > 1", { "event.value": 5 })).toBe(false);
  expect(holds("!(event.value / account.logins > 1)", { "event.value": 5 })).toBe(false);
  expect(holds("event.value % account.logins == 0", { "event.value": 5 })).toBe(false);
  expect(holds("event.value * 1e308 > 1", { "event.value": 1e10 })).toBe(false);
  expect(holds("event.value / 0 > 1 || true", { "event.value": 5 })).toBe(true);
});

test("compileRule: `in` finds strings and numbers in a list", () => {
  expect(holds(`event.country in ["DE", "FR",]`, { "event.country": "FR" })).toBe(true);
  expect(holds(`event.country in ["DE", "FR"]`, { "event.country": "fr" })).toBe(false);
  expect(holds("event.asn in [1, -2, 3.0]", { "event.asn": 3 })).toBe(true);
  expect(holds("device.is_known in [true]", { "device.is_known": true })).toBe(true);
  expect(holds("event.country in event.attributes", { "event.country": "FR" }, { FR: 1 })).toBe(true);
});

test("compileRule: startsWith, endsWith and contains are case-sensitive", () => {
  const features = { "event.type": "custom:Gift", "event.os": "custom" };
  expect(holds(`event.type.startsWith("custom:") && !event.type.startsWith("gift")`, features)).toBe(true);
  expect(holds(`event.type.endsWith("Gift") && !event.type.endsWith("gift")`, features)).toBe(true);
  expect(holds(`event.type.contains("m:G") && !event.type.contains("m:g")`, features)).toBe(true);
  expect(holds("event.type.startsWith(event.os)", features)).toBe(true);
});

test("compileRule: lowerAscii lowers A to Z and nothing else", () => {
  expect(holds(`event.browser.lowerAscii() == "chrome 99 ÄÖİ"`, { "event.browser": "CHROME 99 ÄÖİ" })).toBe(true);
});

test("compileRule: size counts characters rather than UTF-16 units, and counts attributes", () => {
  expect(holds("size(event.os) == 3 && event.os.size() == 3", { "event.os": "a😀é" })).toBe(true);
  expect(holds("size(event.attributes) == 2 && event.attributes.size() == 2", {}, { a: 1, b: 2 })).toBe(true);
});

test("compileRule: matches finds a pattern anywhere in the text, as CEL specifies", () => {
  const features = { "event.type": "custom:gift_42" };
  expect(holds(`event.type.matches("gift_[0-9]+")`, features)).toBe(true);
  expect(holds(`event.type.matches("^gift")`, features)).toBe(false);
  expect(holds(`event.type.matches(r"\\d\\d$") && event.type.matches("(?i)GIFT")`, features)).toBe(true);
});

test("compileRule: accepts comments, newlines and all kinds of quotes", () => {
  const expression = `// cards\r\nevent.type == 'gift' // that is all\n\n|| event.type == """x"""\n|| event.type == "\\u00e9"`;
  for (const type of ["gift", "x", "é"]) expect(holds(expression, { "event.type": type })).toBe(true);
  expect(holds(expression, { "event.type": "y" })).toBe(false);
});
