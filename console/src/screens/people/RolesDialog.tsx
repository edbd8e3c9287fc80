import type { TenantRole } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { ScopePicker } from "../../parts/ScopePicker.tsx";
import { useTask } from "../../parts/task.ts";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { offeredScopes, scopeWords } from "../developers/scopes.ts";
import { roleMay, roleName, useRoles } from "./roles.ts";

type Edited = { role: TenantRole | null };

// The roles that people can have. The built-in ones cannot be changed.
export function RolesDialog({ onClose }: { onClose: () => void }) {
  const roles = useRoles();
  const [edited, setEdited] = useState<Edited | null>(null);
  if (edited) return <RoleEditor role={edited.role} onClose={() => setEdited(null)} />;
  return (
    <Dialog
      title="Roles"
      onClose={onClose}
      footer={
        <Button look="primary" onClick={() => setEdited({ role: null })} data-first-focus="">
          New role
        </Button>
      }
    >
      <ul className="grid gap-2 text-sm">
        {roles.map((role) => (
          <li key={role.role} className="flex items-center gap-3 rounded-lg border border-line p-3">
            <div className="mr-auto min-w-0">
              <p className="font-medium">{roleName(role.role)}</p>
              <p className="text-xs text-soft">{roleMay(role)}</p>
            </div>
            {role.is_built_in ? (
              <span className="text-xs text-faint">Built-in</span>
            ) : (
              <Button aria-label={`Edit the role ${role.role}`} onClick={() => setEdited({ role })}>
                Edit
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

type OfferedScope = (typeof offeredScopes)[number];
type Wanted = { name: string; description: string; chosen: ReadonlySet<OfferedScope> };

function useRoleChanges(role: TenantRole | null, { task, onClose }: { task: ReturnType<typeof useTask>; onClose: () => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const done = (words: string) => {
    toast({ kind: "done", words });
    void cache.invalidateQueries({ queryKey: ["roles"] });
    onClose();
  };
  const save = ({ name, description, chosen }: Wanted) =>
    task.run(async () => {
      // A scope that this dialog does not offer stays as it is.
      const others = (role?.scopes ?? []).filter((scope) => !offeredScopes.some((each) => each === scope));
      const body = { description: description.trim(), scopes: [...chosen, ...others] as OfferedScope[] };
      if (role) await client.call("updateRole", { params: { role_name: role.role }, body });
      else await client.call("createRole", { body: { role: name.trim(), ...body } });
      done(role ? `The role ${role.role} was changed.` : `The role ${name.trim()} was created.`);
    });
  const remove = () =>
    task.run(async () => {
      if (!role) return;
      await client.call("deleteRole", { params: { role_name: role.role } });
      done(`The role ${role.role} was deleted.`);
    });
  return { save, remove };
}

// Nobody can give a scope that they do not have, so others are not offered.
function RoleEditor({ role, onClose }: { role: TenantRole | null; onClose: () => void }) {
  const { may } = useWorkspace();
  const [name, setName] = useState(role?.role ?? "");
  const [description, setDescription] = useState(role?.description ?? "");
  const [chosen, setChosen] = useState<ReadonlySet<OfferedScope>>(
    () => new Set(offeredScopes.filter((scope) => role?.scopes.includes(scope))),
  );
  const task = useTask();
  const { save, remove } = useRoleChanges(role, { task, onClose });
  return (
    <Dialog
      title={role ? `Role ${role.role}` : "New role"}
      width="wide"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          {role && (
            <Button look="danger" className="mr-auto" onClick={remove} disabled={task.isBusy}>
              Delete
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            onClick={() => save({ name, description, chosen })}
            disabled={task.isBusy || chosen.size === 0 || name.trim() === ""}
          >
            {role ? "Save" : "Create role"}
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <Field
          name="role"
          label="Name"
          value={name}
          onChange={({ target }) => setName(target.value)}
          readOnly={role !== null}
          maxLength={40}
          autoComplete="off"
          data-first-focus=""
          hint="Lower-case letters, digits and hyphens, such as night-shift."
        />
        <Field
          name="description"
          label="Description"
          value={description}
          onChange={({ target }) => setDescription(target.value)}
          maxLength={200}
          autoComplete="off"
        />
        {role && <p className="text-xs text-soft">A change applies from the next request of everybody who has this role.</p>}
        {task.problem !== null && <Alert>{task.problem}</Alert>}
        <ScopePicker
          offered={offeredScopes.filter(may)}
          words={scopeWords}
          chosen={chosen}
          onChange={setChosen}
          isBusy={task.isBusy}
        />
      </div>
    </Dialog>
  );
}
