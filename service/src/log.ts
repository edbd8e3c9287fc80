import { pino, type Logger } from "pino";

const causesMax = 3;

// JSON lines on standard error. Of an error only what cannot hold a caller's data: PostgreSQL puts values of rows into
// its errors' details.
export function openLog(level: string): Logger {
  const options = {
    level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => shown(error, causesMax) },
  };
  return pino(options, pino.destination({ dest: 2, sync: false }));
}

function shown(error: unknown, causesLeft: number): unknown {
  if (!(error instanceof Error)) return { message: typeof error };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const cause = error.cause === undefined || causesLeft === 0 ? undefined : shown(error.cause, causesLeft - 1);
  return { type: error.name, code, message: error.message, stack: error.stack, cause };
}
