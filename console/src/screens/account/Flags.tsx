import type { EndUserAccount } from "@casehound/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { Actor } from "../../parts/Actor.tsx";
import { FlagMarks, flagFacts, flagNames } from "../../parts/Badges.tsx";
import { FlagSwitch } from "../../parts/FlagSwitch.tsx";
import { undoLast } from "../../parts/offers.ts";
import { wordsOf } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { useHistories } from "../../timeline/histories.ts";
import type { Flag } from "../../changes/flags.ts";
import { historyOf, type FlagHistory } from "./flag-history.ts";

// Each flag as a switch, with the person who last changed it. A switch acts at once and reverts by itself if rejected.
export function Flags({ account }: { account: EndUserAccount }) {
  const { flags, may, desk } = useWorkspace();
  const cache = useQueryClient();
  const histories = useHistories();
  const { website_account_id: id } = account;
  const events = useInfiniteQuery(histories.accountEvents(id));
  const known = events.data?.pages.flatMap((page) => page.events);
  const isAllowed = may("update:enduseraccount");
  const toggle = useCallback(
    (flag: Flag) =>
      void flags.toggle(account, flag).then(() => cache.invalidateQueries({ queryKey: histories.accountEvents(id).queryKey })),
    [flags, account, cache, histories, id],
  );
  useKeys(
    useMemo<Binding[]>(
      () => [
        ...flagNames.map((flag) => ({
          key: flagFacts[flag].key,
          name: `${flagFacts[flag].name}: on or off`,
          group: "This account",
          run: () => toggle(flag),
          isOff: !isAllowed,
        })),
        { key: "z", name: "Undo the last change", group: "This account", run: () => undoLast(desk) },
      ],
      [toggle, isAllowed, desk],
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
            history={known ? historyOf(known, flag, account[flag]) : null}
            isAllowed={isAllowed}
            onPress={() => toggle(flag)}
          />
        ))}
      </ul>
      {events.isError && (
        <p className="mt-2 text-xs text-faint">Who set the flags could not be loaded: {wordsOf(events.error)}</p>
      )}
      {!isAllowed && <p className="mt-2 text-xs text-faint">Your role does not allow changing flags.</p>}
    </>
  );
}

type RowProps = { flag: Flag; isOn: boolean; history: FlagHistory | null; isAllowed: boolean; onPress: () => void };

function FlagRow({ flag, isOn, history, isAllowed, onPress }: RowProps) {
  return (
    <li className="grid grid-cols-[11.5rem_minmax(0,1fr)] items-center gap-3 print:grid-cols-1">
      <FlagSwitch flag={flag} isOn={isOn} isAllowed={isAllowed} onPress={onPress} />
      <p className="text-xs text-soft">
        {stateWords(isOn, history)}
        {history?.kind === "changed" && (
          <>
            {history.isFromCreation ? " since it was created" : ""} by <Actor actor={history.actor} />,{" "}
            <Age at={history.at} suffix=" ago" />
          </>
        )}
      </p>
    </li>
  );
}

// Claims no more than the log shows.
function stateWords(isOn: boolean, history: FlagHistory | null): string {
  if (history?.kind === "earlier") return `${isOn ? "On" : "Off"} since before the entries below`;
  if (isOn) return "On";
  return history?.kind === "never" ? "Never set" : history?.kind === "changed" ? "Switched off" : "Off";
}
