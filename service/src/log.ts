import { pino, type Logger } from "pino";
import type { LogFormat } from "./config.ts";

const causesMax = 3;

// Lines go to standard error. JSON lines are written in the background, lines for people at once.
export type LogOutput = { write: (text: string) => unknown };
type LogOptions = { output?: LogOutput; worker?: string };

export function openOutput(format: LogFormat): LogOutput {
  if (format === "pretty") return { write: (text) => process.stderr.write(text) };
  return pino.destination({ dest: 2, sync: false });
}

// Writes JSON lines, or lines for people. Errors are reduced to what cannot contain a caller's data, because PostgreSQL puts row
// values into the details of its errors. If the service has several processes, each line says which one wrote it.
export function openLog(
  level: string,
  format: LogFormat = "json",
  { output = openOutput(format), worker }: LogOptions = {},
): Logger {
  const options = {
    level,
    base: worker === undefined ? null : { worker },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: unknown) => errorShown(error) },
  };
  if (format === "pretty") return pino(options, { write: (line) => void output.write(prettyLine(line)) });
  return pino(options, output);
}

// Node would write warnings of libraries as plain text between the log's lines.
export function logWarnings(log: Logger): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => log.warn({ err: warning }, "warning"));
}

// One line for people: time, level, message, and the other members as name=value. An error's stack follows, indented.
export function prettyLine(line: string): string {
  // Written by pino.
  const { level, time, msg = "", err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const members = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const head = [String(time).slice(11, 19), String(level).padEnd(5), String(msg), ...members].join("  ");
  return `${harmless(head)}\n${err === undefined ? "" : prettyError(err)}`;
}

function prettyError(error: unknown): string {
  const { type, message, stack, cause } = error as { type?: string; message?: string; stack?: string; cause?: unknown };
  const text = stack ?? `${type ?? "Error"}: ${message ?? ""}`;
  const lines = text.split("\n").map((each) => `          ${harmless(each)}\n`);
  return `${lines.join("")}${cause === undefined ? "" : prettyError(cause)}`;
}

// A caller can choose paths and names. Control characters in them could change what a terminal shows.
function harmless(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
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
