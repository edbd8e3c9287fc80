import { unknownAccount, type CaseListItem, type CaseSubject } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useRef, type RefObject } from "react";
import { ClaimMark } from "../../claiming/ClaimLine.tsx";
import { HandoverMark } from "../../handing/Handover.tsx";
import { NoteCount } from "../../notes/NoteCount.tsx";
import { FlagMarks, StatusBadge, actionWords } from "../../parts/Badges.tsx";
import { DueMark } from "../../parts/Due.tsx";
import { CaseLabel } from "../../parts/RandomCheck.tsx";
import { accountsIn, subjectCaseName, subjectName } from "../../parts/subject.ts";
import { Score } from "../../parts/Score.tsx";
import { Age } from "../../parts/Time.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { Closing } from "./Closing.tsx";
import { NewEvidence } from "./NewEvidence.tsx";

const rowHeight = 40;
const headerHeight = 32;
const overscan = 6;
// Digests are read in steps of this many rows, ahead of the visible ones.
const digestStep = 50;
// Select, score, label, account, summary, linked cases, recommendation, age. They depend on the width of the table and not of the
// window, because the pane and the sidebar take up much of the window. The summary must have more than 250 pixels at every width.
// So a narrow table shortens the labels, and then leaves out linked cases and the recommendation, which the pane shows too. On a
// phone, the summary is below the account and the age.
const columns =
  "grid grid-cols-[1.75rem_5.5rem_8.5rem_minmax(6.5rem,10.25rem)_minmax(0,1fr)_2.75rem_4.5rem_3.5rem] items-center gap-x-3 px-3 @max-5xl:grid-cols-[1.5rem_5.25rem_5.25rem_minmax(6rem,10.25rem)_minmax(0,1fr)_2.75rem_4.25rem_3.25rem] @max-5xl:gap-x-2.5 @max-[52rem]:grid-cols-[1.5rem_5.25rem_5.25rem_minmax(6rem,10.25rem)_minmax(0,1fr)_3.25rem] @max-[44rem]:grid-cols-[1.5rem_5.25rem_1.25rem_minmax(6rem,10.25rem)_minmax(0,1fr)_3.25rem] @max-[34rem]:grid-cols-[1.5rem_2.25rem_1.25rem_minmax(0,1fr)_3.25rem] @max-[34rem]:gap-y-0";
const bothLines = "@max-[34rem]:row-span-2";
const secondLine = "@max-[34rem]:col-span-2 @max-[34rem]:col-start-4 @max-[34rem]:row-start-2";
const endOfFirstLine = "@max-[34rem]:col-start-5 @max-[34rem]:row-start-1";
const onlyIfWide = "@max-[52rem]:hidden";

type Props = {
  rows: CaseListItem[];
  // The status that the list shows. A row whose status has changed since is marked.
  listed: CaseListItem["status"];
  focusedId: string | null;
  chosen: ReadonlyMap<string, number>;
  unsaved: ReadonlySet<string>;
  hasMore: boolean;
  grid: RefObject<HTMLDivElement | null>;
  onFocus: (caseId: string) => void;
  onOpen: (caseId: string) => void;
  onChoose: (caseId: string) => void;
  onChooseRange: (caseId: string) => void;
  onChooseAll: () => void;
  onEnd: () => void;
};

// Only visible rows are rendered. The grid holds the browser's focus and names the row that the keys act on.
export function QueueTable({ rows, listed, focusedId, chosen, unsaved, hasMore, grid, onChooseAll, onEnd, ...acts }: Props) {
  const { onFocus, onOpen, onChoose, onChooseRange } = acts;
  const at = rows.findIndex((row) => row.case_id === focusedId);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => grid.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.case_id ?? index,
    overscan,
    // The rows begin below the column names, which stay visible.
    scrollMargin: headerHeight,
    scrollPaddingStart: headerHeight,
  });
  const last = useRef(-1);
  useEffect(() => {
    // Scroll only when the focus has moved, because a growing list must not scroll.
    if (at >= 0 && at !== last.current) virtual.scrollToIndex(at, { align: "auto" });
    last.current = at;
  }, [at, virtual]);
  const items = virtual.getVirtualItems();
  const lastInSight = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && lastInSight >= rows.length - 20) onEnd();
  }, [hasMore, lastInSight, rows.length, onEnd]);
  useDigestsAhead(rows, items[0]?.index ?? 0, lastInSight);
  return (
    <div
      ref={grid}
      role="grid"
      tabIndex={0}
      aria-label="Cases"
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      aria-activedescendant={at >= 0 && focusedId !== null ? `row-${focusedId}` : undefined}
      aria-multiselectable
      className="@container min-h-0 flex-1 overflow-y-auto outline-offset-[-2px]"
    >
      <HeaderRow shown={rows.length} chosen={rows.filter((row) => chosen.has(row.case_id)).length} onChooseAll={onChooseAll} />
      <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          const id = row.case_id;
          return (
            <div
              key={item.key}
              className="absolute inset-x-0 top-0"
              role="presentation"
              style={{ transform: `translateY(${item.start - headerHeight}px)` }}
            >
              <Row
                row={row}
                listed={listed}
                index={item.index}
                isFocused={id === focusedId}
                isChosen={chosen.has(id)}
                isUnsaved={unsaved.has(id)}
                onFocus={onFocus}
                onOpen={onOpen}
                onChoose={onChoose}
                onChooseRange={onChooseRange}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function useDigestsAhead(rows: CaseListItem[], first: number, last: number): void {
  const { queries } = useWorkspace();
  const cache = useQueryClient();
  const from = Math.floor(first / digestStep) * digestStep;
  const to = Math.ceil((last + 1) / digestStep) * digestStep;
  useEffect(() => {
    for (const row of rows.slice(from, to)) void cache.prefetchQuery(queries.digest(row));
  }, [rows, from, to, queries, cache]);
}

const headings = [
  ["Risk", ""],
  ["Label", ""],
  ["Account", ""],
  ["What happened", "@max-[34rem]:sr-only"],
  ["Linked", `text-right ${onlyIfWide}`],
  ["Advice", onlyIfWide],
  ["Age", "text-right"],
] as const;

type HeaderProps = { shown: number; chosen: number; onChooseAll: () => void };

const HeaderRow = memo(function HeaderRow({ shown, chosen, onChooseAll }: HeaderProps) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className={`${columns} sticky top-0 z-10 h-8 border-b border-line bg-surface text-xs font-medium text-faint`}
    >
      <span role="columnheader" className="grid place-items-center">
        <input
          type="checkbox"
          aria-label={`Select all ${shown} shown`}
          className="size-4 accent-accent"
          ref={(box) => {
            if (box) box.indeterminate = chosen > 0 && chosen < shown;
          }}
          checked={chosen === shown}
          onChange={onChooseAll}
        />
      </span>
      {headings.map(([name, look]) => (
        <span key={name} role="columnheader" className={look}>
          <span className={name === "Label" ? "@max-[44rem]:sr-only" : ""}>{name}</span>
        </span>
      ))}
    </div>
  );
});

type RowProps = { row: CaseListItem; index: number; isFocused: boolean; isChosen: boolean; isUnsaved: boolean } & Pick<
  Props,
  "listed" | "onFocus" | "onOpen" | "onChoose" | "onChooseRange"
>;

const Row = memo(function Row({ row, listed, index, isFocused, isChosen, isUnsaved, onFocus, onOpen, ...choosing }: RowProps) {
  const { queries } = useWorkspace();
  const { data: digest, isError } = useQuery(queries.digest(row));
  const id = row.case_id;
  const isClosed = row.status === "CLOSED";
  const back = isFocused ? "bg-chosen" : isChosen ? "bg-accent-soft/50" : "hover:bg-hover";
  const bar = isFocused ? "before:bg-accent" : "before:bg-transparent";
  return (
    <div
      role="row"
      id={`row-${id}`}
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      data-focused={isFocused}
      onClick={() => onFocus(id)}
      onDoubleClick={() => onOpen(id)}
      className={`${columns} relative h-10 border-b border-line before:absolute before:inset-y-0 before:left-0 before:w-[3px] ${bar} ${back} ${isClosed ? "text-soft" : ""}`}
    >
      <span role="gridcell" className={`grid place-items-center ${bothLines}`}>
        <SelectBox row={row} subject={digest?.subject} isChosen={isChosen} {...choosing} />
      </span>
      <span role="gridcell" className={`flex items-center ${bothLines}`}>
        <Score score={row.overall_risk_score} isShort />
      </span>
      <span role="gridcell" className={`flex min-w-0 items-center overflow-hidden ${bothLines}`}>
        <CaseLabel row={row} isShort />
      </span>
      <span role="gridcell" className="flex min-w-0 items-center gap-1.5">
        <AccountName id={row.website_account_id} subject={digest?.subject} />
        <FlagMarks flags={digest ?? { is_blocked: row.end_user_is_blocked }} isTight />
        {digest?.claim && row.status === "OPEN" && <ClaimMark claim={digest.claim} />}
        {digest?.handover && <HandoverMark handover={digest.handover} />}
      </span>
      <span role="gridcell" className={`flex min-w-0 items-center gap-1.5 text-soft ${secondLine}`}>
        {row.status !== listed && <StatusBadge status={row.status} />}
        {isUnsaved && (
          <span className="shrink-0 rounded bg-warn-soft px-1.5 text-xs font-medium whitespace-nowrap text-warn">
            Not saved yet
          </span>
        )}
        <DueMark at={row.due_at} status={row.status} isShort />
        {digest?.has_new_evidence && <NewEvidence />}
        {digest?.notes !== undefined && <NoteCount count={digest.notes} />}
        <span className="line-clamp-2 text-xs leading-4 @max-[34rem]:line-clamp-1" title={visible(digest?.summary ?? "")}>
          {digest?.closed && <Closing closed={digest.closed} />}
          {digest?.members !== undefined && (
            <strong className="font-medium text-ink tabular-nums">{accountsIn(digest.members)} in all. </strong>
          )}
          {isError ? "The summary could not be loaded." : visible(digest?.summary ?? "")}
        </span>
      </span>
      <span role="gridcell" className={`text-right tabular-nums ${onlyIfWide} ${digest?.linked_cases ? "" : "text-faint"}`}>
        {digest && <LinkedCases caseId={id} count={digest.linked_cases} />}
      </span>
      <span role="gridcell" className={`truncate ${onlyIfWide}`}>
        {actionWords[row.recommended_action]}
      </span>
      <span role="gridcell" className={`text-right text-soft ${endOfFirstLine}`}>
        <Age at={row.created_at} />
      </span>
    </div>
  );
});

type SelectProps = Pick<RowProps, "row" | "isChosen" | "onChoose" | "onChooseRange"> & {
  subject: CaseSubject | undefined;
};

// With Shift, selects every row from the last one touched to this one.
function SelectBox({ row, subject, isChosen, onChoose, onChooseRange }: SelectProps) {
  return (
    <input
      type="checkbox"
      tabIndex={-1}
      aria-label={`Select ${subjectCaseName(row.website_account_id, subject)}`}
      className="size-4 accent-accent"
      checked={isChosen}
      // Otherwise the browser would select the text in between.
      onMouseDown={(event) => event.shiftKey && event.preventDefault()}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onChange={({ nativeEvent }) => {
        const isRange = nativeEvent instanceof MouseEvent && nativeEvent.shiftKey;
        (isRange ? onChooseRange : onChoose)(row.case_id);
      }}
    />
  );
}

function AccountName({ id, subject }: { id: string; subject: CaseSubject | undefined }) {
  const name = subjectName(id, subject);
  if (id === unknownAccount)
    return (
      <span className="truncate text-faint italic" title={name}>
        <bdi>{name}</bdi>
      </span>
    );
  return (
    <span className="truncate font-medium" title={name}>
      <bdi>{name}</bdi>
    </span>
  );
}

function LinkedCases({ caseId, count }: { caseId: string; count: number }) {
  if (count === 0) return "0";
  return (
    <Link
      to="/links"
      search={{ cases: caseId }}
      tabIndex={-1}
      className="underline decoration-line underline-offset-2 hover:decoration-current"
      onClick={(event) => event.stopPropagation()}
    >
      {count}
    </Link>
  );
}
