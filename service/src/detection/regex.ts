import { RE2JS } from "re2js";
import { firstCharacters } from "../domain/field.ts";

const patternMax = 200;
// Time is linear in the text, and the factor grows with the program: at 100 instructions the worst pattern found took 18 ms for
// 1,024 characters, at 1,800 it took 230 ms.
const instructionsMax = 100;
// A pattern is matched against at most this many characters of a text.
const textMax = 256;
// The time that the worst pattern takes for such a text, per instruction.
export const worstMsPerInstruction = 0.045;

type Pattern = { test: (text: string) => boolean | undefined; instructions: number } | { problem: string; cause?: unknown };

// Finds the pattern anywhere in the text, as CEL says.
export function compilePattern(pattern: string): Pattern {
  if (pattern.length > patternMax) return { problem: `The pattern is longer than ${patternMax} characters.` };
  try {
    const compiled = RE2JS.compile(pattern);
    const instructions = compiled.programSize();
    if (instructions > instructionsMax) return { problem: "The pattern is too large: mind its repetitions." };
    return { test: (text) => testSafely(compiled, text.length > textMax ? firstCharacters(text, textMax) : text), instructions };
  } catch (cause) {
    // Whatever a stranger's pattern brings the parser to throw, it is the pattern that is wrong.
    const reason = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, "") : "";
    return { problem: `Not a pattern: ${reason}`, cause };
  }
}

// A fault in the matcher costs one rule its say on one event. Thrown, it would stop the event's batch for good.
function testSafely(pattern: RE2JS, text: string): boolean | undefined {
  try {
    return pattern.test(text);
  } catch {
    return undefined;
  }
}
