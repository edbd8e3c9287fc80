import type { Case } from "@casehound/client";
import { GitCompareArrows } from "lucide-react";
import { NoteHead } from "../notes/NoteHead.tsx";
import { NoteText } from "../notes/NoteText.tsx";
import { useNotes } from "../notes/notes.ts";
import { Actor } from "../parts/Actor.tsx";
import { Button } from "../parts/Button.tsx";
import { GuideLink } from "../parts/GuideLink.tsx";
import { ageWords } from "../parts/Time.tsx";
import { differenceOf } from "../changes/difference.ts";

// `failed` says what was not done, and `anyway` is the button that does it.
type Words = { failed: string; anyway: string };
type Props = { seen: Case; now: Case; words?: Words; onAnyway: () => void; onReview: () => void; isBusy: boolean };

const closeWords: Words = { failed: "The case was not closed.", anyway: "Close anyway" };

// Shown when the case changed while the person was deciding. Nothing was applied, and the draft is kept.
export function ConflictStrip({ seen, now, words = closeWords, onAnyway, onReview, isBusy }: Props) {
  const { versions, scores, changed_at, changed_by, evidence } = differenceOf(seen, now);
  const parts = [
    `version ${versions.from} to ${versions.to}`,
    ...(scores ? [`score ${scores.from} to ${scores.to}`] : []),
    ...(evidence.length > 0 ? [`new evidence: ${evidence.join("; ")}`] : []),
  ];
  const { notes } = useNotes(now.case_id);
  const unseen = notes.filter(({ case_version }) => case_version > seen.case_version);
  const [latest] = unseen;
  // A note changes the version, but not the state.
  const last =
    latest && latest.created_at > changed_at
      ? { at: latest.created_at, by: latest.created_by }
      : { at: changed_at, by: changed_by };
  return (
    <div role="alert" className="mb-4 rounded-lg border border-warn/40 bg-warn-soft p-3 text-sm">
      <p className="flex gap-2 text-warn">
        <GitCompareArrows size={16} className="mt-0.5 shrink-0" aria-hidden />
        <span className="[overflow-wrap:anywhere]">
          <strong className="font-semibold">Changed {ageWords(last.at)} ago</strong> by <Actor actor={last.by} />:{" "}
          {parts.join(", ")}. {words.failed}
        </span>
      </p>
      {unseen.length > 0 && (
        <ul aria-label="New notes" className="mt-2 grid max-h-40 gap-2 overflow-y-auto">
          {unseen.map((note) => (
            <li key={note.note_id} className="rounded bg-surface px-2.5 py-1.5">
              <NoteHead note={note} />
              <NoteText note={note} />
            </li>
          ))}
        </ul>
      )}
      <div className="mt-2.5 flex items-center justify-end gap-2">
        <GuideLink
          page="investigators#if-the-case-changed-while-you-decided"
          about="conflicting changes"
          className="mr-auto text-xs"
        />
        <Button onClick={onReview} disabled={isBusy}>
          Keep reviewing
        </Button>
        <Button look="primary" onClick={onAnyway} disabled={isBusy}>
          {words.anyway}
        </Button>
      </div>
    </div>
  );
}
