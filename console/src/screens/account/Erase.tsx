import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Field } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";

// Only for people who may erase accounts.
export function Erase({ accountId }: { accountId: string }) {
  const { may } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  if (!may("delete:enduseraccount")) return null;
  return (
    <Section title="Erase">
      <p className="mb-3 text-soft">Deletes the account and its activity. Its cases stay under a pseudonym.</p>
      <Button look="danger" className="no-print" onClick={() => setOpen(true)}>
        Erase this account…
      </Button>
      {isOpen && <EraseDialog accountId={accountId} onClose={() => setOpen(false)} />}
    </Section>
  );
}

// An erasure cannot be undone, so the id has to be typed.
function EraseDialog({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const name = visible(accountId);
  const run = async () => {
    await client.call("deleteEndUserAccount", { params: { website_account_id: accountId } });
    onClose();
    toast({ kind: "done", words: `Erased the account ${name}.` });
    await navigate({ to: "/" });
    void cache.invalidateQueries();
  };
  return (
    <FormDialog
      title="Erase the account"
      act="Erase for good"
      actBusy="Erasing…"
      isHarsh
      onClose={onClose}
      refuse={(typed) => ([accountId, name].includes(typed("id")) ? null : "This is not the account's id.")}
      run={run}
    >
      <p className="text-soft">
        This deletes <bdi className="font-medium [overflow-wrap:anywhere] text-ink">{name}</bdi>, its flags, sessions, activity
        and labels. Its cases stay under a pseudonym that leads to nobody. This cannot be undone.
      </p>
      <Field
        name="id"
        label="Type the account's id to confirm"
        required
        autoComplete="off"
        spellCheck={false}
        data-first-focus=""
      />
    </FormDialog>
  );
}
