import type { User, UserLink } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { Field } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { roleMay, roleName, useRoles } from "./roles.ts";

type Props = { onClose: () => void; onInvited: (user: User, link: UserLink) => void };

export function InviteDialog({ onClose, onInvited }: Props) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const roles = useRoles();
  const run = async (typed: (name: string) => string) => {
    const body = { email: typed("email").trim(), name: typed("name").trim(), role: typed("role") };
    const { user, link } = await client.call("createUser", { body });
    void cache.invalidateQueries({ queryKey: ["users"] });
    onInvited(user, link);
  };
  return (
    <FormDialog title="Invite a person" act="Create the invitation" actBusy="Inviting…" onClose={onClose} run={run}>
      <Field name="email" type="email" label="E-mail" required maxLength={254} autoComplete="off" data-first-focus="" />
      <Field
        name="name"
        label="Name"
        required
        maxLength={100}
        autoComplete="off"
        hint="Shown next to the person's decisions. They can correct it when they join."
      />
      <fieldset className="grid gap-1">
        <legend className="mb-1 text-sm font-medium">Role</legend>
        {roles.map((role, index) => (
          <label key={role.role} className="flex items-start gap-2 rounded px-1 py-1 hover:bg-hover">
            <input type="radio" name="role" value={role.role} defaultChecked={index === 0} className="mt-0.5 accent-accent" />
            <span>
              <span className="block text-sm font-medium">{roleName(role.role)}</span>
              <span className="block text-xs text-soft">{roleMay(role)}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
