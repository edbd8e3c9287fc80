import type { User } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useId } from "react";
import { IconButton } from "../../parts/Button.tsx";
import { Menu } from "../../parts/Menu.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { roleMay, roleName, useRoles } from "./roles.ts";

export type Ask = "link" | "sessions" | "factor" | "disable" | "rename";
type Props = { users: User[]; onAsk: (kind: Ask, user: User) => void };

export function PeopleTable({ users, onAsk }: Props) {
  const { may } = useWorkspace();
  const hint = useId();
  const roles = useRoles();
  return (
    <div className="relative overflow-x-auto rounded-lg border border-line bg-surface">
      <table className="w-full min-w-[56rem] table-fixed text-left text-sm">
        <caption className="sr-only">The people of this tenant, sorted by e-mail</caption>
        <thead className="border-b border-line text-xs text-faint">
          <tr>
            <th className="py-2 pr-3 pl-4 font-medium">Name</th>
            <th className="w-40 py-2 pr-3 font-medium">Role</th>
            <th className="w-28 py-2 pr-3 font-medium">State</th>
            <th className="w-44 py-2 pr-3 font-medium">Signs in with</th>
            <th className="w-32 py-2 pr-3 font-medium">Last sign-in</th>
            <th className="w-28 py-2 pr-3 font-medium">Since</th>
            <th className="w-12 py-2 pr-2">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <Row key={user.user_id} user={user} mayManage={may("manage:users")} onAsk={onAsk} />
          ))}
        </tbody>
      </table>
      <dl id={hint} className="grid gap-0.5 border-t border-line px-4 py-3 text-xs text-soft">
        {roles.map((role) => (
          <div key={role.role} className="flex gap-2">
            <dt className="w-28 shrink-0 truncate font-medium text-ink">{roleName(role.role)}</dt>
            <dd>{roleMay(role)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function stateOf({ is_disabled, is_provisioned, has_password, has_external_sign_in }: User): { words: string; look: string } {
  if (is_disabled) return { words: "Disabled", look: "bg-bad-soft text-bad" };
  if (!has_password && !has_external_sign_in && is_provisioned)
    return { words: "Not signed in yet", look: "bg-warn-soft text-warn" };
  if (!has_password && !has_external_sign_in) return { words: "Invited", look: "bg-warn-soft text-warn" };
  return { words: "Active", look: "bg-good-soft text-good" };
}

function waysOf({ has_password, has_external_sign_in, has_second_factor }: User): string {
  const password = has_second_factor ? "Password, two-factor" : "Password";
  return [has_password && password, has_external_sign_in && "Identity provider"].filter(Boolean).join(", ") || "Nothing yet";
}

type RowProps = { user: User; mayManage: boolean; onAsk: Props["onAsk"] };

function Row({ user, mayManage, onAsk }: RowProps) {
  const { session } = useWorkspace();
  const { words, look } = stateOf(user);
  const isSelf = user.user_id === session.user.user_id;
  return (
    <tr className="border-b border-line last:border-0">
      <td className="py-2 pr-3 pl-4">
        <div className="flex items-center gap-2">
          <span className="truncate font-medium" title={user.name}>
            {user.name}
          </span>
          {user.is_provisioned && (
            <span className="rounded bg-sunken px-1.5 text-xs text-soft" title="A directory manages this person (SCIM).">
              provisioned
            </span>
          )}
          {isSelf && <span className="rounded bg-accent-soft px-1.5 text-xs text-accent">you</span>}
        </div>
        <div className="truncate text-xs text-faint" title={user.email}>
          {user.email}
        </div>
      </td>
      <td className="py-2 pr-3">{mayManage ? <RoleSelect user={user} /> : roleName(user.role)}</td>
      <td className="py-2 pr-3">
        <span className={`rounded px-1.5 py-px text-xs font-semibold ${look}`}>{words}</span>
      </td>
      <td className="py-2 pr-3 text-soft">{waysOf(user)}</td>
      <td className="py-2 pr-3 text-soft">
        {user.last_sign_in_at === undefined ? "Never" : <Age at={user.last_sign_in_at} suffix=" ago" />}
      </td>
      <td className="py-2 pr-3 text-soft">
        <Age at={user.created_at} suffix=" ago" />
      </td>
      <td className="py-2 pr-2">{mayManage && <Actions user={user} onAsk={onAsk} />}</td>
    </tr>
  );
}

// Acts at once and can be undone, because a role applies from the person's next request.
function RoleSelect({ user }: { user: User }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const roles = useRoles();
  const choose = async (role: string) => {
    try {
      await client.call("updateUser", { params: { user_id: user.user_id }, body: { role } });
      const words = `${user.name} is now ${roleName(role).toLowerCase()}.`;
      const action = { name: "Undo", run: () => void choose(user.role) };
      toast({ kind: "done", words, ...(role !== user.role && { action }) });
    } catch (error) {
      toast({ kind: "problem", words: `${user.name} was not changed. ${wordsOf(error)}` });
    }
    await cache.invalidateQueries({ queryKey: ["users"] });
  };
  return (
    <select
      aria-label={`Role of ${user.name}`}
      className="h-8 w-full rounded-md border border-edge/50 bg-surface px-2 text-sm"
      value={user.role}
      disabled={user.is_disabled}
      onChange={({ target: { value } }) => void choose(value)}
    >
      {namesOf(roles, user.role).map((role) => (
        <option key={role} value={role}>
          {roleName(role)}
        </option>
      ))}
    </select>
  );
}

// The person's own role is there even while the roles are loading.
function namesOf(roles: { role: string }[], own: string): string[] {
  return [...new Set([...roles.map(({ role }) => role), own])];
}

function Actions({ user, onAsk }: { user: User; onAsk: Props["onAsk"] }) {
  const enable = useEnable(user);
  const isSelf = useWorkspace().session.user.user_id === user.user_id;
  const item = (name: string, kind: Ask) => ({ name, run: () => onAsk(kind, user) });
  const items = user.is_disabled
    ? [{ name: "Enable", run: enable }]
    : [
        item("Change the name…", "rename"),
        item(user.has_password ? "Create a password reset link…" : "Create a new invitation…", "link"),
        item("End all sessions…", "sessions"),
        ...(user.has_second_factor && !isSelf ? [item("Reset two-factor authentication…", "factor")] : []),
        item("Disable…", "disable"),
      ];
  return (
    <Menu
      name={`Actions for ${user.name}`}
      trigger={
        <IconButton name={`Actions for ${user.name}`}>
          <Ellipsis size={16} aria-hidden />
        </IconButton>
      }
      groups={[{ items }]}
    />
  );
}

function useEnable({ user_id, name }: User): () => void {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const enable = async () => {
    try {
      await client.call("updateUser", { params: { user_id }, body: { is_disabled: false } });
      toast({ kind: "done", words: `${name} can sign in again.` });
    } catch (error) {
      toast({ kind: "problem", words: `${name} was not changed. ${wordsOf(error)}` });
    }
    await cache.invalidateQueries({ queryKey: ["users"] });
  };
  return () => void enable();
}
