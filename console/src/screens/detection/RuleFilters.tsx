import { labels, ruleStates, type Rule } from "@casehound/client";
import { X } from "lucide-react";
import type { Ref } from "react";
import { Kbd } from "../../parts/Button.tsx";
import { stateFacts } from "./StateMark.tsx";
import type { DetectionSearch, RuleState } from "./address.ts";

type Props = {
  ref: Ref<HTMLInputElement>;
  rules: Rule[];
  search: DetectionSearch;
  onSearch: (next: DetectionSearch) => void;
};

// The bar shows the filters, with the number of rules for each.
export function RuleFilters({ ref, rules, search, onSearch }: Props) {
  const { state, label, text = "", ...rest } = search;
  const next = (change: Partial<Record<"state" | "label" | "text", string | undefined>>) => {
    const all = { state, label, text, ...change };
    const set = Object.entries(all).filter(([, value]) => value !== undefined && value !== "");
    // Callers pass only values from the lists above.
    onSearch({ ...rest, ...(Object.fromEntries(set) as DetectionSearch) });
  };
  const count = (wanted: RuleState) => rules.filter((rule) => rule.state === wanted).length;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-canvas px-5 py-2">
      <div role="group" aria-label="State" className="flex gap-1">
        <Chip isOn={state === undefined} onPress={() => next({ state: undefined })} name="All" count={rules.length} />
        {ruleStates.map((each) => (
          <Chip
            key={each}
            isOn={state === each}
            onPress={() => next({ state: state === each ? undefined : each })}
            name={stateFacts[each].name}
            count={count(each)}
          />
        ))}
      </div>
      <label className="flex items-center gap-2">
        <span className="text-xs text-faint">Label</span>
        <select
          className="h-7 rounded-md border border-edge/60 bg-surface px-1.5 text-sm"
          value={label ?? ""}
          onChange={(event) => next({ label: event.target.value })}
        >
          <option value="">Any</option>
          {labels.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <div className="relative ml-auto w-72">
        <input
          ref={ref}
          type="text"
          aria-label="Name, sentence or field"
          placeholder="Name, sentence or field"
          className="h-7 w-full rounded-md border border-edge/60 bg-surface pr-8 pl-2.5 text-sm"
          value={text}
          onChange={(event) => next({ text: event.target.value })}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
        />
        <span className="absolute top-1 right-1.5">
          {text === "" ? (
            <Kbd>/</Kbd>
          ) : (
            <button
              type="button"
              aria-label="Clear the filter"
              className="text-faint hover:text-ink"
              onClick={() => next({ text: "" })}
            >
              <X size={15} aria-hidden />
            </button>
          )}
        </span>
      </div>
    </div>
  );
}

function Chip({ isOn, onPress, name, count }: { isOn: boolean; onPress: () => void; name: string; count: number }) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={onPress}
      className={`inline-flex h-7 items-center gap-1.5 rounded-md border px-2.5 text-sm ${isOn ? "border-accent bg-accent-soft font-medium text-accent" : "border-edge/40 bg-surface text-soft hover:text-ink"}`}
    >
      {name} <span className="text-xs">{count}</span>
    </button>
  );
}
