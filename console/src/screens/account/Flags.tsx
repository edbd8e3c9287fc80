import type { EndUserAccount } from "@casehound/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { Actor } from "../../parts/Actor.tsx";
import { FlagMarks, flagFacts, flagNames } from "../../parts/Badges.tsx";
import { Kbd } from "../../parts/Button.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { useHistories } from "../../timeline/histories.ts";
import type { Flag } from "../../changes/flags.ts";
import { changeOf, type FlagChange } from "./flag-history.ts";

// Each flag as a switch, with who made it what it is. They act at once; what is refused goes back by itself.
export function Flags({ account }: { account: EndUserAccount }) {
  const { flags, may } = useWorkspace();
  const cache = useQueryClient();
  const histories = useHistories();
  const { website_account_id: id } = account;
  const events = useInfiniteQuery(histories.accountEvents(id));
  const known = events.data?.pages.flatMap((page) => page.events) ?? [];
  const isAllowed = may("update:enduseraccount");
  const toggle = useCallback(
    (flag: Flag) =>
      void flags.toggle(account, flag).then(() => cache.invalidateQueries({ queryKey: histories.accountEvents(id).queryKey })),
    [flags, account, cache, histories, id],
  );
  useKeys(
    useMemo<Binding[]>(
      () =>
        flagNames.map((flag) => ({
          key: flagFacts[flag].key,
          name: `${flagFacts[flag].name}: on or off`,
          group: "This account",
          run: () => toggle(flag),
          isOff: !isAllowed,
        })),
      [toggle, isAllowed],
    ),
  );
  return (
    <>
      <div className="hidden gap-2 print:flex">
        <FlagMarks flags={account} />
      </div>
      <ul className="grid gap-2">
        {flagNames.map((flag) => (
          <FlagRow
            key={flag}
            flag={flag}
            isOn={account[flag]}
            change={changeOf(known, flag, account[flag])}
            isAllowed={isAllowed}
            onPress={() => toggle(flag)}
          />
        ))}
      </ul>
      {!isAllowed && <p className="mt-2 text-xs text-faint">Your role does not allow to change them.</p>}
    </>
  );
}

type RowProps = { flag: Flag; isOn: boolean; change: FlagChange | null; isAllowed: boolean; onPress: () => void };

function FlagRow({ flag, isOn, change, isAllowed, onPress }: RowProps) {
  const { name, key, icon } = flagFacts[flag];
  const look = isOn ? "border-bad/60 bg-bad-soft text-bad" : "border-edge/50 text-soft hover:bg-hover hover:text-ink";
  return (
    <li className="grid grid-cols-[9.5rem_minmax(0,1fr)] items-center gap-3 print:grid-cols-1">
      <button
        type="button"
        role="switch"
        aria-checked={isOn}
        disabled={!isAllowed}
        onClick={onPress}
        className={`no-print flex h-8 items-center gap-1.5 rounded-md border px-2.5 text-sm font-medium disabled:opacity-60 ${look}`}
      >
        {icon}
        {name}
        <span className="ml-auto">
          <Kbd>{key.toUpperCase()}</Kbd>
        </span>
      </button>
      <p className="text-xs text-soft">
        {isOn ? "On" : change ? "Taken back" : "Never set"}
        {change && (
          <>
            {change.isFromCreation ? " since it was created" : ""} by <Actor actor={change.actor} />,{" "}
            <Age at={change.at} suffix=" ago" />
          </>
        )}
      </p>
    </li>
  );
}
