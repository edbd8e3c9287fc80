import type { View, ViewCount } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { fromCaseQuery, toCaseQuery, type QueueFilter } from "../screens/queue/search.ts";
import { useWorkspace } from "../session/workspace.tsx";

const none: View[] = [];

export function useViews(): View[] {
  const { queries, may } = useWorkspace();
  return useQuery({ ...queries.views(), enabled: may("read:cases") }).data ?? none;
}

// The words for a view's count, by the view's id.
export function useViewCounts(): (viewId: string) => string | undefined {
  const { queries, may } = useWorkspace();
  const hasViews = useViews().length > 0;
  const { data } = useQuery({ ...queries.viewCounts(), enabled: hasViews && may("read:cases") });
  return useMemo(() => {
    const words = new Map(data?.map((count) => [count.view_id, countWords(count)]));
    return (viewId) => words.get(viewId);
  }, [data]);
}

const figure = new Intl.NumberFormat();

function countWords({ cases, is_more: isMore }: ViewCount): string {
  return `${figure.format(cases)}${isMore ? "+" : ""}`;
}

export function filterOf({ filter, sort }: View): QueueFilter {
  return fromCaseQuery({ ...filter, sort });
}

// What the queue shows now, as a view stores it.
export function contentsOf(filter: QueueFilter): Pick<View, "filter" | "sort"> {
  const { sort = "-created_at", ...members } = toCaseQuery(filter);
  return { filter: members, sort };
}

export function isShowing(view: View, filter: QueueFilter): boolean {
  return textOf(filterOf(view)) === textOf(filter);
}

function textOf(filter: QueueFilter): string {
  return JSON.stringify(Object.entries(toCaseQuery(filter)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

// The keys of the views that the person sees. If several views have a key, the person's own comes first.
export function keysOf(views: View[]): Map<number, View> {
  const keys = new Map<number, View>();
  for (const view of views) if (view.key !== undefined && !keys.has(view.key)) keys.set(view.key, view);
  return keys;
}

export function useOpenView(): (view: View) => void {
  const navigate = useNavigate();
  return (view) => void navigate({ to: "/", search: filterOf(view) });
}
