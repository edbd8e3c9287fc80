import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { Users } from "lucide-react";
import { useMemo } from "react";
import { useKeys, type Binding } from "../keys/keys.ts";
import { visible } from "../parts/visible.ts";
import { readQueueSearch } from "../screens/queue/search.ts";
import { filterOf, isShowing, keysOf, useViewCounts, useViews } from "./views.ts";

// The saved views, and their keys. On narrow screens, the queue's menu has them.
export function SidebarViews() {
  const views = useViews();
  const wordsOf = useViewCounts();
  const address = useLocation();
  useViewKeys();
  if (views.length === 0) return null;
  const keys = keysOf(views);
  const { case: _case, ...shown } = readQueueSearch(address.search);
  return (
    <nav
      aria-label="Saved views"
      className="mt-4 grid min-h-0 grid-cols-[minmax(0,1fr)] content-start gap-0.5 overflow-y-auto max-xl:hidden"
    >
      <h2 className="px-2 pb-1 text-xs font-medium text-faint">Views</h2>
      {views.map((view) => {
        const isOn = address.pathname === "/" && isShowing(view, shown);
        const name = visible(view.name);
        const key = view.key !== undefined && keys.get(view.key) === view ? ` (G, then ${view.key})` : "";
        return (
          <Link
            key={view.view_id}
            to="/"
            search={filterOf(view)}
            title={`${name}${key}`}
            aria-current={isOn ? "page" : undefined}
            className={`flex h-7 items-center gap-1.5 rounded-md px-2 text-sm hover:bg-hover hover:text-ink ${isOn ? "bg-hover font-medium text-ink" : "text-soft"}`}
          >
            <span className="min-w-0 flex-1 truncate">{name}</span>
            {view.is_shared && <Users size={12} className="shrink-0 text-faint" aria-label="shared" />}
            <span className="shrink-0 text-xs text-faint tabular-nums">{wordsOf(view.view_id)}</span>
          </Link>
        );
      })}
    </nav>
  );
}

function useViewKeys(): void {
  const views = useViews();
  const navigate = useNavigate();
  const bindings = useMemo<Binding[]>(
    () =>
      [...keysOf(views)].map(([key, view]) => ({
        key: `g ${key}`,
        shown: `G ${key}`,
        name: `Open the view ${visible(view.name)}`,
        group: "Views",
        run: () => void navigate({ to: "/", search: filterOf(view) }),
      })),
    [views, navigate],
  );
  useKeys(bindings);
}
