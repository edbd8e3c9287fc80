import { RE2JS } from "re2js";
import { firstCharacters } from "../domain/text.ts";

const patternMax = 200;
// Matching takes time linear in the text, with a factor that grows with the program. The worst pattern found took 18 ms for 1,024
// characters with 100 instructions, and 230 ms with 1,800.
const instructionsMax = 100;
// A pattern is matched against at most this many characters of a text.
const textMax = 256;
// The time per instruction that the worst pattern takes for a text of that length.
export const worstMsPerInstruction = 0.045;

type Pattern = { test: (text: string) => boolean | undefined; instructions: number } | { problem: string; cause?: unknown };

// Finds the pattern anywhere in the text, as CEL specifies.
export function compilePattern(pattern: string): Pattern {
  if (pattern.length > patternMax) return { problem: `The pattern is longer than ${patternMax} characters.` };
  try {
    const compiled = RE2JS.compile(pattern);
    const instructions = compiled.programSize();
    if (instructions > instructionsMax) return { problem: "The pattern is too large. Use fewer repetitions." };
    return { test: (text) => testSafely(compiled, text.length > textMax ? firstCharacters(text, textMax) : text), instructions };
  } catch (cause) {
    // Whatever the parser throws on a stranger's pattern, the pattern is at fault.
    const reason = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, "") : "";
    return { problem: `Not a pattern: ${reason}`, cause };
  }
}

// If the matcher fails, one rule has no result for one event. If it threw, the event's batch would never complete.
function testSafely(pattern: RE2JS, text: string): boolean | undefined {
  try {
    return pattern.test(text);
  } catch {
    return undefined;
  }
}
