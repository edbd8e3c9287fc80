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
      toast({ kind: "done", words: `${of.client_id} was revoked.` });
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
            {task.isBusy ? "Revoking…" : "Revoke permanently"}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 text-sm">
        <p className="font-mono break-all">{of.client_id}</p>
        <p className="text-soft">
          They can get no more tokens, and their current tokens stop working at once. This cannot be undone: servers that use them
          cannot connect until they get new credentials.
        </p>
        {of.is_primary && (
          <p className="text-warn">These were created with the tenant. Make sure that none of your servers still uses them.</p>
        )}
        {task.problem !== null && <Alert>{task.problem}</Alert>}
      </div>
    </Dialog>
  );
}
