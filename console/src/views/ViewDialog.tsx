import { viewNameCharactersMax, type View } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { Field, inputLook } from "../parts/Field.tsx";
import { FormDialog } from "../parts/FormDialog.tsx";
import { toast } from "../parts/Toasts.tsx";
import { visible } from "../parts/visible.ts";
import type { QueueFilter } from "../screens/queue/search.ts";
import { useWorkspace } from "../session/workspace.tsx";
import { contentsOf, isShowing, useViews } from "./views.ts";

type Props = { view: View | null; filter: QueueFilter; onClose: () => void };

// Saves the queue as it is filtered now under a name, or changes a view.
export function ViewDialog({ view, filter, onClose }: Props) {
  const { client, session } = useWorkspace();
  const cache = useQueryClient();
  const differs = view !== null && !isShowing(view, filter);

  async function save(typed: (name: string) => string): Promise<void> {
    const name = typed("name").trim();
    const is_shared = typed("shared") === "on";
    const key = Number(typed("key"));
    if (view === null)
      await client.call("createView", { body: { name, is_shared, ...(key > 0 && { key }), ...contentsOf(filter) } });
    else {
      const contents = typed("contents") === "on" ? contentsOf(filter) : {};
      const body = { view_version: view.view_version, name, is_shared, key: key > 0 ? key : null, ...contents };
      await client.call("updateView", { params: { view_id: view.view_id }, body });
    }
    await cache.invalidateQueries({ queryKey: ["views"] });
    onClose();
    toast({ kind: "done", words: `The view ${visible(name)} was saved.` });
  }

  return (
    <FormDialog
      title={view === null ? "Save as a view" : `Edit ${visible(view.name)}`}
      width="small"
      act="Save"
      actBusy="Saving…"
      onClose={onClose}
      refuse={(typed) => (typed("name").trim() === "" ? "Enter a name." : null)}
      run={save}
    >
      <Field name="name" label="Name" defaultValue={view?.name ?? ""} maxLength={viewNameCharactersMax} data-first-focus="" />
      <KeyChoice view={view} />
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" name="shared" defaultChecked={view?.is_shared ?? false} className="size-4 accent-accent" />
        Share with everyone in {session.tenant.slug}
      </label>
      {differs && (
        <label className="flex items-center gap-2 text-sm">
          <input type="checkbox" name="contents" className="size-4 accent-accent" />
          Replace its filters and sort order with the queue’s current ones
        </label>
      )}
    </FormDialog>
  );
}

const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9];

// Keys must be free among the views of the same owner.
function KeyChoice({ view }: { view: View | null }) {
  const views = useViews();
  const owner = view?.owner ?? views.find(({ is_own: isOwn }) => isOwn)?.owner;
  const taken = new Map(
    views.flatMap((each) => (each.key === undefined || each.owner !== owner ? [] : [[each.key, each] as const])),
  );
  return (
    <label className="grid gap-1 text-sm font-medium">
      Shortcut
      <select name="key" defaultValue={view?.key ?? 0} className={`${inputLook} font-normal`}>
        <option value={0}>None</option>
        {digits.map((digit) => {
          const other = taken.get(digit);
          const isTaken = other !== undefined && other.view_id !== view?.view_id;
          return (
            <option key={digit} value={digit} disabled={isTaken}>
              G, then {digit}
              {isTaken && ` (${visible(other.name)})`}
            </option>
          );
        })}
      </select>
    </label>
  );
}
