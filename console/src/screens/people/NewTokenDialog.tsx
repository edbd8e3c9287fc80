import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { CopyLine } from "../../parts/Copy.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert, Field } from "../../parts/Field.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";

// Creates a token for a directory, and shows it once.
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const [name, setName] = useState("");
  const [adoptsPeople, setAdoptsPeople] = useState(false);
  const [made, setMade] = useState<string | null>(null);
  const create = async () => {
    const body = { name: name.trim(), adopts_people: adoptsPeople };
    const { token } = await client.call("createScimToken", { body });
    void cache.invalidateQueries({ queryKey: ["scim-tokens"] });
    setMade(token);
  };
  if (made !== null) return <MadeToken name={name.trim()} token={made} onClose={onClose} />;
  return (
    <Dialog
      title="New SCIM token"
      width="small"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="scim-token" disabled={task.isBusy}>
            Create
          </Button>
        </>
      }
    >
      <form
        id="scim-token"
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          task.run(create);
        }}
      >
        {task.problem !== null && <Alert>{task.problem}</Alert>}
        <Field
          name="name"
          label="Name"
          value={name}
          onChange={({ target }) => setName(target.value)}
          required
          minLength={2}
          maxLength={40}
          pattern="[a-z0-9]+(-[a-z0-9]+)*"
          autoComplete="off"
          data-first-focus=""
          hint="Lower-case letters, digits and hyphens, such as entra. The audit trail shows it."
        />
        <label className="flex items-start gap-2 text-sm">
          <input
            type="checkbox"
            checked={adoptsPeople}
            onChange={({ target }) => setAdoptsPeople(target.checked)}
            className="mt-0.5 accent-accent"
          />
          <span>
            <span className="block font-medium">Manage existing people</span>
            <span className="block text-xs text-soft">
              The directory can then see, change and disable everybody. Otherwise, it manages only the people whom it creates.
            </span>
          </span>
        </label>
      </form>
    </Dialog>
  );
}

// The token is shown only once, so a stray key must not close the dialog.
function MadeToken({ name, token, onClose }: { name: string; token: string; onClose: () => void }) {
  return (
    <Dialog
      title={`Token ${name}`}
      isBusy
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="grid gap-4">
        <p className="text-sm text-soft">
          Enter this token in the directory. It works only for provisioning, until you revoke it. It is not shown again.
        </p>
        <CopyLine label="Token" text={token} />
      </div>
    </Dialog>
  );
}
