import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Button, IconButton } from "./Button.tsx";

type Toast = { id: number; kind: "done" | "problem"; words: string; action?: { name: string; run: () => void } };

const shownMs = 8_000;
const shownMax = 4;

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next.slice(-shownMax);
  for (const listener of listeners) listener();
}

function dismissToast(id: number): void {
  change(toasts.filter((each) => each.id !== id));
}

// One way to say what happened. A problem stays until it is put away; the rest goes by itself.
export function toast(given: Omit<Toast, "id">): number {
  const id = ++last;
  change([...toasts, { ...given, id }]);
  if (given.kind === "done") setTimeout(() => dismissToast(id), shownMs);
  return id;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div role="status" aria-live="polite" className="no-print pointer-events-none fixed right-4 bottom-4 z-40 grid w-96 gap-2">
      {shown.map(({ id, kind, words, action }) => (
        <div
          key={id}
          className="pointer-events-auto flex items-start gap-2.5 rounded-lg border border-line bg-raised py-2 pr-2 pl-3 shadow-float"
        >
          {kind === "done" ? (
            <CircleCheck size={17} className="mt-1.5 shrink-0 text-good" aria-hidden />
          ) : (
            <CircleAlert size={17} className="mt-1.5 shrink-0 text-bad" aria-hidden />
          )}
          <p className="min-w-0 flex-1 py-1.5 text-sm [overflow-wrap:anywhere]">{words}</p>
          {action && (
            <Button
              look="quiet"
              className="text-accent"
              onClick={() => {
                dismissToast(id);
                action.run();
              }}
            >
              {action.name}
            </Button>
          )}
          <IconButton name="Put this message away" onClick={() => dismissToast(id)}>
            <X size={15} aria-hidden />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
