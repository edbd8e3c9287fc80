import type { ScoredActivity } from "@casehound/client";
import { ChevronRight } from "lucide-react";
import { useState, type ReactNode } from "react";
import { dayAndTime, timeOfDay } from "../parts/clock.ts";
import { EventRow } from "./EventRow.tsx";
import { inOrder, runsOf } from "./grouping.ts";
import type { Whose } from "./histories.ts";
import { countWords, typeWords } from "./words.ts";

type Props = { rows: readonly ScoredActivity[]; whose: Whose; chosen: string | undefined; hasDay?: boolean };

// Events in order. Events that repeat the one before are one line with a count.
export function Rows({ rows, whose, chosen, hasDay = false }: Props) {
  // Show the address once if all events of the session share it.
  const addresses = new Set(rows.map(({ ip }) => ip));
  const usualIp = !hasDay && addresses.size === 1 ? rows[0]?.ip : undefined;
  const rowOf = (activity: ScoredActivity) => (
    <EventRow
      key={activity.activity_id}
      activity={activity}
      hasAddress={activity.ip !== usualIp}
      whose={whose}
      isChosen={activity.activity_id === chosen}
      hasDay={hasDay}
    />
  );
  return (
    <ol className="grid">
      {runsOf(rows, whose.evidence).map((run) =>
        run.length === 1 ? (
          run.map(rowOf)
        ) : (
          <Run key={run[0]?.activity_id} run={run} hasDay={hasDay} isForced={run.some((each) => each.activity_id === chosen)}>
            {run.map(rowOf)}
          </Run>
        ),
      )}
    </ol>
  );
}

type RunProps = { run: ScoredActivity[]; hasDay: boolean; isForced: boolean; children: ReactNode };

// The list may be in either order of time.
function Run({ run, hasDay, isForced, children }: RunProps) {
  const [isPressed, setPressed] = useState(false);
  const isOpen = isPressed || isForced;
  const sorted = inOrder(run);
  const [first, last] = [sorted[0], sorted.at(-1)];
  const clock = hasDay ? dayAndTime : timeOfDay;
  if (!first || !last) return null;
  const addresses = new Set(run.flatMap(({ ip }) => ip ?? [])).size;
  return (
    <>
      <li className="border-l-[3px] border-l-transparent py-1 pr-4 pl-3">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setPressed(!isOpen)}
          className="flex flex-wrap items-baseline gap-x-3 text-left hover:underline"
        >
          <time dateTime={first.occurred_at} className="text-faint">
            {clock.format(new Date(first.occurred_at))}
          </time>
          <ChevronRight
            size={14}
            aria-hidden
            className={`no-print self-center text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <span className="font-medium">
            {typeWords(first.type)}, {run.length} times
          </span>
          <span className="text-xs text-soft">
            until {clock.format(new Date(last.occurred_at))}
            {addresses > 1 && `, from ${countWords(addresses, "address", "addresses")}`}
          </span>
        </button>
      </li>
      {isOpen && children}
    </>
  );
}
