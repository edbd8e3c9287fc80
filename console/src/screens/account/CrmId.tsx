import { ProblemError, type EndUserAccount } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { inputLook } from "../../parts/Field.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

// The account's id in the shop's own CRM. If the service rejects a new value, the input is kept.
export function CrmId({ account }: { account: EndUserAccount }) {
  const { may } = useWorkspace();
  const [isEditing, setEditing] = useState(false);
  if (isEditing) return <CrmForm account={account} onDone={() => setEditing(false)} />;
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <span className="[overflow-wrap:anywhere]">{account.crm_account_id ?? <span className="text-faint">none</span>}</span>
      {may("update:enduseraccount") && (
        <button
          type="button"
          className="no-print text-xs font-medium text-accent underline"
          aria-label="Edit the CRM id"
          onClick={() => setEditing(true)}
        >
          Edit
        </button>
      )}
    </span>
  );
}

function CrmForm({ account, onDone }: { account: EndUserAccount; onDone: () => void }) {
  const { desk, queries } = useWorkspace();
  const cache = useQueryClient();
  const [text, setText] = useState(account.crm_account_id ?? "");
  const [state, setState] = useState<{ isBusy: boolean; words?: string }>({ isBusy: false });
  const { website_account_id } = account;

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    const wanted = text.trim();
    setState({ isBusy: true });
    try {
      const body = { crm_account_id: wanted === "" ? null : wanted };
      const params = { website_account_id };
      const changed = await desk.outbox.deliver("Changing a CRM id", () =>
        desk.client.call("updateEndUserAccount", { params, body }),
      );
      cache.setQueryData(queries.account(website_account_id).queryKey, changed);
      void cache.invalidateQueries({ queryKey: ["account", website_account_id, "events"] });
      onDone();
    } catch (error) {
      setState({ isBusy: false, words: error instanceof ProblemError ? error.detail : "The service did not answer." });
    }
  }

  return (
    <form className="grid gap-1.5" onSubmit={(event) => void save(event)}>
      <input
        autoFocus
        aria-label="CRM id"
        className={inputLook}
        value={text}
        disabled={state.isBusy}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onDone();
        }}
      />
      {state.words !== undefined && (
        <p role="alert" className="text-xs text-bad">
          Not changed: {state.words}
        </p>
      )}
      <span className="flex gap-2">
        <Button type="submit" look="primary" disabled={state.isBusy}>
          Save
        </Button>
        <Button onClick={onDone} disabled={state.isBusy}>
          Cancel
        </Button>
      </span>
    </form>
  );
}
