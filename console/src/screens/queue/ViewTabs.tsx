import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { countMax } from "../../data/queries.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { isSameFilter, toCaseQuery, views, type QueueFilter } from "./search.ts";

const sinceStepMs = 10 * 60_000;

type Props = { filter: QueueFilter; onFilter: (next: QueueFilter) => void };

export function ViewTabs({ filter, onFilter }: Props) {
  const { queries } = useWorkspace();
  // A view of the last day is counted from a round time, so that the count is not asked for with every glance.
  const nowMs = Math.floor(Date.now() / sinceStepMs) * sinceStepMs;
  const asked = useMemo(() => views.map((view) => queries.caseCount(toCaseQuery(view.filter, nowMs))), [queries, nowMs]);
  const counts = useQueries({ queries: asked });
  return (
    <nav aria-label="Views" className="flex min-w-0 gap-1 overflow-x-auto px-3">
      {views.map((view, index) => {
        const isOn = isSameFilter(view.filter, filter);
        const count = counts[index]?.data;
        return (
          <button
            key={view.name}
            type="button"
            aria-current={isOn ? "page" : undefined}
            onClick={() => onFilter(view.filter)}
            className={`flex h-10 items-center gap-2 border-b-2 px-2 text-sm whitespace-nowrap outline-offset-[-2px] ${isOn ? "border-accent font-semibold text-ink" : "border-transparent text-soft hover:text-ink"}`}
          >
            {view.name}
            {count !== undefined && (
              <span className="rounded-full bg-sunken px-1.5 text-xs font-medium text-soft">
                {count >= countMax ? `${countMax - 1}+` : count}
              </span>
            )}
          </button>
        );
      })}
    </nav>
  );
}
