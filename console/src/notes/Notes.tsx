import type { Case } from "@casehound/client";
import { useMemo, useRef, useState } from "react";
import { useKeys, type Binding } from "../keys/keys.ts";
import { Button, Kbd } from "../parts/Button.tsx";
import { wordsOf } from "../parts/States.tsx";
import { Section } from "../screens/case/Section.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { useAddNote } from "./add.ts";
import { NoteField } from "./NoteField.tsx";
import { NoteHead } from "./NoteHead.tsx";
import { NoteText } from "./NoteText.tsx";
import { useNotes } from "./notes.ts";
import { readNoteDraft, saveNoteDraft } from "./draft.ts";

// What people wrote about the case, newest first, and a field for a new note.
export function Notes({ found }: { found: Case }) {
  const { may } = useWorkspace();
  const { list, notes } = useNotes(found.case_id);
  const count = notes.length > 0 && `${notes.length}${list.hasNextPage ? "+" : ""}`;
  return (
    <Section title="Notes" aside={count}>
      {may("update:case") && <Composer caseId={found.case_id} />}
      {list.isError && (
        <p role="alert" className="mt-2 text-soft">
          The notes could not be loaded: {wordsOf(list.error)}{" "}
          <Button className="!h-6 !px-2 text-xs" onClick={() => void list.refetch()}>
            Try again
          </Button>
        </p>
      )}
      <ol aria-label="Notes" className="grid gap-3 pt-3 empty:hidden">
        {notes.map((note) => (
          <li key={note.note_id} className="border-t border-line pt-2">
            <NoteHead note={note} />
            <NoteText note={note} />
          </li>
        ))}
      </ol>
      {list.hasNextPage && (
        <Button className="no-print mt-3" disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>
          Show earlier notes
        </Button>
      )}
    </Section>
  );
}

function Composer({ caseId }: { caseId: string }) {
  const { add, isBusy } = useAddNote(caseId);
  const [text, setText] = useState(() => readNoteDraft(caseId));
  const field = useRef<HTMLTextAreaElement>(null);
  const write = (next: string) => {
    setText(next);
    saveNoteDraft(caseId, next);
  };
  useKeys(
    useMemo<Binding[]>(
      () => [{ key: "m", name: "Write a note", group: "The case in focus", run: () => field.current?.focus() }],
      [],
    ),
  );

  const send = async () => {
    if (await add(text)) write("");
  };
  return (
    <div className="no-print grid gap-2">
      <NoteField field={field} text={text} onText={write} onSend={() => void send()} />
      <div className="flex items-center justify-end gap-2">
        <span className="mr-auto flex items-center gap-1 text-xs text-faint">
          <Kbd>M</Kbd> writes, <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd> adds
        </span>
        <Button disabled={isBusy || text.trim() === ""} onClick={() => void send()}>
          {isBusy ? "Adding…" : "Add note"}
        </Button>
      </div>
    </div>
  );
}
