import type { Feature, List } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { inputLook } from "../../parts/Field.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Section } from "../case/Section.tsx";
import { useLists } from "../lists/queries.ts";
import { lookupOf, typeNames } from "../lists/words.ts";
import { useDetection } from "./queries.ts";

type Props = { target: "expression" | "sentence"; onInsert: (name: string) => void };

// The fields that a rule can read. Choosing one inserts it at the caret.
export function FieldsReference({ target, onInsert }: Props) {
  const read = useQuery(useDetection().features);
  const [filter, setFilter] = useState("");
  const wanted = filter.toLowerCase().trim();
  const found = (read.data ?? []).filter(({ name, plain_name: plain, description }) =>
    [name, plain, description].some((each) => each.toLowerCase().includes(wanted)),
  );
  const groups = Map.groupBy(found, ({ name }) => name.split(".")[0] ?? name);
  const lists = useLists().filter(({ name, description }) => `lists.${name} ${description}`.toLowerCase().includes(wanted));
  return (
    <Section title="Fields" aside={<span className="text-xs text-faint">inserted into the {target}</span>}>
      <input
        type="text"
        aria-label="Filter the fields"
        placeholder="Filter: device, failed, 1h ..."
        className={inputLook}
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
      />
      <div
        role="region"
        aria-label="Fields that a rule can read"
        tabIndex={0}
        className="mt-3 -mr-2 max-h-[calc(100vh-17rem)] overflow-y-auto pr-2 max-[70rem]:max-h-96"
      >
        {read.isPending && <Loading lines={6} name="Loading the fields" />}
        {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
        {target === "expression" && <ListRows lists={lists} onInsert={onInsert} />}
        {read.data && found.length + lists.length === 0 && <p className="text-soft">No field matches.</p>}
        {[...groups].map(([group, features]) => (
          <div key={group} className="mb-3">
            <h3 className="mb-1 text-xs font-semibold text-soft">{group}</h3>
            <ul className="grid gap-0.5">
              {features.map((feature) => (
                <Row key={feature.name} feature={feature} onInsert={onInsert} />
              ))}
            </ul>
          </div>
        ))}
      </div>
    </Section>
  );
}

function ListRows({ lists, onInsert }: { lists: List[]; onInsert: Props["onInsert"] }) {
  if (lists.length === 0) return null;
  return (
    <div className="mb-3">
      <h3 className="mb-1 text-xs font-semibold text-soft">lists</h3>
      <ul className="grid gap-0.5">
        {lists.map((list) => (
          <li key={list.name}>
            <button
              type="button"
              onClick={() => onInsert(lookupOf(list))}
              className="grid w-full rounded px-1.5 py-1 text-left hover:bg-hover"
            >
              <span className="font-mono text-[12px] text-accent [overflow-wrap:anywhere]">
                <span className="sr-only">Insert </span>
                {lookupOf(list)}
              </span>
              <span className="text-xs text-soft">{typeNames[list.type]}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Row({ feature, onInsert }: { feature: Feature; onInsert: Props["onInsert"] }) {
  const { name, type, plain_name: plain, description, maximum } = feature;
  return (
    <li>
      <button
        type="button"
        onClick={() => onInsert(name)}
        className="group grid w-full grid-cols-[minmax(0,1fr)_auto] gap-x-2 rounded px-1.5 py-1 text-left hover:bg-hover"
      >
        <span className="font-mono text-[12px] text-accent [overflow-wrap:anywhere]">
          <span className="sr-only">Insert </span>
          {name}
        </span>
        <span className="inline-flex items-center gap-1 text-xs text-faint">
          {type}
          <Plus size={13} aria-hidden />
        </span>
        <span className="col-span-2 text-xs text-soft" title={description}>
          {plain}
          {maximum !== undefined && `, counted up to ${maximum}`}
        </span>
      </button>
    </li>
  );
}
