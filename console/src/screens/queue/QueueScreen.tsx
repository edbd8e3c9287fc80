import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowUp, RotateCw } from "lucide-react";
import { useCallback, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Case, CaseListItem } from "@casehound/client";
import { BulkDialog } from "../../closing/BulkDialog.tsx";
import { useClosing } from "../../closing/useClosing.tsx";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import type { BulkOutcome } from "../../work/bulk.ts";
import type { Disposition } from "../../work/desk.ts";
import { EmptyQueue } from "./EmptyQueue.tsx";
import { FilterBar } from "./FilterBar.tsx";
import { Peek } from "./Peek.tsx";
import { QueueTable } from "./QueueTable.tsx";
import { ViewTabs } from "./ViewTabs.tsx";
import { useFocus } from "./focus.ts";
import { useQueueKeys } from "./queue-keys.ts";
import { useQueueRows } from "./rows.ts";
import { toCaseQuery, toRow, type QueueFilter } from "./search.ts";

export function QueueScreen() {
  const { case: _case, ...filter } = useSearch({ from: "/inside/" });
  const navigate = useNavigate({ from: "/" });
  const input = useRef<HTMLInputElement>(null);
  const setFilter = (next: QueueFilter) => void navigate({ search: next });
  return (
    <div className="flex h-full flex-col">
      <header className="flex items-center border-b border-line bg-surface">
        <h1 className="sr-only">Queue</h1>
        <ViewTabs filter={filter} onFilter={setFilter} />
        <span className="flex-1" />
        <LiveDot />
      </header>
      <FilterBar filter={filter} onFilter={setFilter} input={input} />
      <QueueList key={JSON.stringify(filter)} filter={filter} input={input} />
    </div>
  );
}

const liveWords = { live: "Live", connecting: "Connecting", lost: "Not live" };

function LiveDot() {
  const { live } = useWorkspace();
  const state = useSyncExternalStore(live.subscribe, live.state);
  const look = state === "live" ? "bg-good" : "border-2 border-faint";
  return (
    <span role="status" className="flex shrink-0 items-center gap-1.5 px-4 text-xs text-soft">
      <span className={`size-2 rounded-full ${look}`} aria-hidden />
      {liveWords[state]}
    </span>
  );
}

type ListProps = { filter: QueueFilter; input: React.RefObject<HTMLInputElement | null> };

function QueueList({ filter, input }: ListProps) {
  const { queries, may } = useWorkspace();
  const cache = useQueryClient();
  // The list's own time: a list that begins "24 h ago" must not begin anew with every minute.
  const [beganMs] = useState(() => Date.now());
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- Another filter is another list, by its key.
  const query = useMemo(() => toCaseQuery(filter, beganMs), [beganMs]);
  const { list, rows, fresh, reload, change, remove, restore } = useQueueRows(filter, query);
  const { focusedId, focus, move } = useFocus(rows);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [unsaved, setUnsaved] = useState<ReadonlySet<string>>(new Set());
  // Those that were selected when the dialog opened: its results must not go with the selection.
  const [bulk, setBulk] = useState<CaseListItem[] | null>(null);
  const grid = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const open = useCallback(
    async (caseId: string) => {
      // So that the way back leads to the same row.
      await navigate({ to: "/", search: (search) => ({ ...search, case: caseId }), replace: true });
      await navigate({ to: "/cases/$caseId", params: { caseId } });
    },
    [navigate],
  );
  const openSoon = useCallback((caseId: string) => void open(caseId), [open]);
  const choose = useCallback((id: string) => setChosen((known) => toggled(known, id)), []);

  // A closed case leaves a list of open ones; the focus has gone on to the next before.
  const settle = (found: Case) => {
    if (focusedId === found.case_id) move(1);
    setChosen((known) => without(known, found.case_id));
    if ((filter.status ?? "open") === "open") remove(found.case_id);
    else change(toRow(found));
  };
  const closing = useClosing({
    onClosed: settle,
    onReopened: (found) => {
      restore(toRow(found));
      focus(found.case_id);
    },
    onUnsaved: (id, isOver) => {
      setUnsaved((known) => (isOver ? without(known, id) : new Set(known).add(id)));
      if (!isOver && focusedId === id) move(1);
    },
  });
  const openBulk = () => setBulk(rows.filter((row) => chosen.has(row.case_id)));
  // A key may be quicker than the peek pane: then the dialog waits for the case, and the key is not lost.
  const openClosing = async (caseId: string, first?: Disposition) => {
    const seen = await cache.ensureQueryData(queries.case(caseId)).catch(() => null);
    if (seen) closing.open(seen, first);
    else toast({ kind: "problem", words: "The case could not be read." });
  };
  const close = (first?: Disposition) => {
    if (chosen.size > 0 && first === undefined) openBulk();
    else if (focusedId !== null) void openClosing(focusedId, first);
  };
  useQueueKeys({
    found: rows.find((row) => row.case_id === focusedId),
    hasChosen: chosen.size > 0,
    onMove: move,
    onOpen: () => focusedId !== null && void open(focusedId),
    onChoose: () => focusedId !== null && choose(focusedId),
    onLeave: () => setChosen(new Set()),
    onFilter: () => input.current?.focus(),
    onClose: close,
    onUndo: closing.undo,
  });
  const onEnd = useCallback(() => {
    if (!list.isFetchingNextPage) void list.fetchNextPage();
  }, [list]);

  function takeOutcomes(outcomes: ReadonlyMap<string, BulkOutcome>): void {
    for (const [id, { kind }] of outcomes) {
      if (kind === "closed" || kind === "already-closed" || kind === "absent") remove(id);
    }
    setChosen(new Set([...outcomes].filter(([, { kind }]) => kind === "changed" || kind === "failed").map(([id]) => id)));
  }

  if (list.isPending) return <Loading lines={14} name="Loading cases" />;
  if (list.isError && rows.length === 0) return <Trouble error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <div className="flex min-h-0 flex-1">
      <div className="relative flex min-w-0 flex-1 flex-col bg-surface">
        <NewPill count={fresh} onShow={() => void reload()} />
        {rows.length === 0 ? (
          <EmptyQueue isFiltered={Object.keys(filter).length > 0} />
        ) : (
          <QueueTable
            {...{ rows, focusedId, chosen, unsaved, grid, onEnd }}
            hasMore={list.hasNextPage}
            onFocus={focus}
            onOpen={openSoon}
            onChoose={choose}
          />
        )}
        <footer className="flex h-11 items-center gap-2 border-t border-line px-3 text-soft">
          <span role="status">
            {rows.length}
            {list.hasNextPage ? "+" : ""} {rows.length === 1 ? "case" : "cases"}
            {chosen.size > 0 && `, ${chosen.size} selected`}
          </span>
          <IconButton name="Read the list again" onClick={() => void reload()}>
            <RotateCw size={14} aria-hidden />
          </IconButton>
          <span className="flex-1" />
          {chosen.size > 0 && (
            <>
              <Button look="quiet" onClick={() => setChosen(new Set())}>
                Select none
              </Button>
              {may("update:case") && (
                <Button look="primary" onClick={openBulk}>
                  Close {chosen.size} selected
                </Button>
              )}
            </>
          )}
        </footer>
      </div>
      {focusedId !== null && (
        <Peek caseId={focusedId} onOpen={() => openSoon(focusedId)} onClose={(seen) => closing.open(seen)} />
      )}
      {closing.element}
      {bulk && <BulkDialog rows={bulk} onOutcomes={takeOutcomes} onClose={() => setBulk(null)} />}
    </div>
  );
}

function NewPill({ count, onShow }: { count: number; onShow: () => void }) {
  if (count === 0) return null;
  return (
    <div className="absolute inset-x-0 top-10 z-20 flex justify-center" role="status">
      <button
        type="button"
        onClick={onShow}
        className="flex h-8 items-center gap-1.5 rounded-full bg-accent px-3.5 text-sm font-medium text-accent-ink shadow-float"
      >
        <ArrowUp size={14} aria-hidden />
        {count} new
      </button>
    </div>
  );
}

function toggled(known: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return known.has(id) ? without(known, id) : new Set(known).add(id);
}

function without(known: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return new Set([...known].filter((each) => each !== id));
}
