import { Environment, ParseError, type ASTNode } from "@marcbachmann/cel-js";
import { RuleFault } from "./fault.ts";

export type Syntax = ASTNode;

const expressionMax = 2000;
const limits = { maxAstNodes: 200, maxDepth: 32, maxListElements: 100, maxCallArguments: 4 };

// Only CEL's grammar is taken from the library. Its evaluator is not used: its regular expressions and comprehensions can hang.
const grammar = new Environment({ limits });

export function parseExpression(expression: string): Syntax {
  if (expression.length > expressionMax) {
    throw new RuleFault(`The expression is longer than ${expressionMax} characters.`, {
      input: expression,
      start: expressionMax,
    });
  }
  try {
    return grammar.parse(expression).ast;
  } catch (error) {
    if (error instanceof ParseError) throw faultOf(error, expression);
    throw error;
  }
}

const unexpected = new Set(["unexpected_character", "unexpected_token", "expected_token"]);
const habits = new Map([
  ["=", "Compare with `==`."],
  ["&", "Write `&&`."],
  ["and", "Write `&&`."],
  ["AND", "Write `&&`."],
  ["|", "Write `||`."],
  ["or", "Write `||`."],
  ["OR", "Write `||`."],
]);

function faultOf(error: ParseError, input: string): RuleFault {
  const start = error.range?.start ?? 0;
  const fault = (message: string, hint: string | null) => new RuleFault(message, { input, start }, hint, error);
  if (error.code === "limit_exceeded") return limitFault(error.summary, fault);
  if (error.code === "invalid_macro_argument") return fault("Comprehensions are not supported in rules.", null);
  if (!unexpected.has(error.code)) return fault(`${error.summary}.`, null);
  if (start >= input.length) return fault("The expression ends too early.", "Something is missing, or a bracket is not closed.");
  const text = input.slice(start, error.range?.end);
  return fault(`\`${text}\` is not expected here.`, habits.get(text) ?? null);
}

function limitFault(summary: string, fault: (message: string, hint: string | null) => RuleFault): RuleFault {
  const split = "Split it into two rules.";
  if (summary.includes("maxDepth")) return fault(`The expression is nested deeper than ${limits.maxDepth} levels.`, split);
  if (summary.includes("maxListElements")) return fault(`The list has more than ${limits.maxListElements} values.`, split);
  if (summary.includes("maxAstNodes")) {
    return fault(`The expression has more than ${limits.maxAstNodes} names, values and operators.`, split);
  }
  return fault("Too many arguments.", null);
}
