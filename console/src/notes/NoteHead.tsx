import type { Note } from "@casehound/client";
import { Actor } from "../parts/Actor.tsx";
import { Age } from "../parts/Time.tsx";

export function NoteHead({ note }: { note: Note }) {
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 text-xs text-faint">
      <Actor actor={note.created_by} /> <Age at={note.created_at} suffix=" ago" />
    </p>
  );
}
