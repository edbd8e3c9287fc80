import { pino, type Logger } from "pino";

const causesMax = 3;

// Writes JSON lines to standard error. Errors are reduced to what cannot contain a caller's data, because PostgreSQL puts row
// values into the details of its errors.
export function openLog(level: string): Logger {
  const options = {
    level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => errorShown(error) },
  };
  return pino(options, pino.destination({ dest: 2, sync: false }));
}

export function errorShown(error: unknown, causesLeft = causesMax): unknown {
  if (!(error instanceof Error)) return { message: typeof error };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const cause = error.cause === undefined || causesLeft === 0 ? undefined : errorShown(error.cause, causesLeft - 1);
  return { type: error.name, code, ...wordsOf(error, code), cause };
}

// Errors of the JSON parser, and PostgreSQL's errors about a value, quote the text that they could not read.
function wordsOf(error: Error, code: string | undefined): { message: string; stack: string | undefined } {
  const { message, stack } = error;
  if (!(error instanceof SyntaxError) && !code?.startsWith("22")) return { message, stack };
  return { message: "(not shown: it may quote data)", stack: stack?.replace(message, "") };
}
