import type { NewWebhook } from "@casehound/client";
import { useState } from "react";
import { Field } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

type Type = NonNullable<NewWebhook["types"]>[number];

const words: Record<Type, string> = {
  "case.opened": "A case is opened",
  "case.evidence_added": "A case gets more evidence",
  "case.closed": "A case is closed",
  "case.reopened": "A case is reopened",
  "account.created": "An account is made",
  "account.updated": "An account's flags change",
  "account.erased": "An account is erased",
  "rule.changed": "A rule changes",
};

type Props = { onClose: () => void; onMade: (secret: string) => void };

export function NewWebhookDialog({ onClose, onMade }: Props) {
  const { client } = useWorkspace();
  const [chosen, setChosen] = useState<ReadonlySet<Type>>(new Set());
  const toggle = (type: Type) => {
    const next = new Set(chosen);
    if (!next.delete(type)) next.add(type);
    setChosen(next);
  };
  const make = async (typed: (name: string) => string) => {
    const made = await client.call("createWebhook", { body: { url: typed("url").trim(), types: [...chosen] } });
    onMade(made.secret);
  };
  return (
    <FormDialog title="New webhook" act="Make it" actBusy="Making it…" onClose={onClose} run={make}>
      <Field
        name="url"
        label="Address"
        required
        placeholder="https://crm.example/casehound"
        hint="It is posted to. https; private addresses only where the operator allows them."
        data-first-focus=""
      />
      <fieldset className="grid gap-1">
        <legend className="mb-1 text-sm font-medium">What is sent (nothing chosen: all of it)</legend>
        {(Object.keys(words) as Type[]).map((type) => (
          <label key={type} className="flex items-center gap-2 rounded px-1 py-0.5 hover:bg-hover">
            <input type="checkbox" className="size-4 accent-accent" checked={chosen.has(type)} onChange={() => toggle(type)} />
            <span className="text-sm">{words[type]}</span>
            <span className="ml-auto font-mono text-xs text-faint">{type}</span>
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
