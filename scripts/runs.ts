// Shared by `npm run proof` and `npm run bench`: both run parts by name, and state which commit their figures belong to.
import { execFileSync } from "node:child_process";

function git(...args: string[]): string {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
}

export function commit(): string {
  const head = git("rev-parse", "HEAD");
  if (head === "") return "unknown";
  return git("status", "--porcelain") === "" ? head : `${head}, with uncommitted changes`;
}

// Returns all parts if none is named. An unknown name is the caller's mistake.
export function chooseParts<P extends { name: string }>(parts: P[], only: string | undefined): P[] {
  const names = only?.split(",");
  const unknown = names?.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) throw new TypeError(`there is no part "${unknown}"`);
  return parts.filter(({ name }) => names?.includes(name) ?? true);
}
