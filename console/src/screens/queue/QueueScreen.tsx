import { useNavigate, useSearch } from "@tanstack/react-router";
import { useRef, useSyncExternalStore } from "react";
import { NotAvailable } from "../../parts/NotAvailable.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { ViewsMenu } from "../../views/ViewsMenu.tsx";
import { FilterBar } from "./FilterBar.tsx";
import { QueueList } from "./QueueList.tsx";
import { ViewTabs } from "./ViewTabs.tsx";
import type { QueueFilter } from "./search.ts";

export function QueueScreen() {
  const { may } = useWorkspace();
  const { case: _case, ...filter } = useSearch({ from: "/inside/" });
  const navigate = useNavigate({ from: "/" });
  const input = useRef<HTMLInputElement>(null);
  const setFilter = (next: QueueFilter) => void navigate({ search: next });
  return (
    <div className="flex h-full flex-col">
      <header className="flex items-center border-b border-line bg-surface">
        <h1 className="sr-only">Queue</h1>
        <ViewTabs filter={filter} onFilter={setFilter} />
        <ViewsMenu filter={filter} />
        <span className="flex-1" />
        <LiveDot />
      </header>
      <FilterBar filter={filter} onFilter={setFilter} input={input} />
      {may("read:cases") ? (
        <QueueList key={JSON.stringify(filter)} filter={filter} input={input} />
      ) : (
        <NotAvailable what="The queue" />
      )}
    </div>
  );
}

const liveWords = { live: "Live", connecting: "Connecting", lost: "Not live", "not-allowed": "Live updates not available" };

// On narrow screens, the word is left out while all is well. Otherwise the row of tabs could cut off a count.
function LiveDot() {
  const { live } = useWorkspace();
  const state = useSyncExternalStore(live.subscribe, live.state);
  const look = state === "live" ? "bg-good" : "border-2 border-faint";
  return (
    <span role="status" title={liveWords[state]} className="flex shrink-0 items-center gap-1.5 px-4 text-xs text-soft">
      <span className={`size-2 rounded-full ${look}`} aria-hidden />
      <span className={state === "live" ? "max-[85rem]:sr-only" : ""}>{liveWords[state]}</span>
    </span>
  );
}
