import { ArrowUp, Pencil, Plus, Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Button, IconButton } from "../../parts/Button.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { visible } from "../../parts/visible.ts";

type Entry = { name: string };
type Editing<T> = { entry: T | null; isDelete: boolean };

type Props<T> = {
  name: string;
  entries: readonly T[];
  // Absent if the person may not change them.
  save: ((entries: T[]) => Promise<void>) | undefined;
  add: string;
  onDeleted: string;
  show: (entry: T) => ReactNode;
  dialog: (entry: T | null, onClose: () => void) => ReactNode;
};

// An ordered list of named entries that admins add to, edit, move and delete.
export function EntryList<T extends Entry>({ name, entries, save, add, onDeleted, show, dialog }: Props<T>) {
  const [editing, setEditing] = useState<Editing<T> | null>(null);
  const close = () => setEditing(null);
  const moveUp = async (at: number) => {
    const moved = [
      ...entries.slice(0, at - 1),
      ...entries.slice(at, at + 1),
      ...entries.slice(at - 1, at),
      ...entries.slice(at + 1),
    ];
    try {
      await save?.(moved);
    } catch (error) {
      toast({ kind: "problem", words: wordsOf(error) });
    }
  };
  const deleted = editing?.isDelete ? editing.entry : null;
  return (
    <>
      <ul aria-label={name} className="divide-y divide-line">
        {entries.map((each, at) => (
          <li key={each.name} className="flex flex-wrap items-start gap-x-4 gap-y-1 py-2.5">
            {show(each)}
            {save && (
              <div className="flex gap-1">
                <IconButton name={`Move ${each.name} up`} disabled={at === 0} onClick={() => void moveUp(at)}>
                  <ArrowUp size={15} aria-hidden />
                </IconButton>
                <IconButton name={`Edit ${each.name}`} onClick={() => setEditing({ entry: each, isDelete: false })}>
                  <Pencil size={15} aria-hidden />
                </IconButton>
                <IconButton name={`Delete ${each.name}`} onClick={() => setEditing({ entry: each, isDelete: true })}>
                  <Trash2 size={15} aria-hidden />
                </IconButton>
              </div>
            )}
          </li>
        ))}
      </ul>
      {save && (
        <Button className="mt-4" onClick={() => setEditing({ entry: null, isDelete: false })}>
          <Plus size={15} aria-hidden /> {add}
        </Button>
      )}
      {editing && !editing.isDelete && dialog(editing.entry, close)}
      {deleted && save && (
        <SureDialog
          title={`Delete “${visible(deleted.name)}”?`}
          act="Delete"
          isHarsh
          onClose={close}
          run={async () => {
            await save(entries.filter((each) => each.name !== deleted.name));
            close();
          }}
        >
          <p>{onDeleted}</p>
        </SureDialog>
      )}
    </>
  );
}

// Replaces the entry of this name. If a colleague has deleted it meanwhile, it is added again.
export function withEntry<T extends Entry>(entries: readonly T[], name: string | undefined, next: T): T[] {
  const isKnown = entries.some((each) => each.name === name);
  return isKnown ? entries.map((each) => (each.name === name ? next : each)) : [...entries, next];
}
