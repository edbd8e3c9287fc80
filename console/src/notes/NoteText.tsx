import type { Note } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../session/workspace.tsx";
import { partsOf } from "./mentions.ts";

// A note as it was written. Mentions show the person's name.
export function NoteText({ note }: { note: Pick<Note, "text"> }) {
  const { queries } = useWorkspace();
  const colleagues = useQuery(queries.colleagues()).data ?? [];
  return (
    <p dir="auto" className="[overflow-wrap:anywhere] whitespace-pre-wrap">
      {partsOf(note.text, colleagues).map(({ text, colleague }, index) =>
        colleague ? (
          <span key={index} title={colleague.email} className="rounded bg-accent-soft px-1 font-medium text-accent">
            @{colleague.name}
          </span>
        ) : (
          text
        ),
      )}
    </p>
  );
}
