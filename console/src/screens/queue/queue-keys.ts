import type { CaseListItem } from "@casehound/client";
import { useEffect, useMemo, useRef } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import type { Disposition } from "../../changes/desk.ts";
import { useCaseKeys } from "../case/actions.ts";

type Acts = {
  found: CaseListItem | undefined;
  selected: number;
  onMove: (step: number) => void;
  onOpen: () => void;
  onChoose: () => void;
  onLeave: () => void;
  onFilter: () => void;
  onNextUnclaimed: () => void;
  onClose: (first?: Disposition) => void;
  onHandOver: (caseId: string) => void;
  onUndo: () => void;
};

export function useQueueKeys(acts: Acts): void {
  const latest = useRef(acts);
  useEffect(() => {
    latest.current = acts;
  });
  const group = "The queue";
  const bindings = useMemo<Binding[]>(
    () => [
      { key: "j", name: "Next case", group, run: () => latest.current.onMove(1) },
      { key: "k", name: "Previous case", group, run: () => latest.current.onMove(-1) },
      { key: "ArrowDown", shown: "↓", name: "Next case", group, run: () => latest.current.onMove(1) },
      { key: "ArrowUp", shown: "↑", name: "Previous case", group, run: () => latest.current.onMove(-1) },
      { key: "u", name: "Claim the next unclaimed case", group, run: () => latest.current.onNextUnclaimed() },
      { key: "Enter", name: "Open the case", group, run: () => latest.current.onOpen() },
      { key: "x", name: "Select or unselect", group, run: () => latest.current.onChoose() },
      { key: "Escape", shown: "Esc", name: "Clear the selection", group, run: () => latest.current.onLeave() },
      { key: "/", name: "Search", group, run: () => latest.current.onFilter() },
    ],
    [],
  );
  useKeys(bindings);
  const stable = useMemo(
    () => ({
      onClose: (first?: Disposition) => latest.current.onClose(first),
      onHandOver: (caseId: string) => latest.current.onHandOver(caseId),
      onUndo: () => latest.current.onUndo(),
    }),
    [],
  );
  useKeys(useCaseKeys({ found: acts.found, selected: acts.selected, ...stable }));
}
