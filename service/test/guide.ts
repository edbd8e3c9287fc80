import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const repository = resolve(import.meta.dirname, "../..");

// Returns the code blocks of a guide page, unchanged.
export function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(repository, "docs/guide", `${page}.md`), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"))].map(([, block = ""]) => block);
}
