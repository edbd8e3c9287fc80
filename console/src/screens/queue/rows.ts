import { versionlessEvents, type CaseListItem } from "@casehound/client";
import { useInfiniteQuery, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { LiveEvent } from "../../data/live.ts";
import type { CaseQuery } from "../../data/queries.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { isWanted, toRow, type QueueFilter } from "./search.ts";

type Pages = InfiniteData<{ cases: CaseListItem[]; next_cursor: string | null }, string>;

// Up to this many cases are read at once, to see whether they belong in the list. The rest count as new without a check.
const readMax = 20;
const gatherMs = 300;
const none: ReadonlySet<string> = new Set();

// The list as it was read, in that order. Changed rows change in place, and new ones wait until the person reloads.
export function useQueueRows(filter: QueueFilter, query: CaseQuery) {
  const { queries } = useWorkspace();
  const cache = useQueryClient();
  const options = queries.cases(query);
  const list = useInfiniteQuery(options);
  const [changed, setChanged] = useState<ReadonlyMap<string, CaseListItem>>(new Map());
  const [gone, setGone] = useState<ReadonlySet<string>>(none);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(none);

  const forget = useCallback(() => {
    setChanged(new Map());
    setGone(none);
    setFresh(none);
  }, []);
  useEffect(forget, [query, forget]);

  const rows = useMemo(() => {
    const seen = new Set<string>();
    const all = (list.data?.pages ?? []).flatMap((page) => page.cases);
    return all
      .filter(({ case_id: id }) => !gone.has(id) && !seen.has(id) && seen.add(id))
      .map((row) => changed.get(row.case_id) ?? row);
  }, [list.data, changed, gone]);

  // Reads the list again from the top. Cases that arrive meanwhile are kept, because the response may not include them.
  const reload = useCallback(async () => {
    cache.setQueryData<Pages>(
      options.queryKey,
      (known) => known && { pages: known.pages.slice(0, 1), pageParams: known.pageParams.slice(0, 1) },
    );
    setFresh(none);
    await list.refetch();
    setChanged((known) => new Map([...known].filter(([id, row]) => changed.get(id) !== row)));
    setGone((known) => known.difference(gone));
  }, [cache, options.queryKey, list, changed, gone]);

  const change = useCallback((row: CaseListItem) => setChanged((known) => new Map(known).set(row.case_id, row)), []);
  const remove = useCallback((id: string) => setGone((known) => new Set(known).add(id)), []);
  const restore = useCallback((row: CaseListItem) => {
    setGone((known) => new Set([...known].filter((each) => each !== row.case_id)));
    setChanged((known) => new Map(known).set(row.case_id, row));
  }, []);

  useReset(() => void reload());
  useNews({ rows, filter, onChange: change, onFresh: (id) => setFresh((known) => new Set(known).add(id)) });
  return { list, rows, fresh: fresh.size, reload, change, remove, restore };
}

// The stream lost its position, so nobody knows what the list missed. Read it again.
function useReset(onReset: () => void): void {
  const { live } = useWorkspace();
  const latest = useRef(onReset);
  useEffect(() => {
    latest.current = onReset;
  });
  useEffect(() => live.onReset(() => latest.current()), [live]);
}

type News = {
  rows: CaseListItem[];
  filter: QueueFilter;
  onChange: (row: CaseListItem) => void;
  onFresh: (caseId: string) => void;
};

function useNews(news: News): void {
  const { live, queries, session } = useWorkspace();
  const { user_id, role } = session.user;
  const cache = useQueryClient();
  const latest = useRef(news);
  useEffect(() => {
    latest.current = news;
  });
  useEffect(() => {
    const waiting = new Set<string>();
    // The last handover of each case that has had one since the list was opened.
    const handed = new Map<string, string>();
    let timer: ReturnType<typeof setTimeout> | undefined;

    async function look(caseId: string): Promise<void> {
      const found = await cache.fetchQuery({ ...queries.case(caseId), staleTime: 0 });
      const { rows, filter, onChange, onFresh } = latest.current;
      if (rows.some((row) => row.case_id === caseId)) onChange(toRow(found));
      else if (isWanted(withoutMet(filter, handed.get(caseId), [user_id, role]), found)) onFresh(caseId);
    }

    function flush(): void {
      timer = undefined;
      const ids = [...waiting];
      waiting.clear();
      const shown = new Set(latest.current.rows.map((row) => row.case_id));
      const own = ids.filter((id) => shown.has(id));
      const others = ids.filter((id) => !shown.has(id));
      for (const id of [...own, ...others.slice(0, readMax)]) look(id).catch(() => {});
      for (const id of others.slice(readMax)) latest.current.onFresh(id);
    }

    const stop = live.onEvent(({ type, resource, data }: LiveEvent) => {
      // A claim does not change the case. The digest shows it.
      if (resource.type !== "case" || versionlessEvents.some((each) => each === type)) return;
      if (typeof data?.["handed_to"] === "string") handed.set(resource.id, data["handed_to"]);
      waiting.add(resource.id);
      timer ??= setTimeout(flush, gatherMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [live, queries, cache, user_id, role]);
}

// Drops the filter for handovers if a handover that was just announced meets it.
function withoutMet(filter: QueueFilter, recipient: string | undefined, mine: string[]): QueueFilter {
  const { handed, ...rest } = filter;
  if (handed === undefined || recipient === undefined) return filter;
  return recipient === handed || (handed === "me" && mine.includes(recipient)) ? rest : filter;
}
