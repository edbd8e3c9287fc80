import { characters } from "../domain/text.ts";
import { RuleFault } from "./fault.ts";
import { compilePattern } from "./regex.ts";
import type { Syntax } from "./syntax.ts";
import { requireType, type Term } from "./term.ts";

type SourcePosition = { input: string; start: number };

// The complete list, with the number of arguments after the subject. None of them grows a text or takes more than linear time.
const partTests = new Map<string, (text: string, part: string) => boolean>([
  ["startsWith", (text, part) => text.startsWith(part)],
  ["endsWith", (text, part) => text.endsWith(part)],
  ["contains", (text, part) => text.includes(part)],
]);
const methods = new Map([
  ...[...partTests.keys()].map((name) => [name, 1] as const),
  ["matches", 1],
  ["lowerAscii", 0],
  ["size", 0],
]);
const macros = new Set(["all", "exists", "exists_one", "map", "filter"]);

// Runs before the arguments are compiled. Otherwise the author of a comprehension would get an error about its variable.
export function refuseUnknownMethod(name: string, count: number, place: SourcePosition): void {
  if (methods.get(name) !== count) throw unknownCall(name, place);
}

export function unknownCall(name: string, place: SourcePosition): RuleFault {
  if (macros.has(name))
    return new RuleFault(`\`${name}\` is not supported in rules.`, place, "Write the conditions out, with `&&` and `||`.");
  const names = [...methods.keys(), "has"];
  const message = names.includes(name) ? `\`${name}\` cannot be called like this.` : `There is no function \`${name}\`.`;
  return new RuleFault(message, place, `Functions: ${names.join(", ")}.`);
}

// `onPattern` receives the size of each pattern.
export function callMethod(
  name: string,
  [subject, argument]: [Term, (Term | undefined)?],
  { syntax, onPattern }: { syntax: Syntax; onPattern: (instructions: number) => void },
): Term {
  if (!argument) return name === "size" ? measure(subject, syntax) : lower(subject, syntax);
  const test = partTests.get(name);
  return test ? testPart(name, test, { text: subject, part: argument, syntax }) : match(subject, argument, { syntax, onPattern });
}

type PartTest = { text: Term; part: Term; syntax: Syntax };

function testPart(name: string, test: (text: string, part: string) => boolean, { text, part, syntax }: PartTest): Term {
  for (const side of [text, part]) requireType(side, "string", name);
  return {
    type: "boolean",
    syntax,
    run: (context) => {
      const whole = text.run(context);
      const piece = part.run(context);
      return typeof whole === "string" && typeof piece === "string" ? test(whole, piece) : undefined;
    },
  };
}

function match(
  text: Term,
  pattern: Term,
  { syntax, onPattern }: { syntax: Syntax; onPattern: (instructions: number) => void },
): Term {
  requireType(text, "string", "matches");
  requireType(pattern, "string", "matches");
  if (typeof pattern.constant !== "string") {
    throw new RuleFault("A pattern must be written in the rule itself, in quotes.", pattern.syntax);
  }
  const compiled = compilePattern(pattern.constant);
  if ("problem" in compiled) throw new RuleFault(compiled.problem, pattern.syntax, null, compiled.cause);
  onPattern(compiled.instructions);
  return {
    type: "boolean",
    syntax,
    run: (context) => {
      const value = text.run(context);
      return typeof value === "string" ? compiled.test(value) : undefined;
    },
  };
}

function lower(text: Term, syntax: Syntax): Term {
  requireType(text, "string", "lowerAscii");
  return {
    type: "string",
    syntax,
    run: (context) => {
      const value = text.run(context);
      return typeof value === "string" ? value.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase()) : undefined;
    },
  };
}

function measure(subject: Term, syntax: Syntax): Term {
  if (subject.type === "map") {
    return { type: "number", syntax, run: ({ event }) => Object.keys(event.attributes).length };
  }
  requireType(subject, "string", "size");
  return {
    type: "number",
    syntax,
    run: (context) => {
      const value = subject.run(context);
      return typeof value === "string" ? characters(value) : undefined;
    },
  };
}
