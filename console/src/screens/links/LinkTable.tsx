import { Globe, MonitorSmartphone } from "lucide-react";
import { Fragment, useEffect, type RefObject } from "react";
import type { LinkKind } from "../../data/link-queries.ts";
import { FlagMarks } from "../../parts/Badges.tsx";
import { Id } from "../../parts/Id.tsx";
import { Score } from "../../parts/Score.tsx";
import { Age } from "../../parts/Time.tsx";
import { visible } from "../../parts/visible.ts";
import { AccountLink } from "../account/AccountLink.tsx";
import { Trace } from "./Trace.tsx";
import { accountsWords, highestScore, isFlagged, kindWords, type LinkNode, type LinkRow } from "./rows.ts";

type Props = {
  rows: LinkRow[];
  focusedId: string | null;
  grid: RefObject<HTMLDivElement | null>;
  onFocus: (id: string) => void;
  onEnter: () => void;
};

// They depend on the width of the table and not of the window, because the pane takes up much of the window. A narrow table leaves
// out the number of open cases. On a phone it shows only what is shared, by how many, and the highest risk.
const columns =
  "grid grid-cols-[minmax(11rem,1.5fr)_4.5rem_6.5rem_5.5rem_minmax(0,1.4fr)_4.5rem_4.5rem] items-center gap-x-5 px-4 @max-[62rem]:grid-cols-[minmax(9rem,1.5fr)_3.75rem_6rem_minmax(0,1fr)_4rem_4rem] @max-[62rem]:gap-x-3 @max-[38rem]:grid-cols-[minmax(0,1fr)_3.75rem_6rem]";
const wideOnly = "@max-[62rem]:hidden";
const notOnPhone = "@max-[38rem]:hidden";
const namesMax = 4;

export function KindIcon({ kind, size = 14 }: { kind: LinkKind; size?: number }) {
  const Icon = kind === "device" ? MonitorSmartphone : Globe;
  return <Icon size={size} className="shrink-0 text-faint" role="img" aria-label={kindWords[kind].one} />;
}

export function LinkTableGrid({ rows, focusedId, grid, onFocus, onEnter }: Props) {
  useEffect(() => {
    if (focusedId !== null) document.getElementById(`link-${focusedId}`)?.scrollIntoView({ block: "nearest" });
  }, [focusedId]);
  const isRow = rows.some((row) => row.id === focusedId);
  return (
    <div
      ref={grid}
      role="grid"
      aria-label="What accounts share, most suspicious first"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={isRow ? `link-${focusedId}` : undefined}
      tabIndex={0}
      className="@container min-h-0 min-w-0 flex-1 overflow-y-auto bg-surface outline-offset-[-2px]"
    >
      <div
        role="row"
        aria-rowindex={1}
        className={`${columns} sticky top-0 z-10 h-8 border-b border-line bg-surface text-xs text-faint`}
      >
        <span role="columnheader">Device or address</span>
        <span role="columnheader" className="text-right">
          Accounts
        </span>
        <span role="columnheader">Highest risk</span>
        <span role="columnheader" className={wideOnly}>
          Open cases
        </span>
        <span role="columnheader" className={notOnPhone}>
          Shared by
        </span>
        <span role="columnheader" className={`text-right ${notOnPhone}`}>
          First seen
        </span>
        <span role="columnheader" className={`text-right ${notOnPhone}`}>
          Last seen
        </span>
      </div>
      {rows.map((row, index) => (
        <Row
          key={row.id}
          row={row}
          index={index}
          isFocused={row.id === focusedId}
          onFocus={() => onFocus(row.id)}
          onEnter={onEnter}
        />
      ))}
    </div>
  );
}

type RowProps = { row: LinkRow; index: number; isFocused: boolean; onFocus: () => void; onEnter: () => void };

function Row({ row, index, isFocused, onFocus, onEnter }: RowProps) {
  const open = row.known.filter((node) => node.open_case !== undefined).length;
  const score = highestScore(row.known);
  const look = isFocused ? "bg-chosen before:bg-accent" : "hover:bg-hover before:bg-transparent";
  return (
    <div
      role="row"
      id={`link-${row.id}`}
      aria-rowindex={index + 2}
      aria-selected={isFocused}
      data-focused={isFocused}
      onClick={onFocus}
      onDoubleClick={onEnter}
      className={`${columns} relative min-h-10 scroll-mt-8 py-1 border-b border-line before:absolute before:inset-y-0 before:left-0 before:w-[3px] ${look}`}
    >
      <span role="gridcell" className="flex min-w-0 items-center gap-2" title={visible(row.value)}>
        <KindIcon kind={row.kind} />
        <span className="grid min-w-0">
          <span className="truncate font-mono text-xs">
            <Id id={row.value} />
          </span>
          <span className="truncate leading-4">
            <Trace link={row} />
          </span>
        </span>
      </span>
      <span role="gridcell" className="text-right font-medium">
        {accountsWords(row.accounts)}
      </span>
      <span role="gridcell">{score === null ? <span className="text-faint">none open</span> : <Score score={score} />}</span>
      <span role="gridcell" className={wideOnly}>
        {open}
        {row.isPartial && open > 0 && <span className="text-soft"> or more</span>}
      </span>
      <span role="gridcell" className={`min-w-0 ${notOnPhone}`}>
        <Names row={row} />
      </span>
      <span role="gridcell" className={`text-right text-soft ${notOnPhone}`}>
        <Age at={row.first_seen} />
      </span>
      <span role="gridcell" className={`text-right text-soft ${notOnPhone}`}>
        <Age at={row.last_seen} />
      </span>
    </div>
  );
}

// The requested accounts come first, in the order the service returns them.
function Names({ row }: { row: LinkRow }) {
  const byValue = new Map(row.known.map((node): [string, LinkNode] => [node.value, node]));
  const names = row.website_account_ids.slice(0, namesMax);
  const more = row.accounts - names.length;
  const flagged = row.known.filter(isFlagged);
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <span className="truncate">
        {names.map((name, index) => (
          <Fragment key={name}>
            {index > 0 && ", "}
            <AccountLink
              id={name}
              look={`underline decoration-line underline-offset-2 ${byValue.get(name)?.is_origin === true ? "font-medium" : "text-soft"}`}
              isSkipped
            />
          </Fragment>
        ))}
        {more > 0 && <span className="text-faint">{` and ${row.accounts > 100 ? "many" : more} more`}</span>}
      </span>
      {flagged.length === 1 && flagged[0]?.flags && (
        <span className="flex shrink-0 gap-1">
          <FlagMarks flags={flagged[0].flags} />
        </span>
      )}
      {flagged.length > 1 && (
        <span className="shrink-0 rounded bg-bad-soft px-1.5 text-xs font-medium text-bad">{flagged.length} flagged</span>
      )}
    </span>
  );
}
