import { CircleAlert, CircleCheck, Info, X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Button, IconButton } from "./Button.tsx";

type Kind = "done" | "note" | "problem";
type Toast = { id: number; kind: Kind; words: string; action?: { name: string; run: () => void } };

const shownMs = 8_000;
const shownMax = 4;

let toasts: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next.slice(-shownMax);
  for (const listener of listeners) listener();
}

export function dismissToast(id: number): void {
  if (toasts.some((each) => each.id === id)) change(toasts.filter((each) => each.id !== id));
}

// Shows a message. A problem stays until it is dismissed; other messages disappear by themselves.
export function toast(given: Omit<Toast, "id">): number {
  const id = ++last;
  change([...toasts, { ...given, id }]);
  if (given.kind !== "problem") setTimeout(() => dismissToast(id), shownMs);
  return id;
}

// Messages for one person must not be shown to the next.
export function clearToasts(): void {
  change([]);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const icons = {
  done: <CircleCheck size={17} className="mt-1.5 shrink-0 text-good" aria-hidden />,
  note: <Info size={17} className="mt-1.5 shrink-0 text-soft" aria-hidden />,
  problem: <CircleAlert size={17} className="mt-1.5 shrink-0 text-bad" aria-hidden />,
};

// Between the navigation and the queue's peek pane, above its footer, where there are no buttons to cover. On a narrow screen that
// pane is below the list.
const place = "fixed right-88 bottom-14 left-46 z-40 max-xl:right-74 max-xl:left-14 max-lg:right-0";

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div
      role="status"
      aria-live="polite"
      className={`no-print pointer-events-none ${place} flex flex-col items-center gap-2 px-4`}
    >
      {shown.map(({ id, kind, words, action }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-h-60 w-full max-w-md items-start gap-2.5 overflow-y-auto rounded-lg border border-line bg-raised py-2 pr-2 pl-3 shadow-float"
        >
          {icons[kind]}
          <p className="min-w-0 flex-1 py-1.5 text-sm [overflow-wrap:anywhere]">{words}</p>
          {action && (
            <Button
              look="quiet"
              className="!text-accent"
              onClick={() => {
                dismissToast(id);
                action.run();
              }}
            >
              {action.name}
            </Button>
          )}
          <IconButton name="Dismiss this message" onClick={() => dismissToast(id)}>
            <X size={15} aria-hidden />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
