import { labels, type PolicyRow } from "@casehound/client";
import { useState, type FormEvent, type ReactNode } from "react";
import { Button } from "../../parts/Button.tsx";
import { Dialog } from "../../parts/Dialog.tsx";
import { Field, inputLook } from "../../parts/Field.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { momentWords, policyActionWords } from "./words.ts";

type Props = { row: PolicyRow | undefined; onRow: (row: PolicyRow) => void; onClose: () => void };

const scores = [1, 2, 3, 4, 5];
type Moment = NonNullable<PolicyRow["moments"]>[number];
type Label = NonNullable<PolicyRow["labels"]>[number];
// The casts are safe, because these are the keys of the tables.
const moments = Object.keys(momentWords) as Moment[];
const actions = Object.keys(policyActionWords) as PolicyRow["action"][];

// Edits one row of the draft. Nothing is stored until the policy is saved.
export function RowDialog({ row, onRow, onClose }: Props) {
  const [draft, setDraft] = useState<PolicyRow>(row ?? { min_score: 4, action: "CHALLENGE" });
  const [lists, setLists] = useState(row?.lists?.join(", ") ?? "");
  const write = (part: Partial<PolicyRow>) => setDraft({ ...draft, ...part });
  function submit(event: FormEvent): void {
    event.preventDefault();
    onRow(tidy({ ...draft, lists: lists.split(",").map((each) => each.trim()) }));
  }
  return (
    <Dialog
      title={row ? "Edit the row" : "Add a row"}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="policy-row" look="primary">
            {row ? "Change the draft" : "Add to the draft"}
          </Button>
        </>
      }
    >
      <form id="policy-row" className="grid gap-4" onSubmit={submit}>
        <Field
          name="name"
          label="Name"
          maxLength={100}
          data-first-focus=""
          value={draft.name ?? ""}
          onChange={({ target }) => write({ name: target.value })}
        />
        <Conditions draft={draft} write={write} />
        <Field
          name="lists"
          label="Lists"
          hint="Names of lists, separated by commas. The activity must be on at least one of them."
          value={lists}
          onChange={({ target }) => setLists(target.value)}
        />
        <Select label="Answer" value={draft.action} onValue={(action) => write({ action })} of={actions}>
          {(action) => policyActionWords[action].name}
        </Select>
        <Quarantine draft={draft} write={write} />
      </form>
    </Dialog>
  );
}

type PartProps = { draft: PolicyRow; write: (part: Partial<PolicyRow>) => void };

function Conditions({ draft, write }: PartProps) {
  return (
    <>
      <Choices
        title="Moment"
        options={moments.map((each) => ({ value: each, name: momentWords[each].name }))}
        chosen={draft.moments ?? []}
        onChosen={(chosen) => write({ moments: chosen })}
      />
      <div className="grid grid-cols-2 gap-4">
        <ScoreSelect label="Score from" value={draft.min_score ?? 1} onValue={(min_score) => write({ min_score })} />
        <ScoreSelect label="Score to" value={draft.max_score ?? 5} onValue={(max_score) => write({ max_score })} />
      </div>
      <Choices
        title="Label"
        options={labels.map((each: Label) => ({ value: each, name: each }))}
        chosen={draft.labels ?? []}
        onChosen={(chosen) => write({ labels: chosen })}
      />
    </>
  );
}

function Quarantine({ draft, write }: PartProps) {
  const { may } = useWorkspace();
  if (!may("update:enduseraccount")) return null;
  return (
    <label className="flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-1 size-4 accent-accent"
        checked={draft.set_quarantined ?? false}
        onChange={({ target }) => write({ set_quarantined: target.checked })}
      />
      <span>
        Also quarantine the account
        <span className="block text-xs text-faint">
          This applies to all activity, not only to assessments. A failed log-in never quarantines an account, because anybody can
          cause one.
        </span>
      </span>
    </label>
  );
}

// Removes conditions that match everything.
function tidy({
  name,
  moments: at,
  min_score,
  max_score,
  labels: of,
  lists = [],
  action,
  set_quarantined,
}: PolicyRow): PolicyRow {
  const named = lists.filter((each) => each !== "");
  return {
    ...(name !== undefined && name.trim() !== "" && { name: name.trim() }),
    ...(at && at.length > 0 && { moments: at }),
    ...(min_score !== undefined && min_score > 1 && { min_score }),
    ...(max_score !== undefined && max_score < 5 && { max_score }),
    ...(of && of.length > 0 && { labels: of }),
    ...(named.length > 0 && { lists: [...new Set(named)] }),
    action,
    ...(set_quarantined === true && { set_quarantined }),
  };
}

type ChoicesProps<T extends string> = {
  title: string;
  options: { value: T; name: string }[];
  chosen: T[];
  onChosen: (chosen: T[]) => void;
};

function Choices<T extends string>({ title, options, chosen, onChosen }: ChoicesProps<T>) {
  const toggle = (value: T) =>
    onChosen(options.map((each) => each.value).filter((each) => (each === value) !== chosen.includes(each)));
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">
        {title} <span className="font-normal text-faint">{chosen.length === 0 ? "any" : ""}</span>
      </legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {options.map(({ value, name }) => (
          <label key={value} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={chosen.includes(value)}
              onChange={() => toggle(value)}
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function ScoreSelect({ label, value, onValue }: { label: string; value: number; onValue: (value: number) => void }) {
  return (
    <Select label={label} value={value} onValue={onValue} of={scores}>
      {String}
    </Select>
  );
}

type SelectProps<T extends string | number> = {
  label: string;
  value: T;
  onValue: (value: T) => void;
  of: readonly T[];
  children: (value: T) => ReactNode;
};

function Select<T extends string | number>({ label, value, onValue, of, children }: SelectProps<T>) {
  return (
    <label className="grid gap-1">
      <span className="text-sm font-medium">{label}</span>
      <select
        className={inputLook}
        value={value}
        onChange={({ target }) => {
          const chosen = of.find((each) => String(each) === target.value);
          if (chosen !== undefined) onValue(chosen);
        }}
      >
        {of.map((each) => (
          <option key={each} value={each}>
            {children(each)}
          </option>
        ))}
      </select>
    </label>
  );
}
