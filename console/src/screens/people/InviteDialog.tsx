import type { User, UserLink } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useId, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { typedIn } from "../../parts/form.ts";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { roleWords, roles } from "./roles.ts";

type Props = { onClose: () => void; onInvited: (user: User, link: UserLink) => void };

export function InviteDialog({ onClose, onInvited }: Props) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const formId = useId();

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const typed = typedIn(event.currentTarget);
    const role = roles.find((each) => each === typed("role")) ?? "investigator";
    task.run(async () => {
      const body = { email: typed("email").trim(), name: typed("name").trim(), role };
      const { user, link } = await client.call("createUser", { body });
      void cache.invalidateQueries({ queryKey: ["users"] });
      onInvited(user, link);
    });
  }

  return (
    <Dialog
      title="Invite a person"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={formId} look="primary" disabled={task.isBusy}>
            {task.isBusy ? "Inviting…" : "Make the invitation"}
          </Button>
        </>
      }
    >
      <form id={formId} className="grid gap-4" onSubmit={submit}>
        <Field name="email" type="email" label="E-mail" required maxLength={254} autoComplete="off" data-first-focus="" />
        <Field
          name="name"
          label="Name"
          required
          maxLength={100}
          autoComplete="off"
          hint="It stands beside what the person decides. They can correct it when they join."
        />
        <fieldset className="grid gap-1">
          <legend className="mb-1 text-sm font-medium">Role</legend>
          {roles.map((role, index) => (
            <label key={role} className="flex items-start gap-2 rounded px-1 py-1 hover:bg-hover">
              <input type="radio" name="role" value={role} defaultChecked={index === 0} className="mt-0.5 accent-accent" />
              <span>
                <span className="block text-sm font-medium">{roleWords[role].name}</span>
                <span className="block text-xs text-soft">{roleWords[role].may}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {task.problem !== null && <Alert>{task.problem}</Alert>}
      </form>
    </Dialog>
  );
}
