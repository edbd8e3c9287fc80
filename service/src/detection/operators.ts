import { RuleFault } from "./fault.ts";
import type { Syntax } from "./syntax.ts";
import { plainTypes, requireType, type Known, type Term } from "./term.ts";

type Two = { left: Term; right: Term; syntax: Syntax };

const calculations = {
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
  "/": (a: number, b: number) => a / b,
  "%": (a: number, b: number) => a % b,
};

// Numbers only, because concatenation could double a text with every operator.
export function calculate(operator: keyof typeof calculations, { left, right, syntax }: Two): Term {
  for (const side of [left, right]) requireType(side, "number", operator);
  const calculation = calculations[operator];
  const apply = (a: Known, b: Known) => (typeof a === "number" && typeof b === "number" ? finite(calculation(a, b)) : undefined);
  const constant = apply(left.constant, right.constant);
  return { type: "number", syntax, constant, run: (context) => apply(left.run(context), right.run(context)) };
}

// Division by zero and overflow give no value that a rule could sensibly compare.
function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

export function negate(operand: Term, syntax: Syntax): Term {
  requireType(operand, "number", "-");
  return { type: "number", syntax, constant: minus(operand.constant), run: (context) => minus(operand.run(context)) };
}

function minus(value: Known): number | undefined {
  return typeof value === "number" ? -value : undefined;
}

export function not(operand: Term, syntax: Syntax): Term {
  requireType(operand, "boolean", "!");
  return {
    type: "boolean",
    syntax,
    run: (context) => {
      const value = operand.run(context);
      return typeof value === "boolean" ? !value : undefined;
    },
  };
}

// One false decides `&&` and one true decides `||`, whatever the other side is.
export function combine(operator: "&&" | "||", { left, right, syntax }: Two): Term {
  for (const side of [left, right]) requireType(side, "boolean", operator);
  const settled = operator === "||";
  return {
    type: "boolean",
    syntax,
    ...(operator === "&&" ? typesOfBoth(left, right) : typesOfEither(left, right)),
    run: (context) => {
      const a = left.run(context);
      if (a === settled) return settled;
      const b = right.run(context);
      if (b === settled) return settled;
      return typeof a === "boolean" && typeof b === "boolean" ? !settled : undefined;
    },
  };
}

function typesOfBoth({ types: a }: Term, { types: b }: Term): Pick<Term, "types"> {
  const types = a && b ? a.intersection(b) : (a ?? b);
  return types ? { types } : {};
}

function typesOfEither({ types: a }: Term, { types: b }: Term): Pick<Term, "types"> {
  return a && b ? { types: a.union(b) } : {};
}

export function choose(condition: Term, { left, right, syntax }: Two): Term {
  requireType(condition, "boolean", "?");
  if (left.type !== right.type && left.type !== "attribute" && right.type !== "attribute") {
    const message = `Both sides of \`:\` must have the same type, but these are ${plainTypes[left.type]} and ${plainTypes[right.type]}.`;
    throw new RuleFault(message, right.syntax);
  }
  return {
    type: left.type === right.type ? left.type : "attribute",
    syntax,
    run: (context) => {
      const chosen = condition.run(context);
      if (typeof chosen !== "boolean") return undefined;
      return chosen ? left.run(context) : right.run(context);
    },
  };
}
