import { CloudOff } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";
import { Button } from "../parts/Button.tsx";
import { useWorkspace } from "../session/workspace.tsx";

function subscribeOnline(listener: () => void): () => void {
  window.addEventListener("online", listener);
  window.addEventListener("offline", listener);
  return () => {
    window.removeEventListener("online", listener);
    window.removeEventListener("offline", listener);
  };
}

// Warns that a change has not been saved yet, and asks before the page is closed.
export function UnsavedBanner() {
  const { outbox } = useWorkspace().desk;
  const unsaved = useSyncExternalStore(outbox.subscribe, outbox.unsaved);
  const isOnline = useSyncExternalStore(subscribeOnline, () => navigator.onLine);
  const count = unsaved.length;
  useEffect(() => {
    if (count === 0) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [count]);
  if (isOnline && count === 0) return <div role="alert" className="hidden" />;
  return (
    <div
      role="alert"
      className="no-print flex items-center gap-3 border-b border-line bg-warn-soft px-4 py-1.5 text-sm text-warn"
    >
      <CloudOff size={16} aria-hidden />
      <span className="flex-1 font-medium">
        {count > 0 && `Not saved yet, retrying: ${count === 1 ? "1 change" : `${count} changes`}. Keep this page open.`}
        {!isOnline && " You are offline."}
      </span>
      {count > 0 && <Button onClick={() => outbox.wake()}>Try now</Button>}
    </div>
  );
}
