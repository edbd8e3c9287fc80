import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Alert } from "../../parts/Field.tsx";
import { ScopePicker } from "../../parts/ScopePicker.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import type { Secret } from "./SecretDialog.tsx";
import { offeredScopes, scopePresets, scopeWords } from "./scopes.ts";

export function NewClientDialog({ onClose, onMade }: { onClose: () => void; onMade: (secret: Secret) => void }) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const [chosen, setChosen] = useState<ReadonlySet<(typeof offeredScopes)[number]>>(new Set());
  const make = () =>
    task.run(async () => {
      const made = await client.call("createClient", { body: { scopes: [...chosen] } });
      void cache.invalidateQueries({ queryKey: ["clients"] });
      onMade({ client_id: made.client.client_id, client_secret: made.client_secret });
    });
  return (
    <Dialog
      title="New credentials"
      width="wide"
      onClose={onClose}
      isBusy={task.isBusy}
      footer={
        <>
          <span className="mr-auto text-xs text-faint" role="status">
            {chosen.size === 1 ? "1 scope" : `${chosen.size} scopes`}
          </span>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" onClick={make} disabled={task.isBusy || chosen.size === 0}>
            {task.isBusy ? "Creating…" : "Create credentials"}
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <p className="text-sm text-soft">
          Create separate credentials for each server, with only the scopes it needs. If they leak, you can revoke them without
          affecting other servers.
        </p>
        <div className="flex flex-wrap gap-2" role="group" aria-label="Common choices">
          {scopePresets.map(({ name, scopes }, index) => (
            <Button key={name} onClick={() => setChosen(new Set(scopes))} data-first-focus={index === 0 ? "" : undefined}>
              {name}
            </Button>
          ))}
        </div>
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
