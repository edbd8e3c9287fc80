import type { List } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Field, inputLook } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { PreviewNote } from "./PreviewNote.tsx";
import { expiresAt, expiries } from "./expiry.ts";
import { examples, kindFacts } from "./words.ts";

// Adds one entry, after showing what it would have hit.
export function EntryDialog({ list, onClose }: { list: List; onClose: () => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const [value, setValue] = useState("");
  return (
    <FormDialog
      title={`Add to ${list.name}`}
      act="Add"
      actBusy="Adding ..."
      onClose={onClose}
      refuse={() => (value.trim() === "" ? "Type a value." : null)}
      run={async (typed) => {
        const reason = typed("reason").trim();
        const entry = { value: value.trim(), ...expiresAt(typed("expiry"), Date.now()), ...(reason !== "" && { reason }) };
        await client.call("addListEntries", { params: { list_name: list.name }, body: { entries: [entry] } });
        await cache.invalidateQueries({ queryKey: ["lists"] });
        toast({ kind: "done", words: `${entry.value} is on the list ${list.name}.` });
        onClose();
      }}
    >
      <p className="text-sm text-soft">What hits this list {kindFacts[list.kind].means}.</p>
      <Field
        name="value"
        label="Value"
        value={value}
        maxLength={512}
        spellCheck={false}
        data-first-focus=""
        placeholder={examples[list.type]}
        onChange={(event) => setValue(event.target.value)}
      />
      <PreviewNote list={list} value={value} />
      <ExpiryAndReason />
    </FormDialog>
  );
}

export function ExpiryAndReason({ reason = "" }: { reason?: string }) {
  return (
    <div className="grid grid-cols-[10rem_minmax(0,1fr)] gap-4">
      <label className="grid gap-1 text-sm font-medium">
        Expires
        <select name="expiry" defaultValue="0" className={`${inputLook} font-normal`}>
          {expiries.map(({ days, name }) => (
            <option key={days} value={days}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Field name="reason" label="Reason" maxLength={500} defaultValue={reason} placeholder="Why it is on the list" />
    </div>
  );
}
