import { ringSize } from "./catalogue.ts";
import { RuleFault } from "./fault.ts";
import type { Syntax } from "./syntax.ts";
import { plainTypes, requireType, type Known, type Run, type Term } from "./term.ts";

const orders = {
  "<": (a: number | string, b: number | string) => a < b,
  "<=": (a: number | string, b: number | string) => a <= b,
  ">": (a: number | string, b: number | string) => a > b,
  ">=": (a: number | string, b: number | string) => a >= b,
};
// Most rules begin with a condition on this field.
const typeField = "event.type";
type Order = keyof typeof orders;
type Comparison = Order | "==" | "!=";

const mirrored: Record<Comparison, Comparison> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!=" };

export function compare(operator: Comparison, { left, right, syntax }: { left: Term; right: Term; syntax: Syntax }): Term {
  refuseMixedTypes(left, right);
  refuseUnreachable(operator, left, right);
  refuseUnreachable(mirrored[operator], right, left);
  if (operator === "==" || operator === "!=")
    return {
      type: "boolean",
      syntax,
      ...typesIn(operator, left, right),
      run: equality(operator === "==", left.run, right.run),
    };
  for (const side of [left, right]) {
    if (side.type === "boolean") throw new RuleFault("True and false have no order.", side.syntax, "Compare with `==` or `!=`.");
  }
  return { type: "boolean", syntax, run: ordering(orders[operator], left.run, right.run) };
}

function typesIn(operator: Comparison, left: Term, right: Term): Pick<Term, "types"> {
  const [field, { constant }] = left.name === typeField ? [left, right] : [right, left];
  return operator === "==" && field.name === typeField && typeof constant === "string" ? { types: new Set([constant]) } : {};
}

function equality(isWanted: boolean, left: Run, right: Run): Run {
  return (context) => {
    const a = left(context);
    const b = right(context);
    return a === undefined || typeof a !== typeof b ? undefined : (a === b) === isWanted;
  };
}

function ordering(order: (typeof orders)[Order], left: Run, right: Run): Run {
  return (context) => {
    const a = left(context);
    const b = right(context);
    if (typeof a === "number" && typeof b === "number") return order(a, b);
    return typeof a === "string" && typeof b === "string" ? order(a, b) : undefined;
  };
}

function refuseMixedTypes(left: Term, right: Term): void {
  for (const { type, syntax } of [left, right]) {
    if (type === "map") throw new RuleFault("Attributes are compared one by one.", syntax, "Write `event.attributes.plan`.");
  }
  if (left.type === right.type || left.type === "attribute" || right.type === "attribute") return;
  const message = `This compares ${plainTypes[left.type]} with ${plainTypes[right.type]}.`;
  throw new RuleFault(message, right.syntax, quotesHint(left, right) ?? quotesHint(right, left));
}

function quotesHint({ constant }: Term, other: Term): string | null {
  if (typeof constant === "number" && other.type === "string") return `In quotes it is a string: "${constant}".`;
  if (typeof constant !== "string" || other.type !== "number" || !/^-?\d+(\.\d+)?$/.test(constant)) return null;
  return `Without quotes it is a number: ${constant}.`;
}

// The count stops at 64, so a rule with a higher threshold would look active and never fire.
function refuseUnreachable(operator: Comparison, counted: Term, threshold: Term): void {
  const { constant, syntax } = threshold;
  if (!counted.isRing || typeof constant !== "number") return;
  if (constant < ringSize || (constant === ringSize && operator !== ">")) return;
  const hint = `It is taken over the last ${ringSize} events, so the count stops at ${ringSize}.`;
  throw new RuleFault(`No count of this field is ever above ${ringSize}.`, syntax, hint);
}

export function isInList(left: Term, values: Term[], syntax: Syntax): Term {
  const [first] = values;
  if (!first) throw new RuleFault("Nothing is in an empty list.", syntax);
  const { type } = first;
  const set = new Set<Known>();
  for (const value of values) {
    if (value.constant === undefined)
      throw new RuleFault("A list may contain only literal values.", value.syntax, "Compare fields with `==`.");
    if (value.type !== type) throw new RuleFault("All values of a list must have the same type.", value.syntax);
    refuseUnreachable("==", left, value);
    set.add(value.constant);
  }
  refuseMixedTypes(left, first);
  return {
    type: "boolean",
    syntax,
    run: (context) => {
      const value = left.run(context);
      return typeof value === type ? set.has(value) : undefined;
    },
    ...(left.name === typeField && { types: new Set([...set].map(String)) }),
  };
}

export function isInAttributes(left: Term, syntax: Syntax): Term {
  requireType(left, "string", "in");
  return {
    type: "boolean",
    syntax,
    run: (context) => {
      const name = left.run(context);
      return typeof name === "string" ? Object.hasOwn(context.event.attributes, name) : undefined;
    },
  };
}
