import type { Searching } from "./useSearch.ts";

// What the list says below its results, also to people who cannot see it.
export function searchWords(text: string, { isSettled, isComplete, hasFailed }: Searching, count: number): string {
  if (text.trim() === "") return "";
  if (hasFailed) return "Search is not available. Try again.";
  if (!isSettled) return "Searching…";
  if (!isComplete) return "Too many matches to search all of them. Type more.";
  return count === 0 ? "No matches" : `${count} ${count === 1 ? "result" : "results"}`;
}
