import type { Note, ScoredActivity } from "@casehound/client";
import { Fragment, useEffect, useState } from "react";
import { MessageSquare } from "lucide-react";
import { NoteText } from "../notes/NoteText.tsx";
import { NoteHead } from "../notes/NoteHead.tsx";
import { Button } from "../parts/Button.tsx";
import { eventElementId } from "./EventRow.tsx";
import { SessionGroup } from "./SessionGroup.tsx";
import { isOccurrence, type Group } from "./grouping.ts";
import type { Whose } from "./histories.ts";
import { countWords } from "./words.ts";

const openAtFirst = 3;
const shownAtFirst = 20;
// How many sessions to show before the first open one, so the evidence is not below a month of quiet days.
const quietBefore = 2;

type Props = {
  groups: readonly Group[];
  whose: Whose;
  // The event in the address.
  chosen: string | undefined;
  onRead?: (groupId: string, activities: ScoredActivity[]) => void;
  // What people wrote, in chronological order.
  notes?: readonly Note[];
  // Keeps all sessions closed until a person opens one.
  isQuiet?: boolean;
};

// Sessions in chronological order. The session with the strongest evidence and the latest ones with evidence are open; the others
// open on a click. A session with evidence is always shown, and shows its evidence even if it is not open.
export function Timeline({ groups, whose, chosen, onRead, notes = [], isQuiet = false }: Props) {
  const [pressed, setPressed] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [isWhole, setWhole] = useState(false);
  const telling = groups.filter(({ own }) => own.some((each) => isOccurrence(each, whose.evidence)));
  const strongest = telling.find(({ own }) => own.some(({ prediction_id }) => prediction_id === whose.evidence?.strongest));
  const latest = (telling.length > 0 ? telling : groups).slice(-openAtFirst);
  const first = new Set([...(strongest ? [strongest] : []), ...latest].map(({ id }) => id));
  const home = groups.find(({ own }) => own.some((each) => each.activity_id === chosen));
  const homeId = home?.id;
  const firstOpen = groups.findIndex(({ id }) => first.has(id));
  const begin = Math.max(0, groups.length - shownAtFirst, isQuiet ? 0 : firstOpen - quietBefore);
  const isHidden = home !== undefined && groups.indexOf(home) < begin;
  const isTelling = (group: Group) => !isQuiet && telling.includes(group);
  const shown = isWhole || isHidden ? groups : groups.filter((group, index) => index >= begin || isTelling(group));
  const left = groups.length - shown.length;
  const isOpen = (id: string) => pressed.get(id) ?? (id === homeId || (!isQuiet && first.has(id)));
  const isHomeOpen = homeId !== undefined && isOpen(homeId);
  useShown(chosen, isHomeOpen);
  // A note comes after the sessions that had begun when it was written.
  const between = (before: Group | undefined, after: Group | undefined) =>
    notes.filter(({ created_at: at }) => (!before || at >= before.startedAt) && (!after || at < after.startedAt));
  return (
    <>
      {left > 0 && (
        <div className="border-b border-line px-4 py-2">
          <Button className="no-print" onClick={() => setWhole(true)}>
            Show {countWords(left, "earlier session")}
          </Button>
          <p className="hidden print:block">
            {countWords(left, "earlier session")} {left === 1 ? "is" : "are"} not printed.
          </p>
        </div>
      )}
      <ol>
        {shown.map((group, index) => (
          <Fragment key={group.id}>
            {index > 0 && <NoteRows notes={between(shown[index - 1], group)} />}
            <SessionGroup
              group={group}
              whose={whose}
              isOpen={isOpen(group.id)}
              hasEvidence={isTelling(group)}
              onToggle={() => setPressed((known) => new Map(known).set(group.id, !isOpen(group.id)))}
              chosen={chosen}
              {...(onRead && { onRead })}
            />
          </Fragment>
        ))}
        <NoteRows notes={between(shown.at(-1), undefined)} />
      </ol>
    </>
  );
}

function NoteRows({ notes }: { notes: readonly Note[] }) {
  return notes.map((note) => (
    <li key={note.note_id} className="flex gap-2 border-t border-line bg-sunken/50 px-4 py-2">
      <MessageSquare size={15} aria-label="Note" className="mt-0.5 shrink-0 text-faint" />
      <div className="min-w-0">
        <NoteHead note={note} />
        <NoteText note={note} />
      </div>
    </li>
  ));
}

// Scrolls to the chosen event as soon as it is rendered.
export function useShown(chosen: string | undefined, isThere: boolean): void {
  useEffect(() => {
    if (chosen === undefined || !isThere) return undefined;
    // Its session may still be loading.
    let tries = 0;
    const look = () => {
      const row = document.getElementById(eventElementId(chosen));
      row?.scrollIntoView({ block: "center" });
      row?.focus({ preventScroll: true });
      if (!row && ++tries < 50) timer = setTimeout(look, 100);
    };
    let timer = setTimeout(look);
    return () => clearTimeout(timer);
  }, [chosen, isThere]);
}
