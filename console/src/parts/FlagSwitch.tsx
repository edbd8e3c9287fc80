import type { Flag } from "../changes/flags.ts";
import { flagFacts } from "./Badges.tsx";
import { Kbd } from "./Button.tsx";
import { SwitchTrack } from "./SwitchTrack.tsx";

type Props = { flag: Flag; isOn: boolean; isAllowed: boolean; onPress: () => void };

export function FlagSwitch({ flag, isOn, isAllowed, onPress }: Props) {
  const { name, key, icon } = flagFacts[flag];
  const look = isOn ? "border-bad/60 bg-bad-soft text-bad" : "border-edge/50 text-soft hover:bg-hover hover:text-ink";
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      disabled={!isAllowed}
      title={
        isOn
          ? `The account has the flag ${name}. Press to remove it.`
          : `The account does not have the flag ${name}. Press to set it.`
      }
      onClick={onPress}
      className={`no-print inline-flex h-8 items-center gap-1.5 rounded-md border px-2.5 text-sm font-medium disabled:opacity-60 ${look}`}
    >
      {/* Without the switch, the name of a flag that is off would look as if the flag were set. */}
      <SwitchTrack isOn={isOn} tone="bad" />
      {icon}
      {name}
      <span className="ml-auto">
        <Kbd>{key.toUpperCase()}</Kbd>
      </span>
    </button>
  );
}
