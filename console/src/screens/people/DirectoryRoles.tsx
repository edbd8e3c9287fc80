import type { Provisioning } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert } from "../../parts/Field.tsx";
import { useTask } from "../../parts/task.ts";
import { toast } from "../../parts/Toasts.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { GroupRows, RoleSelect, type GroupRow } from "./GroupRows.tsx";

type Props = { settings: Provisioning; onClose: () => void };

// The role that each group of the directory gives.
export function DirectoryRoles({ settings, onClose }: Props) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const names = useId();
  const [rows, setRows] = useState<GroupRow[]>(() => settings.role_groups.map((each, id) => ({ id, ...each })));
  const [defaultRole, setDefaultRole] = useState(settings.default_role);
  const save = async () => {
    const role_groups = rows.map(({ group, role }) => ({ group: group.trim(), role }));
    await client.call("updateProvisioning", { body: { role_groups, default_role: defaultRole } });
    for (const key of ["provisioning", "users"]) void cache.invalidateQueries({ queryKey: [key] });
    toast({ kind: "done", words: "The roles by group were saved." });
    onClose();
  };
  return (
    <Dialog
      title="Roles by group"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="directory-roles" disabled={task.isBusy}>
            Save
          </Button>
        </>
      }
    >
      <form
        id="directory-roles"
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          task.run(save);
        }}
      >
        {task.problem !== null && <Alert>{task.problem}</Alert>}
        <p className="text-sm text-soft">
          {rows.length === 0
            ? "Until you add a group, people keep their role in Casehound."
            : "People get the role of the first group in this list that they belong to. Saving applies the list to everybody whom a directory manages, at once."}
        </p>
        <GroupRows rows={rows} onChange={setRows} suggestions={names} />
        <datalist id={names}>
          {settings.groups.map(({ display_name }) => (
            <option key={display_name} value={display_name} label={visible(display_name)} />
          ))}
        </datalist>
        <div className="flex flex-wrap items-center gap-2 text-sm">
          <span>New people, and people in none of these groups, get the role</span>
          <RoleSelect label="Role of everybody else" value={defaultRole} onChange={setDefaultRole} />
        </div>
      </form>
    </Dialog>
  );
}
