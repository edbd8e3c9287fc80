import { useQuery } from "@tanstack/react-query";
import { intoView } from "../../parts/into-view.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { isSameFilter, views, type QueueFilter } from "./search.ts";

const figure = new Intl.NumberFormat();

type Props = { filter: QueueFilter; onFilter: (next: QueueFilter) => void };

export function ViewTabs({ filter, onFilter }: Props) {
  const { queries } = useWorkspace();
  const counts = useQuery(queries.caseCounts()).data;
  return (
    <nav aria-label="Views" className="flex min-w-0 gap-1 overflow-x-auto px-3">
      {views.map((view) => {
        const isOn = isSameFilter(view.filter, filter);
        const count = counts?.[view.counted];
        if (view.isHiddenIfEmpty && !isOn && !count) return null;
        return (
          <button
            key={view.name}
            type="button"
            title={view.help}
            ref={isOn ? intoView : null}
            aria-current={isOn ? "page" : undefined}
            onClick={() => onFilter(view.filter)}
            className={`flex h-10 items-center gap-2 border-b-2 px-2 text-sm whitespace-nowrap outline-offset-[-2px] ${isOn ? "border-accent font-semibold text-ink" : "border-transparent text-soft hover:text-ink"}`}
          >
            {view.name}
            {count !== undefined && (
              <span className="rounded-full bg-sunken px-1.5 text-xs font-medium text-soft">{figure.format(count)}</span>
            )}
          </button>
        );
      })}
    </nav>
  );
}
