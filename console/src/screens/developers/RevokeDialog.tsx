import type { ApiClient } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert } from "../../parts/Field.tsx";
import { useTask } from "../../parts/task.ts";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

export function RevokeDialog({ of, onClose }: { of: ApiClient; onClose: () => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const revoke = () =>
    task.run(async () => {
      await client.call("revokeClient", { params: { client_id: of.client_id } });
      void cache.invalidateQueries({ queryKey: ["clients"] });
      toast({ kind: "done", words: `${of.client_id} is revoked.` });
      onClose();
    });
  return (
    <Dialog
      title="Revoke these credentials?"
      width="small"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <Button onClick={onClose} data-first-focus="">
            Keep them
          </Button>
          <Button look="danger" onClick={revoke} disabled={task.isBusy}>
            {task.isBusy ? "Revoking…" : "Revoke for good"}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 text-sm">
        <p className="font-mono break-all">{of.client_id}</p>
        <p className="text-soft">
          They get no more tokens, and the tokens that they have stop working at once. This cannot be undone: whatever uses them
          stops until it gets others.
        </p>
        {of.is_primary && (
          <p className="text-warn">These were made with the tenant. Make sure that no server of yours still uses them.</p>
        )}
        {task.problem !== null && <Alert>{task.problem}</Alert>}
      </div>
    </Dialog>
  );
}
