import { Environment } from "@marcbachmann/cel-js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compileRule } from "./compile.ts";
import { contextOf } from "./vector.ts";

// Rules in the part of CEL that we and the library share. Decimals only, because the library distinguishes 2 from 2.0.
const { rule } = fc.letrec<{ rule: string; number: string; text: string }>((tie) => {
  const nested = { maxDepth: 3, depthIdentifier: "rule" };
  const orders = ["==", "!=", "<", "<=", ">", ">="];
  const two = (kind: "rule" | "number" | "text", operators: string[]) =>
    fc.tuple(tie(kind), fc.constantFrom(...operators), tie(kind)).map(([a, operator, b]) => `(${a} ${operator} ${b})`);
  const parts = fc.constantFrom("startsWith", "endsWith", "contains");
  return {
    number: fc.oneof(
      nested,
      fc.constantFrom("event.value", "account.logins", "session.gap_spread", "2.0", "0.5", "1e2", "event.attributes.n"),
      two("number", ["+", "-", "*"]),
      tie("number").map((a) => `-(${a})`),
      fc.tuple(tie("rule"), tie("number"), tie("number")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
    text: fc.constantFrom("event.type", "event.os", `"ab"`, `""`, `"b"`, "event.os.lowerAscii()", "event.attributes.s"),
    rule: fc.oneof(
      nested,
      fc.constantFrom("device.is_known", "has(event.attributes.s)", `("n" in event.attributes)`, "event.attributes.f", "true"),
      two("number", orders),
      two("text", orders),
      two("rule", ["&&", "||"]),
      tie("rule").map((a) => `!(${a})`),
      fc.tuple(tie("text"), parts, tie("text")).map(([a, part, b]) => `${a}.${part}(${b})`),
      tie("text").map((a) => `(${a} in ["a", "ab"])`),
      tie("text").map((a) => `(size(${a}) > 1.0)`),
    ),
  };
});

const features = fc.record(
  {
    "event.value": fc.integer({ min: -3, max: 200 }).map((value) => value / 2),
    "account.logins": fc.integer({ min: 0, max: 3 }),
    "event.type": fc.constantFrom("a", "ab", "b"),
    "event.os": fc.constantFrom("AB", "aB", ""),
    "device.is_known": fc.boolean(),
  },
  { requiredKeys: [] },
);
const attributes = fc.record({ n: fc.integer(), s: fc.constantFrom("ab", "x"), f: fc.boolean() }, { requiredKeys: [] });

test("compileRule: a rule is true if the library says so, and false if the library says so or fails", () => {
  const library = new Environment();
  for (const group of ["event", "account", "device", "session"]) library.registerVariable(group, "map");
  const seen = { true: 0, false: 0, failed: 0 };
  const byLibrary = (expression: string, context: object): boolean => {
    try {
      const result: unknown = library.evaluate(expression, context);
      seen[result === true ? "true" : "false"]++;
      return result === true;
    } catch {
      seen.failed++;
      return false;
    }
  };
  fc.assert(
    fc.property(rule, features, attributes, (generated, features, attributes) => {
      // A rule that reads no field is rejected, so add one.
      const expression = `(${generated}) && event.type != "z"`;
      const context = contextOf(features, attributes);
      expect(compileRule(expression).test(context)).toBe(byLibrary(expression, context));
    }),
    { numRuns: 2000 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
});
