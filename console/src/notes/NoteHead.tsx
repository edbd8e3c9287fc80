import type { Note } from "@casehound/client";
import { useRecipientName } from "../handing/recipients.ts";
import { Actor } from "../parts/Actor.tsx";
import { Age } from "../parts/Time.tsx";

export function NoteHead({ note }: { note: Note }) {
  const nameOf = useRecipientName();
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 text-xs text-faint">
      <Actor actor={note.created_by} />{" "}
      {note.handed_to !== undefined && <span className="text-soft">handed over to {nameOf(note.handed_to)}</span>}{" "}
      <Age at={note.created_at} suffix=" ago" />
    </p>
  );
}
