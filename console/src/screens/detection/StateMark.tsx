import { ruleStates } from "@casehound/client";
import { ChevronDown, CircleDot, CircleSlash, Ghost, Hourglass } from "lucide-react";
import type { ReactNode } from "react";
import { Menu } from "../../parts/Menu.tsx";
import type { RuleState } from "./address.ts";
import { fullTime } from "../../parts/clock.ts";

export const stateFacts: Record<RuleState, { name: string; meaning: string; look: string; icon: ReactNode }> = {
  on: {
    name: "On",
    meaning: "Its hits add to the score and can open cases.",
    look: "bg-good-soft text-good",
    icon: <CircleDot size={13} aria-hidden />,
  },
  shadow: {
    name: "Shadow",
    meaning: "Its hits are counted but have no effect.",
    look: "bg-accent-soft text-accent",
    icon: <Ghost size={13} aria-hidden />,
  },
  off: {
    name: "Off",
    meaning: "It is not evaluated.",
    look: "bg-sunken text-soft",
    icon: <CircleSlash size={13} aria-hidden />,
  },
};

const shape = "inline-flex h-6 items-center gap-1.5 rounded px-2 text-xs font-semibold whitespace-nowrap";

export function StateMark({ state }: { state: RuleState }) {
  const { name, look, icon, meaning } = stateFacts[state];
  return (
    <span className={`${shape} ${look}`} title={meaning}>
      {icon}
      {name}
    </span>
  );
}

// Shown beside the state, because a rule that is on but paused does nothing.
export function LimitedMark({ until }: { until: string | undefined }) {
  if (until === undefined) return null;
  const meaning = `Its patterns take too long. It is paused until ${fullTime.format(new Date(until))} and then resumes automatically.`;
  return (
    <span className={`${shape} bg-warn-soft text-warn`} title={meaning}>
      <Hourglass size={13} aria-hidden />
      Limited
      <span className="sr-only">: {meaning}</span>
    </span>
  );
}

type Props = { rule: { name: string; state: RuleState }; onSwitch: (state: RuleState) => void; isBusy?: boolean };

// The same mark as a menu that changes the state.
export function StateMenu({ rule, onSwitch, isBusy = false }: Props) {
  const { name, look, icon } = stateFacts[rule.state];
  const trigger = (
    <button
      type="button"
      disabled={isBusy}
      aria-label={`${rule.name} is ${name.toLowerCase()}. Change its state`}
      className={`${shape} ${look} hover:opacity-85 disabled:opacity-55`}
    >
      {icon}
      {name}
      <ChevronDown size={12} aria-hidden />
    </button>
  );
  const items = ruleStates.map((state) => ({
    name: `${stateFacts[state].name}: ${stateFacts[state].meaning}`,
    icon: stateFacts[state].icon,
    isChosen: state === rule.state,
    run: () => onSwitch(state),
  }));
  return <Menu name="On, shadow or off" trigger={trigger} groups={[{ items }]} />;
}
