import { ArrowUp, RotateCw } from "lucide-react";
import { useCallback, useMemo, useRef, type RefObject } from "react";
import { BulkDialog } from "../../closing/BulkDialog.tsx";
import { useHandover } from "../../handing/useHandover.tsx";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Loading, Trouble, wordsOf } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { EmptyQueue } from "./EmptyQueue.tsx";
import { Peek } from "./Peek.tsx";
import { QueueTable } from "./QueueTable.tsx";
import { useFocus, useNeighbours } from "./focus.ts";
import { useQueueKeys } from "./queue-keys.ts";
import { useTakeNext } from "./round.ts";
import { useQueueRows } from "./rows.ts";
import { toCaseQuery, type QueueFilter } from "./search.ts";
import { useQueueWork } from "./work.ts";

type Props = { filter: QueueFilter; input: RefObject<HTMLInputElement | null> };

// One list for one filter. Its key makes another filter another list.
export function QueueList({ filter, input }: Props) {
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- The filter does not change.
  const query = useMemo(() => toCaseQuery(filter), []);
  const queue = useQueueRows(filter, query);
  const { list, rows, reload } = queue;
  const { focusedId, focus, move } = useFocus(rows);
  useNeighbours(rows, focusedId);
  const work = useQueueWork({ filter, queue, focusedId, focus, move });
  const { chosen, choose, chooseNone, unsaved, closing, open } = work;
  const handing = useHandover();
  const grid = useRef<HTMLDivElement>(null);
  useQueueKeys({
    found: rows.find((row) => row.case_id === focusedId),
    selected: chosen.size,
    onMove: move,
    onOpen: () => focusedId !== null && open(focusedId),
    onChoose: () => focusedId !== null && choose(focusedId),
    onLeave: chooseNone,
    onNextUnclaimed: useTakeNext({ filter, rows, focusedId, focus, open }),
    onFilter: () => input.current?.focus(),
    onClose: work.close,
    onHandOver: handing.open,
    onUndo: closing.undo,
  });
  const onEnd = useNextPage(list);
  if (list.isPending) return <Loading lines={14} name="Loading cases" />;
  if (list.isError && rows.length === 0) return <Trouble error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <div className="flex min-h-0 flex-1 max-lg:flex-col">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col bg-surface">
        {rows.length === 0 ? (
          <EmptyQueue isFiltered={Object.keys(filter).length > 0} />
        ) : (
          <QueueTable
            {...{ rows, focusedId, chosen, unsaved, grid, onEnd }}
            listed={filter.status === "closed" ? "CLOSED" : "OPEN"}
            hasMore={list.hasNextPage}
            onFocus={focus}
            onOpen={open}
            onChoose={choose}
            onChooseRange={work.chooseRange}
            onChooseAll={work.chooseAll}
          />
        )}
        <ReadOn list={list} />
        <Footer
          words={countWords(rows.length, list.hasNextPage)}
          fresh={queue.fresh}
          chosen={chosen.size}
          onReload={() => void reload()}
          onNone={chooseNone}
          onBulk={() => work.openBulk()}
        />
      </div>
      {focusedId !== null && (
        <Peek
          {...{ caseId: focusedId, selected: chosen.size, onReopen: closing.reopen }}
          onOpen={() => open(focusedId)}
          onClose={(seen) => closing.open(seen)}
          onHandOver={() => handing.open(focusedId)}
        />
      )}
      <Dialogs work={work} handing={handing} />
    </div>
  );
}

// A failed page is not requested again automatically. The person retries it.
function useNextPage(list: ReturnType<typeof useQueueRows>["list"]): () => void {
  return useCallback(() => {
    if (!list.isFetchingNextPage && !list.isFetchNextPageError) void list.fetchNextPage();
  }, [list]);
}

type DialogsProps = { work: ReturnType<typeof useQueueWork>; handing: ReturnType<typeof useHandover> };

function Dialogs({ work: { closing, bulk, takeOutcomes, endBulk }, handing }: DialogsProps) {
  return (
    <>
      {closing.element}
      {handing.element}
      {bulk && <BulkDialog {...bulk} onOutcomes={takeOutcomes} onClose={endBulk} />}
    </>
  );
}

function countWords(shown: number, hasMore: boolean): string {
  return hasMore ? `First ${shown} cases` : `${shown} ${shown === 1 ? "case" : "cases"}`;
}

// The rows stay. The message below them says that the list is incomplete or out of date.
function ReadOn({ list }: { list: ReturnType<typeof useQueueRows>["list"] }) {
  if (!list.isError) return null;
  const isNext = list.isFetchNextPageError;
  return (
    <p role="alert" className="flex items-center gap-3 border-t border-line bg-warn-soft px-3 py-1.5 text-xs text-warn">
      {isNext ? "The next cases could not be loaded" : "The list could not be reloaded"}: {wordsOf(list.error)}
      <Button
        className="h-6 px-2 text-xs"
        disabled={list.isFetching}
        onClick={() => void (isNext ? list.fetchNextPage() : list.refetch())}
      >
        Try again
      </Button>
    </p>
  );
}

type FooterProps = { words: string; fresh: number; chosen: number; onReload: () => void; onNone: () => void; onBulk: () => void };

// The number of new cases is next to the number of shown cases, because the tabs show the sum of both.
function Footer({ words, fresh, chosen, onReload, onNone, onBulk }: FooterProps) {
  const { may } = useWorkspace();
  return (
    <footer className="mt-auto flex min-h-11 shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-t border-line px-3 py-1 text-soft">
      <span role="status" className="whitespace-nowrap">
        {words}
        {chosen > 0 && `, ${chosen} selected`}
      </span>
      <NewPill count={fresh} onShow={onReload} />
      <IconButton name="Reload the list" onClick={onReload}>
        <RotateCw size={14} aria-hidden />
      </IconButton>
      <span className="flex-1" />
      {chosen > 0 && (
        <Button look="quiet" onClick={onNone}>
          Clear the selection
        </Button>
      )}
      {chosen > 0 && may("update:case") && (
        <Button look="primary" onClick={onBulk}>
          Close {chosen} selected
        </Button>
      )}
    </footer>
  );
}

// Not placed above the rows, because it would cover or move them.
function NewPill({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <span role="status">
      {count > 0 && (
        <button
          type="button"
          title="Show the cases that have arrived since the list was loaded"
          onClick={onShow}
          className="flex h-7 items-center gap-1.5 rounded-full bg-accent px-3 text-sm font-medium text-accent-ink"
        >
          <ArrowUp size={14} aria-hidden />
          {count} new
        </button>
      )}
    </span>
  );
}
