import { readFileSync } from "node:fs";
import { UsageFault } from "./command.ts";

// Reads a JSON object. The service checks its members.
export function readJsonObject(file: string): Record<string, unknown> {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new UsageFault(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  if (typeof read !== "object" || read === null || Array.isArray(read))
    throw new UsageFault(`${file} does not contain a JSON object`);
  return { ...read };
}

// Reads a JSON object such as the `--json` of a command prints. `member` shows that it is the right kind of file.
export function readJsonFile(file: string, member: string): object {
  const read = readJsonObject(file);
  if (!(member in read)) throw new UsageFault(`${file} does not contain a JSON object with the member "${member}"`);
  return read;
}
