import type { Rule } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowDown, SearchX } from "lucide-react";
import { useMemo, useRef, type RefObject } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { FraudLabel } from "../../parts/Badges.tsx";
import { Button } from "../../parts/Button.tsx";
import { Empty, Loading, Stale, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Outcomes, figure, precisionWords } from "./Outcomes.tsx";
import { RuleFilters } from "./RuleFilters.tsx";
import { Sentence } from "./RuleWords.tsx";
import { LimitedMark, StateMark, StateMenu } from "./StateMark.tsx";
import type { DetectionSearch, RuleState } from "./address.ts";
import { useDetection } from "./queries.ts";
import { useSwitching } from "./useSwitching.tsx";

export function RuleList() {
  const read = useQuery(useDetection().rules);
  const search = useSearch({ from: "/inside/detection" });
  const navigate = useNavigate();
  const body = useRef<HTMLTableSectionElement>(null);
  const filter = useRef<HTMLInputElement>(null);
  useKeys(useListKeys(body, filter));
  if (read.isPending) return <Loading lines={12} name="Loading the rules" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  const rules = chosen(read.data, search);
  const onSearch = (next: DetectionSearch) => void navigate({ to: "/detection", search: next, replace: true });
  return (
    <>
      <Stale read={read} />
      <RuleFilters ref={filter} rules={read.data} search={search} onSearch={onSearch} />
      {rules.length > 0 && <RuleTable rules={rules} body={body} search={search} onSearch={onSearch} />}
      {rules.length === 0 && (
        <Empty
          title={read.data.length === 0 ? "There are no rules yet" : "No rule matches"}
          icon={<SearchX size={20} aria-hidden />}
        >
          {read.data.length > 0 && (
            <Button className="mt-2" onClick={() => onSearch({})}>
              Show all {read.data.length}
            </Button>
          )}
        </Empty>
      )}
    </>
  );
}

function chosen(rules: Rule[], { state, label, text = "", sort }: DetectionSearch): Rule[] {
  const wanted = text.toLowerCase();
  const found = rules.filter(
    (rule) =>
      (state === undefined || rule.state === state) &&
      (label === undefined || rule.label === label) &&
      [rule.name, rule.rule_id, rule.sentence, rule.expression].some((each) => each.toLowerCase().includes(wanted)),
  );
  const by = {
    hits: (rule: Rule) => rule.hits_7d + rule.shadow_hits_7d,
    precision: (rule: Rule) => rule.precision.precision ?? -1,
    weight: (rule: Rule) => rule.weight,
  };
  const value = sort && by[sort];
  return found.toSorted((a, b) => (value ? value(b) - value(a) : 0) || a.name.localeCompare(b.name));
}

function useListKeys(body: RefObject<HTMLTableSectionElement | null>, filter: RefObject<HTMLInputElement | null>): Binding[] {
  return useMemo(() => {
    const step = (by: number) => () => {
      const links = [...(body.current?.querySelectorAll<HTMLElement>("[data-rule]") ?? [])];
      const at = links.findIndex((each) => each === document.activeElement);
      links[at === -1 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
    };
    const group = "Detection";
    return [
      { key: "j", name: "Next rule", group, run: step(1) },
      { key: "k", name: "Previous rule", group, run: step(-1) },
      { key: "/", name: "Filter the rules", group, run: () => filter.current?.focus() },
    ];
  }, [body, filter]);
}

type TableProps = {
  rules: Rule[];
  body: RefObject<HTMLTableSectionElement | null>;
  search: DetectionSearch;
  onSearch: (next: DetectionSearch) => void;
};

function RuleTable({ rules, body, search, onSearch }: TableProps) {
  const { element, isBusy, switchTo } = useSwitching();
  const { sort: _, ...rest } = search;
  const sorted = (sort: DetectionSearch["sort"], name: string, look = "text-right") => {
    const isOn = search.sort === sort;
    return (
      <th scope="col" aria-sort={isOn ? (sort ? "descending" : "ascending") : "none"} className={`font-medium ${look}`}>
        <button
          type="button"
          className={`inline-flex items-center gap-1 hover:text-ink ${isOn ? "text-ink" : ""}`}
          onClick={() => onSearch({ ...rest, ...(sort && { sort }) })}
        >
          {name}
          <ArrowDown size={12} className={isOn ? "" : "invisible"} aria-hidden />
        </button>
      </th>
    );
  };
  return (
    <>
      {element}
      <table className="w-full table-fixed border-collapse text-left [&_td]:px-2 [&_th]:px-2">
        <thead className="sticky top-0 z-10 bg-surface text-xs text-faint shadow-[0_1px_0_var(--line)]">
          <tr className="h-8">
            <th scope="col" className="w-33 !pl-5 font-medium">
              State
            </th>
            {sorted(undefined, "Rule", "")}
            <th scope="col" className="w-40 font-medium max-[90rem]:w-38 max-xl:w-14 max-md:hidden">
              <span className="max-xl:sr-only">Label</span>
            </th>
            {sorted("weight", "Weight", "w-22 text-right max-[90rem]:w-20 max-md:hidden")}
            {sorted("hits", "Hits, 7 d", "w-24 text-right max-sm:hidden")}
            <th scope="col" className="w-60 font-medium max-[90rem]:w-36 max-md:hidden">
              Outcomes, 7 d
            </th>
            {sorted("precision", "Precision", "w-28 text-right !pr-5 max-md:hidden")}
          </tr>
        </thead>
        <tbody ref={body} className="bg-surface">
          {rules.map((rule) => (
            <RuleRow key={rule.rule_id} rule={rule} isBusy={isBusy} onSwitch={(state) => switchTo(rule, state)} />
          ))}
        </tbody>
      </table>
    </>
  );
}

type RowProps = { rule: Rule; isBusy: boolean; onSwitch: (state: RuleState) => void };

function RuleRow({ rule, isBusy, onSwitch }: RowProps) {
  const { may } = useWorkspace();
  return (
    <tr className="border-b border-line align-top hover:bg-hover focus-within:bg-chosen">
      <td className="py-2 !pl-5">
        {may("manage:rules") ? <StateMenu rule={rule} isBusy={isBusy} onSwitch={onSwitch} /> : <StateMark state={rule.state} />}
        <LimitedMark until={rule.limited_until} />
      </td>
      <td className="py-2">
        <RuleCell rule={rule} />
      </td>
      <td className="py-2 max-md:hidden">
        <FraudLabel label={rule.label} isShort />
      </td>
      <td className="py-2 pr-7! text-right max-md:hidden">{rule.weight.toFixed(1)}</td>
      <td className="py-2 pr-7! text-right max-sm:hidden">
        <Hits rule={rule} />
      </td>
      <td className="py-2 max-md:hidden">
        <Outcomes of={rule.outcomes_7d} isShort />
      </td>
      <td className="py-2 pr-9! text-right font-semibold max-md:hidden">{precisionWords(rule.precision)}</td>
    </tr>
  );
}

function RuleCell({ rule }: { rule: Rule }) {
  return (
    <>
      <Link
        to="/detection/$ruleId"
        params={{ ruleId: rule.rule_id }}
        data-rule=""
        className="line-clamp-2 font-medium hover:text-accent hover:underline"
      >
        {rule.name}
      </Link>
      <div className="line-clamp-2 text-xs text-soft">
        <Sentence text={rule.sentence} isQuiet />
      </div>
    </>
  );
}

function Hits({ rule: { hits_7d: hits, shadow_hits_7d: shadow, state } }: { rule: Rule }) {
  return (
    <>
      {(state !== "shadow" || hits > 0) && <div>{figure.format(hits)}</div>}
      {(shadow > 0 || state === "shadow") && <div className="text-xs text-soft">{figure.format(shadow)} shadow</div>}
    </>
  );
}
