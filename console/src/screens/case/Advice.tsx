import type { Case } from "@casehound/client";
import { actionWords } from "../../parts/Badges.tsx";

// The recommended action. It has its own file, because the queue shows it too and does not need the rest of the case.
export function Advice({ action }: { action: Case["details"]["recommended_action"] }) {
  return (
    <span className="text-sm text-soft">
      Advice: <strong className="font-semibold text-ink">{actionWords[action]}</strong>{" "}
      <span className="rounded border border-line px-1 text-xs text-faint">not enforced</span>
    </span>
  );
}
