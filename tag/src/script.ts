import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

// In the order in which they use each other. Their top-level names share one scope.
export const parts = [
  "guard",
  "settings",
  "text",
  "storage",
  "queue",
  "delivery",
  "visitor",
  "inputs",
  "event",
  "visit",
  "tag",
] as const;

// The tag as browsers get it: its parts without types, imports, comments and indentation, in a function of their own. The text
// is only cut by whole lines and runs of blanks, which is safe as long as no literal has these: a test holds that.
export function tagScript(): string {
  const lines = parts
    .map((part) => readFileSync(new URL(`./browser/${part}.ts`, import.meta.url), "utf8"))
    .map((source) =>
      stripTypes(source)
        .replaceAll(/^import [^;]*;$/gm, "")
        .replaceAll(/^export /gm, ""),
    )
    .flatMap((source) => source.split("\n"))
    .map((line) => line.trim().replaceAll(/ {2,}/g, " "))
    .filter((line) => line !== "" && !line.startsWith("//"));
  return `(()=>{"use strict";\n${lines.join("\n")}\n})();\n`;
}

// Node calls the function experimental on standard error, where an operator can do nothing about it.
function stripTypes(source: string): string {
  // oxlint-disable-next-line typescript/unbound-method -- It is put back, and not called.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}
