import type { Rule } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { Alert } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { useTask } from "../../parts/task.ts";
import { toast } from "../../parts/Toasts.tsx";
import { SwitchTrack } from "../../parts/SwitchTrack.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { figure, precisionWords } from "../detection/Outcomes.tsx";
import { useDetection } from "../detection/queries.ts";

const shownAtFirst = 8;

type Props = { released: readonly string[] };

// Which rules a model may overrule.
export function ReleasedRules({ released }: Props) {
  const { may } = useWorkspace();
  const read = useQuery({ ...useDetection().rules, enabled: may("read:rules") });
  if (!may("read:rules")) return null;
  return (
    <Section
      title="Rules that models may overrule"
      aside={<GuideLink page="models#what-a-model-does-to-a-score" about="rules that models may overrule" />}
    >
      <p className="mb-3 max-w-[52rem] text-soft">
        A model can lower the score of an activity only if it may overrule every rule that fired on it. Allow this for rules that
        are often wrong.
        {!may("manage:models") && " Only leads and admins can change this."}
      </p>
      {read.isPending && <Loading lines={6} name="Loading the rules" />}
      {read.isLoadingError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && <RuleSwitches rules={read.data} released={released} />}
    </Section>
  );
}

function RuleSwitches({ rules, released }: Props & { rules: readonly Rule[] }) {
  const { may } = useWorkspace();
  const [isWhole, setWhole] = useState(false);
  const { problem, isBusy, release } = useRelease();
  const on = rules.filter(({ state }) => state === "on").toSorted(byPrecision);
  const shown = isWhole ? on : on.slice(0, shownAtFirst);
  const resting = released.filter((id) => !on.some(({ rule_id }) => rule_id === id));
  const nameOf = (id: string) => rules.find(({ rule_id }) => rule_id === id)?.name ?? id;
  if (on.length === 0) return <p className="text-soft">No rule is on.</p>;
  return (
    <>
      {problem !== null && <Alert>Not changed: {problem}</Alert>}
      <ul aria-label="Rules, least precise first" className="max-w-[64rem]">
        {shown.map((rule) => {
          const isOn = released.includes(rule.rule_id);
          const onPress = may("manage:models") ? () => !isBusy && release(rule, !isOn) : null;
          return <RuleRow key={rule.rule_id} rule={rule} isOn={isOn} onPress={onPress} />;
        })}
      </ul>
      <p className="mt-2 text-xs text-soft">
        Models may overrule {figure.format(released.length - resting.length)} of {figure.format(on.length)} rules.
        {resting.length > 0 && ` Also allowed for rules that are not on: ${resting.map(nameOf).join(", ")}.`}
      </p>
      {shown.length < on.length && (
        <Button className="mt-2" onClick={() => setWhole(true)}>
          Show {on.length - shown.length} more
        </Button>
      )}
    </>
  );
}

// The least precise first. Rules without a known precision come last.
function byPrecision(one: Rule, other: Rule): number {
  return (one.precision.precision ?? 2) - (other.precision.precision ?? 2) || one.name.localeCompare(other.name);
}

function useRelease() {
  const { client, desk } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  // A change replaces the whole list. So each attempt starts from the stored list, to keep what others have just changed.
  async function send(ruleId: string, isOn: boolean): Promise<void> {
    const { settings } = await client.call("listModels", {});
    const others = settings.released_rules.filter((id) => id !== ruleId);
    await client.call("updateModelSettings", { body: { released_rules: isOn ? [...others, ruleId] : others } });
  }
  const release = ({ rule_id, name }: Rule, isOn: boolean) =>
    task.run(async () => {
      await desk.outbox.deliver("Changing which rules models may overrule", () => send(rule_id, isOn));
      await cache.invalidateQueries({ queryKey: ["models"] });
      const words = isOn ? `Models may overrule ${name}.` : `Models may no longer overrule ${name}.`;
      toast({ kind: "done", words: `${words} Past scores do not change.` });
    });
  return { ...task, release };
}

type RowProps = { rule: Rule; isOn: boolean; onPress: (() => void) | null };

function RuleRow({ rule, isOn, onPress }: RowProps) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_18rem_9rem] items-center gap-x-4 border-t border-line py-1.5 max-[60rem]:grid-cols-[minmax(0,1fr)_auto]">
      <Link to="/detection/$ruleId" params={{ ruleId: rule.rule_id }} className="font-medium hover:text-accent hover:underline">
        {rule.name}
      </Link>
      <span className="max-[60rem]:col-start-1">
        <PrecisionWords of={rule.precision} />
      </span>
      <span className="text-right max-[60rem]:col-start-2 max-[60rem]:row-span-2 max-[60rem]:row-start-1">
        {onPress ? (
          <Switch name={rule.name} isOn={isOn} onPress={onPress} />
        ) : (
          <span className={isOn ? "font-medium" : "text-faint"}>{isOn ? "May overrule" : "May not overrule"}</span>
        )}
      </span>
    </li>
  );
}

function PrecisionWords({ of }: { of: Rule["precision"] }) {
  if (of.precision === null) return <span className="text-faint">Precision not known yet</span>;
  return (
    <span className="text-soft">
      <strong className="font-semibold text-ink">{precisionWords(of)}</strong> · {figure.format(of.confirmed)} closed as fraud,{" "}
      {figure.format(of.false_positives)} as false positives
    </span>
  );
}

function Switch({ name, isOn, onPress }: { name: string; isOn: boolean; onPress: () => void }) {
  const look = isOn ? "border-accent/60 bg-accent-soft text-accent" : "border-edge/50 text-soft hover:bg-hover hover:text-ink";
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={`May overrule ${name}`}
      onClick={onPress}
      className={`inline-flex h-8 items-center gap-1.5 rounded-md border px-2.5 text-sm font-medium whitespace-nowrap ${look}`}
    >
      <SwitchTrack isOn={isOn} tone="accent" />
      <span className="max-[40rem]:hidden">May overrule</span>
    </button>
  );
}
