import { firstCharacters } from "./text.ts";

// For values as a page sent them, which may be of any type and contain any text.
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Returns the beginning of a text without what PostgreSQL cannot store: U+0000 and lone surrogates.
export function storableText(text: string, charactersMax: number): string {
  const beginning = text.length <= charactersMax ? text : firstCharacters(text, charactersMax);
  // Nearly every text is storable, and checking costs a third of replacing.
  if (beginning.isWellFormed() && !beginning.includes("\0")) return beginning;
  return beginning.toWellFormed().replaceAll("\0", "\ufffd");
}
