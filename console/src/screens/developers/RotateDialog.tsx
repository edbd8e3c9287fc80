import type { ApiClient } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert } from "../../parts/Field.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import type { Secret } from "./SecretDialog.tsx";

type Props = { of: ApiClient; onClose: () => void; onMade: (secret: Secret) => void };

export function RotateDialog({ of, onClose, onMade }: Props) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const [isNow, setNow] = useState(false);
  const rotate = () =>
    task.run(async () => {
      const params = { client_id: of.client_id };
      const made = await client.call("rotateClientSecret", { params, body: { revoke_now: isNow } });
      void cache.invalidateQueries({ queryKey: ["clients"] });
      onMade({ ...made, previousUntil: made.previous_secret_expires_at });
    });
  return (
    <Dialog
      title="Rotate the secret"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={isNow ? "danger" : "primary"} onClick={rotate} disabled={task.isBusy} data-first-focus="">
            {task.isBusy ? "Rotating…" : "Create a new secret"}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 text-sm">
        <p className="font-mono break-all">{of.client_id}</p>
        <ol className="grid list-decimal gap-1 pl-5 text-soft">
          <li>A new secret is created and shown to you once. It works at once.</li>
          <li>The current secret keeps working for 24 hours, so you can update your servers one by one.</li>
          <li>Earlier secrets work for the rest of their own 24 hours. At most five of them work at the same time.</li>
        </ol>
        <label className="flex items-start gap-2">
          <input
            type="checkbox"
            className="mt-0.5 size-4 accent-accent"
            checked={isNow}
            onChange={(event) => setNow(event.target.checked)}
          />
          <span>
            <span className="block font-medium">End the old secrets now</span>
            <span className="text-soft">
              Choose this if a secret has leaked. All earlier secrets, and the tokens issued for them, stop working at once.
            </span>
          </span>
        </label>
        {task.problem !== null && <Alert>{task.problem}</Alert>}
      </div>
    </Dialog>
  );
}
