import { dispositions, labels, reasonCharactersMax, type ReasonTemplate, type ReasonTemplates } from "@casehound/client";
import { useState } from "react";
import { dispositionWords } from "../../parts/Badges.tsx";
import { Field, inputLook } from "../../parts/Field.tsx";
import { FormDialog } from "../../parts/FormDialog.tsx";
import { withEntry } from "./EntryList.tsx";
import { useSavingTemplates } from "./saving.ts";

type Label = (typeof labels)[number];
type Props = { template: ReasonTemplate | null; stored: ReasonTemplates; onClose: () => void };

// Adds a template, or changes one, which is found by its name.
export function TemplateDialog({ template, stored, onClose }: Props) {
  const save = useSavingTemplates(stored);
  const [chosen, setChosen] = useState<Label[]>(template?.labels ?? []);
  const { templates } = stored;
  const isOther = (name: string) => name !== template?.name && templates.some((each) => each.name === name);
  return (
    <FormDialog
      title={template ? "Edit the template" : "Add a template"}
      act="Save"
      actBusy="Saving…"
      onClose={onClose}
      refuse={(typed) => {
        const name = typed("name").trim();
        if (name === "" || typed("text").trim() === "") return "A template needs a name and a text.";
        return isOther(name) ? "Another template has this name." : null;
      }}
      run={async (typed) => {
        const disposition = dispositions.find((each) => each === typed("disposition"));
        const next: ReasonTemplate = {
          name: typed("name").trim(),
          text: typed("text").trim(),
          ...(chosen.length > 0 && { labels: labels.filter((label) => chosen.includes(label)) }),
          ...(disposition && { disposition }),
        };
        await save(withEntry(templates, template?.name, next));
        onClose();
      }}
    >
      <Field name="name" label="Name" maxLength={60} defaultValue={template?.name} data-first-focus="" />
      <label className="grid gap-1 text-sm font-medium">
        Text
        <textarea
          name="text"
          rows={4}
          maxLength={reasonCharactersMax}
          defaultValue={template?.text}
          className="w-full resize-y rounded-md border border-edge bg-surface px-2.5 py-2 text-sm font-normal"
        />
      </label>
      <LabelChoice chosen={chosen} onChosen={setChosen} />
      <label className="grid gap-1 text-sm font-medium">
        Outcome
        <select name="disposition" defaultValue={template?.disposition ?? ""} className={`${inputLook} font-normal`}>
          <option value="">Any outcome</option>
          {dispositions.map((each) => (
            <option key={each} value={each}>
              {dispositionWords[each]}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}

type ChoiceProps = { chosen: Label[]; onChosen: (chosen: Label[]) => void };

function LabelChoice({ chosen, onChosen }: ChoiceProps) {
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">
        Labels <span className="font-normal text-faint">none means all</span>
      </legend>
      <div className="flex flex-wrap gap-x-5 gap-y-1.5 text-sm">
        {labels.map((label) => (
          <label key={label} className="flex items-center gap-2">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={chosen.includes(label)}
              onChange={() => onChosen(chosen.includes(label) ? chosen.filter((each) => each !== label) : [...chosen, label])}
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
