import type { User, UserLink } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useId, type FormEvent, type ReactNode } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { typedIn } from "../../parts/form.ts";
import { useTask } from "../../parts/task.ts";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

type Sure = {
  title: string;
  act: string;
  isHarsh?: boolean;
  children: ReactNode;
  onClose: () => void;
  run: () => Promise<void>;
};

// Asks once more, and shows the service's words where it refuses.
function SureDialog({ title, act, isHarsh = false, children, onClose, run }: Sure) {
  const cache = useQueryClient();
  const task = useTask();
  const go = () =>
    task.run(async () => {
      await run();
      void cache.invalidateQueries({ queryKey: ["users"] });
    });
  return (
    <Dialog
      title={title}
      width="small"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={isHarsh ? "danger" : "primary"} onClick={go} disabled={task.isBusy} data-first-focus="">
            {act}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 text-sm text-soft">
        {children}
        {task.problem !== null && <Alert>{task.problem}</Alert>}
      </div>
    </Dialog>
  );
}

type Props = { user: User; onClose: () => void };

export function NewLinkDialog({ user, onClose, onMade }: Props & { onMade: (user: User, link: UserLink) => void }) {
  const { client } = useWorkspace();
  const run = async () => onMade(user, await client.call("createUserLink", { params: { user_id: user.user_id } }));
  return (
    <SureDialog
      title={user.has_password ? "A link for a new password" : "A new invitation"}
      act="Make the link"
      onClose={onClose}
      run={run}
    >
      <p>
        For {user.name}. It works once, for {user.has_password ? "a day" : "seven days"}. Links made before end.
        {user.has_password && " The password stays as it is until the link is used; then all sessions end."}
      </p>
    </SureDialog>
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
    <SureDialog title={`End the sessions of ${user.name}?`} act="End all sessions" isHarsh onClose={onClose} run={run}>
      <p>
        Every browser in which {user.name} is signed in is signed out at once
        {user.user_id === session.user.user_id && ", this one too"}. They can sign in again.
      </p>
    </SureDialog>
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
    <SureDialog title={`Disable ${user.name}?`} act="Disable" isHarsh onClose={onClose} run={run}>
      <p>
        {user.name} is signed out everywhere and cannot sign in until enabled again. What they have decided stays, in their name.
      </p>
    </SureDialog>
  );
}

export function RenameDialog({ user, onClose }: Props) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const formId = useId();
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const name = typedIn(event.currentTarget)("name").trim();
    task.run(async () => {
      await client.call("updateUser", { params: { user_id: user.user_id }, body: { name } });
      void cache.invalidateQueries({ queryKey: ["users"] });
      onClose();
    });
  }
  return (
    <Dialog
      title="Change the name"
      width="small"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={formId} look="primary" disabled={task.isBusy}>
            Change it
          </Button>
        </>
      }
    >
      <form id={formId} className="grid gap-4" onSubmit={submit}>
        <Field
          name="name"
          label={`Name of ${user.email}`}
          required
          maxLength={100}
          defaultValue={user.name}
          autoComplete="off"
          data-first-focus=""
          hint="What was decided before stays in the old name."
        />
        {task.problem !== null && <Alert>{task.problem}</Alert>}
      </form>
    </Dialog>
  );
}
