import { kindFacts, type ListKind } from "./words.ts";

export function KindMark({ kind }: { kind: ListKind }) {
  const { name, look } = kindFacts[kind];
  return <span className={`rounded px-1.5 py-px text-xs font-semibold ${look}`}>{name}</span>;
}
