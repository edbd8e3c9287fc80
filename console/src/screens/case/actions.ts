import { dispositions, unknownAccount, type Case } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { useClaims } from "../../claiming/claims.ts";
import { soon } from "../../data/soon.ts";
import type { Binding } from "../../keys/keys.ts";
import { dispositionWords, flagFacts, flagNames } from "../../parts/Badges.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import type { Disposition } from "../../changes/desk.ts";

type Acts = {
  // A row of the queue has enough members.
  found: Pick<Case, "case_id" | "status" | "website_account_id"> | undefined;
  // How many rows are selected. If any are, the keys act on them and never on the row in focus.
  selected?: number;
  onClose: (first?: Disposition) => void;
  onHandOver: (caseId: string) => void;
  onUndo: () => void;
};

// The keys that act on the case in focus, in the queue and on the case screen.
export function useCaseKeys({ found, selected = 0, onClose, onHandOver, onUndo }: Acts): Binding[] {
  const { may, flags, queries } = useWorkspace();
  const cache = useQueryClient();
  const { toggle: toggleClaim } = useClaims();
  return useMemo(() => {
    const isMany = selected > 0;
    const group = isMany ? "The selected cases" : "The case in focus";
    const what = isMany ? "the selected cases" : "the case";
    const mayClose = (isMany || found?.status === "OPEN") && may("update:case");
    const hasAccount = found !== undefined && found.website_account_id !== unknownAccount;
    const mayFlag = hasAccount && may("update:enduseraccount");
    const toggle = async (flag: (typeof flagNames)[number]) => {
      if (isMany) {
        toast({ kind: "note", words: "Flags are set one account at a time. Press Esc to clear the selection first." });
        return;
      }
      const account = await soon(cache.ensureQueryData(queries.account(found?.website_account_id ?? "")));
      if (account) await flags.toggle(account, flag);
      else toast({ kind: "problem", words: "The account could not be loaded." });
    };
    return [
      {
        key: "a",
        name: "Claim or release the case",
        group,
        run: () => toggleClaim(found?.case_id ?? ""),
        isOff: isMany || !mayClose,
      },
      {
        key: "h",
        name: "Hand over the case",
        group,
        run: () => onHandOver(found?.case_id ?? ""),
        isOff: isMany || !mayClose,
      },
      { key: "c", name: `Close ${what}`, group, run: () => onClose(), isOff: !mayClose },
      ...dispositions.map((each, index) => ({
        key: String(index + 1),
        name: `Close as ${dispositionWords[each].toLowerCase()}`,
        group,
        run: () => onClose(each),
        isOff: !mayClose,
      })),
      ...flagNames.map((flag) => ({
        key: flagFacts[flag].key,
        name: `${flagFacts[flag].name}: on or off`,
        group,
        run: () => void toggle(flag),
        isOff: !mayFlag,
      })),
      { key: "z", name: "Undo the last change", group, run: onUndo },
    ];
  }, [found, selected, may, flags, queries, cache, toggleClaim, onClose, onHandOver, onUndo]);
}
