import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";

// In order of dependency. Their top-level names share one scope.
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

// The tag as browsers receive it: its parts without types, imports, comments and indentation, inside a function. Only whole lines
// and runs of spaces are removed, which is safe as long as no literal contains them. A test checks that.
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

// Suppresses Node's warning about an experimental feature on standard error, because operators can do nothing about it.
function stripTypes(source: string): string {
  // oxlint-disable-next-line typescript/unbound-method -- It is restored and not called.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}
