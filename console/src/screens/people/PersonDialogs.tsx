import type { User, UserLink } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import { Field } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

type Sure = ComponentProps<typeof SureDialog>;

// Reloads the list after a change to a person.
function PersonDialog({ run, ...rest }: Sure) {
  const cache = useQueryClient();
  const act = async () => {
    await run();
    void cache.invalidateQueries({ queryKey: ["users"] });
  };
  return <SureDialog {...rest} run={act} />;
}

type Props = { user: User; onClose: () => void };

export function NewLinkDialog({ user, onClose, onMade }: Props & { onMade: (user: User, link: UserLink) => void }) {
  const { client } = useWorkspace();
  const run = async () => onMade(user, await client.call("createUserLink", { params: { user_id: user.user_id } }));
  return (
    <PersonDialog
      title={user.has_password ? "Create a password reset link" : "Create a new invitation"}
      act="Create the link"
      onClose={onClose}
      run={run}
    >
      <p>
        The link is for {user.name}. It works once, within {user.has_password ? "a day" : "seven days"}. Earlier links stop
        working.
        {user.has_password && " The current password works until the link is used. Then all sessions end."}
      </p>
    </PersonDialog>
  );
}

export function EndSessionsDialog({ user, onClose }: Props) {
  const { client, session } = useWorkspace();
  const run = async () => {
    await client.call("endUserSessions", { params: { user_id: user.user_id } });
    toast({ kind: "done", words: `${user.name} is signed out everywhere.` });
    onClose();
  };
  return (
    <PersonDialog title={`End the sessions of ${user.name}?`} act="End all sessions" isHarsh onClose={onClose} run={run}>
      <p>
        {user.name} is signed out of every browser at once
        {user.user_id === session.user.user_id && ", including this one"}. They can sign in again.
      </p>
    </PersonDialog>
  );
}

export function ResetFactorDialog({ user, onClose }: Props) {
  const { client } = useWorkspace();
  const run = async () => {
    await client.call("resetSecondFactor", { params: { user_id: user.user_id } });
    toast({ kind: "done", words: `${user.name} can sign in with the password alone.` });
    onClose();
  };
  return (
    <PersonDialog title={`Reset two-factor authentication for ${user.name}?`} act="Reset" isHarsh onClose={onClose} run={run}>
      <p>
        Do this only if {user.name} has lost the authenticator app, the passkeys and the recovery codes. Make sure that the
        request really comes from {user.name}: afterwards, the password alone is enough to sign in. {user.name} is signed out
        everywhere.
      </p>
    </PersonDialog>
  );
}

export function DisableDialog({ user, onClose }: Props) {
  const { client } = useWorkspace();
  const run = async () => {
    await client.call("updateUser", { params: { user_id: user.user_id }, body: { is_disabled: true } });
    toast({ kind: "done", words: `${user.name} is disabled.` });
    onClose();
  };
  return (
    <PersonDialog title={`Disable ${user.name}?`} act="Disable" isHarsh onClose={onClose} run={run}>
      <p>{user.name} is signed out everywhere and cannot sign in until enabled again. Their decisions keep their name.</p>
    </PersonDialog>
  );
}

export function RenameDialog({ user, onClose }: Props) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const run = async (typed: (name: string) => string) => {
    await client.call("updateUser", { params: { user_id: user.user_id }, body: { name: typed("name").trim() } });
    void cache.invalidateQueries({ queryKey: ["users"] });
    onClose();
  };
  return (
    <FormDialog title="Change the name" width="small" act="Save" onClose={onClose} run={run}>
      <Field
        name="name"
        label={`Name of ${user.email}`}
        required
        maxLength={100}
        defaultValue={user.name}
        autoComplete="off"
        data-first-focus=""
        hint="Earlier decisions keep the old name."
      />
    </FormDialog>
  );
}
