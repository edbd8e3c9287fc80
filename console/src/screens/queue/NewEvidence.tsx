import { FilePlus2 } from "lucide-react";
import { evidenceMeaning } from "./search.ts";

export function NewEvidence() {
  return (
    <span
      title={evidenceMeaning}
      className="inline-flex h-5 shrink-0 items-center gap-1 rounded bg-accent-soft px-1.5 text-xs font-medium text-accent"
    >
      <FilePlus2 size={13} aria-hidden />
      <span className="max-2xl:sr-only">New evidence</span>
    </span>
  );
}
