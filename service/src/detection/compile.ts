import { compare, isInAttributes, isInList } from "./comparison.ts";
import { RuleFault } from "./fault.ts";
import { callMethod, refuseUnknownMethod, unknownCall } from "./functions.ts";
import { listNamed, lookUp, type ListCatalogue } from "./list-lookup.ts";
import { calculate, choose, combine, negate, not } from "./operators.ts";
import { has, read } from "./reading.ts";
import { parseExpression, type Syntax } from "./syntax.ts";
import { plainTypes, type Term } from "./term.ts";
import type { RuleContext } from "./vector.ts";

export { RuleFault } from "./fault.ts";

export type CompiledRule = {
  // Names of fields in the catalogue and `lists.<name>`, in the order of first appearance.
  reads: string[];
  // Never throws. If the result is unknown for an event, it is false.
  test: (context: RuleContext) => boolean;
  // The total size of its patterns; 0 if it has none.
  instructions: number;
};

type Scope = { reads: Set<string>; patterns: number; instructions: number; lists: ListCatalogue | undefined };
const patternsMax = 5;

// Compiles CEL over the catalogue's fields, with one type of number and a closed list of functions. Names and types are checked
// here, so that a saved rule can only be true or false. Lists are checked if they are given. Throws RuleFault.
export function compileRule(expression: string, lists?: ListCatalogue): CompiledRule {
  const scope: Scope = { reads: new Set(), patterns: 0, instructions: 0, lists };
  const syntax = parseExpression(expression);
  const term = compile(syntax, scope);
  if (term.type !== "boolean" && term.type !== "attribute") {
    throw new RuleFault(
      `A rule must be true or false, but this is ${plainTypes[term.type]}.`,
      syntax,
      "Compare it with something.",
    );
  }
  if (scope.reads.size === 0) throw new RuleFault("The rule reads no field, so it is the same for every event.", syntax);
  return { reads: [...scope.reads], test: testOf(term), instructions: scope.instructions };
}

// Most rules are about a few types of events, and most events are of other types.
function testOf({ run, types }: Term): CompiledRule["test"] {
  if (!types) return (context) => run(context) === true;
  return (context) => {
    const { type } = context.event;
    return typeof type === "string" && types.has(type) && run(context) === true;
  };
}

// Recursion is as deep as the syntax tree, whose number of nodes is limited.
function compile(syntax: Syntax, scope: Scope): Term {
  const two = ([left, right]: [Syntax, Syntax]) => ({ left: compile(left, scope), right: compile(right, scope), syntax });
  switch (syntax.op) {
    case "value":
      return literal(syntax, syntax.args);
    case "id":
    case ".":
    case "[]":
      return read(syntax, scope.reads);
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return compare(syntax.op, two(syntax.args));
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
      return calculate(syntax.op, two(syntax.args));
    case "&&":
    case "||":
      return combine(syntax.op, two(syntax.args));
    case "!_":
      return not(compile(syntax.args, scope), syntax);
    case "-_":
      return negate(compile(syntax.args, scope), syntax);
    case "?:":
      return choose(compile(syntax.args[0], scope), two([syntax.args[1], syntax.args[2]]));
    case "in":
      return isIn(syntax, syntax.args, scope);
    case "call":
      return callFunction(syntax, syntax.args, scope);
    case "rcall":
      return callOn(syntax, syntax.args, scope);
    default:
      throw new RuleFault("A list can only be on the right side of `in`, and maps are not supported.", syntax);
  }
}

function literal(syntax: Syntax, value: unknown): Term {
  if (typeof value === "string") return { type: "string", syntax, constant: value, run: () => value };
  if (typeof value === "boolean") return { type: "boolean", syntax, constant: value, run: () => value };
  if (typeof value === "number" || typeof value === "bigint") {
    const number = Number(value);
    if (typeof value === "bigint" && !Number.isSafeInteger(number)) throw new RuleFault("The number is too large.", syntax);
    return { type: "number", syntax, constant: number, run: () => number };
  }
  throw new RuleFault("A value must be a number, a string in quotes, true or false.", syntax);
}

function isIn(syntax: Syntax, [left, right]: [Syntax, Syntax], scope: Scope): Term {
  const subject = compile(left, scope);
  if (right.op === "list") {
    const values = right.args.map((value) => compile(value, scope));
    return isInList(subject, values, right);
  }
  const container = compile(right, scope);
  if (container.type === "map") return isInAttributes(subject, syntax);
  throw new RuleFault(
    "`in` needs a list or `event.attributes` to its right.",
    right,
    'For example `event.country in ["DE", "FR"]`.',
  );
}

function callFunction(syntax: Syntax, [name, args]: [string, Syntax[]], scope: Scope): Term {
  const [argument] = args;
  if (!argument || args.length > 1 || (name !== "has" && name !== "size")) throw unknownCall(name, syntax);
  return name === "has" ? has(argument, scope.reads) : call(name, [compile(argument, scope)], syntax, scope);
}

function callOn(syntax: Syntax, [name, receiver, args]: [string, Syntax, Syntax[]], scope: Scope): Term {
  const place = { input: syntax.input, start: syntax.input.indexOf(name, receiver.end) };
  const list = name === "has" && args.length === 1 ? listNamed(receiver) : null;
  if (list !== null && args[0]) {
    const { lists, reads } = scope;
    return lookUp(list, { syntax, receiver, argument: args[0], lists, reads }, (argument) => compile(argument, scope));
  }
  refuseUnknownMethod(name, args.length, place);
  if (name === "matches" && ++scope.patterns > patternsMax) {
    throw new RuleFault(
      `The rule has more than ${patternsMax} patterns.`,
      place,
      "Join them with `|`, or split the rule in two.",
    );
  }
  const [argument] = args;
  return call(name, [compile(receiver, scope), argument && compile(argument, scope)], syntax, scope);
}

function call(name: string, args: [Term, (Term | undefined)?], syntax: Syntax, scope: Scope): Term {
  return callMethod(name, args, { syntax, onPattern: (instructions) => (scope.instructions += instructions) });
}
