import type { Colleague } from "@casehound/client";

export type Part = { text: string; colleague?: Colleague };

const mention = /(?<![\p{L}\p{N}._%+-])@([^\s@<>()[\],;:"']+@[^\s@<>()[\],;:"']*[\p{L}\p{N}])/gu;

// Splits a note at the mentions of people who are still there.
export function partsOf(text: string, colleagues: readonly Colleague[]): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of text.matchAll(mention)) {
    const colleague = colleagues.find(({ email }) => email === match[1]?.toLowerCase());
    if (!colleague) continue;
    parts.push({ text: text.slice(from, match.index) }, { text: match[0], colleague });
    from = match.index + match[0].length;
  }
  return [...parts, { text: text.slice(from) }].filter((part) => part.text !== "");
}

const offeredMax = 6;

// The mention that is being typed before the caret, and who it may be.
export function offersFor(text: string, caret: number, colleagues: readonly Colleague[]): { from: number; offers: Colleague[] } {
  const typed = /(?:^|[\s(])@([^\s@]{0,40})$/u.exec(text.slice(0, caret));
  if (!typed) return { from: caret, offers: [] };
  const wanted = (typed[1] ?? "").toLowerCase();
  const isMeant = ({ name, email }: Colleague) =>
    email.startsWith(wanted) ||
    name
      .toLowerCase()
      .split(/\s+/)
      .some((word) => word.startsWith(wanted));
  return { from: caret - wanted.length - 1, offers: colleagues.filter(isMeant).slice(0, offeredMax) };
}
