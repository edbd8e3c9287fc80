import type { View } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { ArrowDown, ArrowUp, Pencil, Trash2 } from "lucide-react";
import { useState, type ReactNode } from "react";
import { IconButton, Kbd } from "../parts/Button.tsx";
import { Dialog } from "../parts/Dialog.tsx";
import { Alert } from "../parts/Field.tsx";
import { SureDialog } from "../parts/SureDialog.tsx";
import { useTask } from "../parts/task.ts";
import { visible } from "../parts/visible.ts";
import { useWorkspace } from "../session/workspace.tsx";
import { ViewBell } from "./ViewBell.tsx";
import { useViews } from "./views.ts";

type Props = { onEdit: (view: View) => void; onClose: () => void };

// The person's views in their order, and those that others share.
export function ManageDialog({ onEdit, onClose }: Props) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const views = useViews();
  const [doomed, setDoomed] = useState<View | null>(null);
  const own = views.filter(({ is_own: isOwn }) => isOwn);
  const shared = views.filter(({ is_own: isOwn }) => !isOwn);

  const move = (view: View, position: number) =>
    task.run(async () => {
      const { view_id, view_version } = view;
      await client.call("updateView", { params: { view_id }, body: { view_version, position } });
      await cache.invalidateQueries({ queryKey: ["views", "list"] });
    });
  const remove = async () => {
    if (doomed) await client.call("deleteView", { params: { view_id: doomed.view_id } });
    await cache.invalidateQueries({ queryKey: ["views"] });
    setDoomed(null);
  };
  const acts = { onEdit, onDelete: setDoomed };

  return (
    <Dialog title="Views" onClose={onClose} width="medium" isBusy={task.isBusy}>
      {views.length === 0 && (
        <p className="text-sm text-soft">
          No saved views yet. Filter and sort the queue, then press <Kbd>V</Kbd> to save what you see under a name.
        </p>
      )}
      {own.length > 0 && <Heading>Your views</Heading>}
      <ul>
        {own.map((view, at) => (
          <Row key={view.view_id} view={view} {...acts}>
            <IconButton name={`Move ${visible(view.name)} up`} disabled={at === 0} onClick={() => move(view, at - 1)}>
              <ArrowUp size={14} aria-hidden />
            </IconButton>
            <IconButton
              name={`Move ${visible(view.name)} down`}
              disabled={at === own.length - 1}
              onClick={() => move(view, at + 1)}
            >
              <ArrowDown size={14} aria-hidden />
            </IconButton>
          </Row>
        ))}
      </ul>
      {shared.length > 0 && <Heading>Shared by others</Heading>}
      <ul>
        {shared.map((view) => (
          <Row key={view.view_id} view={view} {...(may("manage:views") && acts)} />
        ))}
      </ul>
      {task.problem !== null && <Alert>{task.problem}</Alert>}
      {doomed && (
        <SureDialog title={`Delete ${visible(doomed.name)}?`} act="Delete" isHarsh onClose={() => setDoomed(null)} run={remove}>
          <p>{doomed.is_shared ? "Your colleagues lose this view too. " : ""}Cases do not change.</p>
        </SureDialog>
      )}
    </Dialog>
  );
}

function Heading({ children }: { children: string }) {
  return <h3 className="mt-4 mb-1 text-xs font-semibold text-faint first:mt-0">{children}</h3>;
}

type RowProps = {
  view: View;
  onEdit?: (view: View) => void;
  onDelete?: (view: View) => void;
  children?: ReactNode;
};

function Row({ view, onEdit, onDelete, children }: RowProps) {
  const name = visible(view.name);
  const about = view.is_own ? (view.is_shared ? "Shared" : "") : visible(view.owner);
  return (
    <li className="flex min-h-10 items-center gap-1 border-b border-line last:border-0">
      <span className="min-w-0 flex-1 truncate" title={name}>
        {name}
        {about !== "" && <span className="ml-2 text-xs text-faint">{about}</span>}
      </span>
      {view.key !== undefined && <Kbd>G {view.key}</Kbd>}
      <ViewBell view={view} />
      {children}
      {onEdit && (
        <IconButton name={`Edit ${name}`} onClick={() => onEdit(view)}>
          <Pencil size={14} aria-hidden />
        </IconButton>
      )}
      {onDelete && (
        <IconButton name={`Delete ${name}`} onClick={() => onDelete(view)}>
          <Trash2 size={14} aria-hidden />
        </IconButton>
      )}
    </li>
  );
}
