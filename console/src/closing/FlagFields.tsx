import { unknownAccount, type Case } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useState, type KeyboardEvent } from "react";
import type { Flag, Flags } from "../changes/flags.ts";
import { flagFacts, flagNames } from "../parts/Badges.tsx";
import { Kbd } from "../parts/Button.tsx";
import { useWorkspace } from "../session/workspace.tsx";

type FlagWishes = Partial<Flags>;

// The words for setting and removing each flag together with a close.
const words: Record<Flag, { on: string; off: string }> = {
  is_blocked: { on: "Block the account", off: "Unblock the account" },
  is_quarantined: { on: "Quarantine the account", off: "End the quarantine" },
  is_fraudulent: { on: "Mark the account as fraudulent", off: "Remove the fraudulent mark" },
};

// Chooses or drops the change of a flag.
function toggleWish(wishes: FlagWishes, flag: Flag, now: boolean): FlagWishes {
  const { [flag]: known, ...rest } = wishes;
  return known === undefined ? { ...rest, [flag]: !now } : rest;
}

// The changes of flags that the person chooses, by check box or key.
export function useFlagWishes(seen: Case) {
  const flags = useFlagsOf(seen);
  const [wishes, setWishes] = useState<FlagWishes>({});
  const press = (event: KeyboardEvent) => {
    const isTyping = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLSelectElement;
    const flag = flagNames.find((each) => flagFacts[each].key === event.key);
    if (!flag || !flags || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    setWishes(toggleWish(wishes, flag, flags[flag]));
    event.preventDefault();
  };
  return { flags, wishes, setWishes, press };
}

function useFlagsOf({ website_account_id: id }: Case): Flags | undefined {
  const { queries, may } = useWorkspace();
  const isAllowed = id !== unknownAccount && may("read:enduseraccount") && may("update:enduseraccount");
  const { data } = useQuery({ ...queries.account(id), enabled: isAllowed });
  return isAllowed ? data : undefined;
}

type Props = { flags: Flags | undefined; value: FlagWishes; onValue: (value: FlagWishes) => void; isDisabled: boolean };

// Offers to change the account's flags in the same step as the close. The offer depends on the current flags.
export function FlagFields({ flags, value, onValue, isDisabled }: Props) {
  if (!flags) return null;
  return (
    <fieldset disabled={isDisabled} className="mt-4">
      <legend className="mb-1 text-sm font-medium">
        Together with the close <span className="font-normal text-faint">optional</span>
      </legend>
      <div className="flex flex-wrap gap-x-5 gap-y-1.5">
        {flagNames.map((flag) => (
          <label key={flag} className="flex items-center gap-2">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={value[flag] !== undefined}
              onChange={() => onValue(toggleWish(value, flag, flags[flag]))}
            />
            {flags[flag] ? words[flag].off : words[flag].on} <Kbd>{flagFacts[flag].key.toUpperCase()}</Kbd>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
