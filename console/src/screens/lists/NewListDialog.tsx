import { labels, listTypes } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Field, inputLook } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { kindFacts, kindsOf, typeNames, type ListKind, type ListType } from "./words.ts";

const nameForm = /^[a-z][a-z0-9_]{0,63}$/;

export function NewListDialog({ onClose, onMade }: { onClose: () => void; onMade: (name: string) => void }) {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  const [type, setType] = useState<ListType>("ip");
  const [kind, setKind] = useState<ListKind>("block");
  const kinds = kindsOf(type);
  const chosen = kinds.includes(kind) ? kind : (kinds[0] ?? "custom");
  return (
    <FormDialog
      title="New list"
      act="Create the list"
      actBusy="Creating ..."
      onClose={onClose}
      refuse={(typed) => (nameForm.test(typed("name")) ? null : "A name has a-z, 0-9 and _, and begins with a letter.")}
      run={async (typed) => {
        const name = typed("name");
        const label = labels.find((each) => each === typed("label")) ?? "Organic";
        await client.call("createList", { body: { name, type, kind: chosen, label, description: typed("description") } });
        await cache.invalidateQueries({ queryKey: ["lists"] });
        onMade(name);
      }}
    >
      <Field
        name="name"
        label="Name"
        maxLength={64}
        spellCheck={false}
        data-first-focus=""
        hint="a-z, 0-9 and _. Rules use it, so it cannot be changed later."
      />
      <div className="grid grid-cols-2 gap-4">
        <Select label="It holds" value={type} options={listTypes.map((each) => [each, typeNames[each]])} onValue={setType} />
        <Select label="Kind" value={chosen} options={kinds.map((each) => [each, kindFacts[each].name])} onValue={setKind} />
      </div>
      <p className="text-sm text-soft">What hits the list {kindFacts[chosen].means}.</p>
      {chosen === "block" && (
        <label className="grid gap-1 text-sm font-medium">
          Label of its cases
          <select name="label" defaultValue="Organic" className={`${inputLook} font-normal`}>
            {labels.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
      <Field name="description" label="Description" maxLength={500} placeholder="What the list is for" />
    </FormDialog>
  );
}

type SelectProps<T extends string> = { label: string; value: T; options: [T, string][]; onValue: (value: T) => void };

function Select<T extends string>({ label, value, options, onValue }: SelectProps<T>) {
  return (
    <label className="grid gap-1 text-sm font-medium">
      {label}
      <select
        className={`${inputLook} font-normal`}
        value={value}
        onChange={(event) => {
          const found = options.find(([each]) => each === event.target.value);
          if (found) onValue(found[0]);
        }}
      >
        {options.map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
