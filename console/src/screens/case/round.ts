import type { Case } from "@casehound/client";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { useClaims } from "../../claiming/claims.ts";
import { useClaimOnOpen } from "../../claiming/setting.ts";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { useNeighbour, useNextUnclaimed } from "../queue/round.ts";

// Goes from case to case without returning to the queue, and claims the case if the person wants that.
export function useRound(found: Case): { onClosed: (closed: Case) => void; onReopened: (reopened: Case[]) => void } {
  const navigate = useNavigate();
  const findNeighbour = useNeighbour();
  const claimNext = useNextUnclaimed();
  const { leave } = useClaims();
  const id = found.case_id;
  const begin = useTurns();
  useClaimed(found);

  // Replaces the address, so that Back returns to the queue and not to the previous case.
  const open = useCallback(
    (caseId: string) => void navigate({ to: "/cases/$caseId", params: { caseId }, replace: true }),
    [navigate],
  );
  const move = useCallback(
    async (step: 1 | -1) => {
      const isLatest = begin();
      const next = await findNeighbour(id, { step, isForWork: false });
      if (!isLatest()) return;
      if (next !== null) open(next);
      else
        toast({ kind: "note", words: step === 1 ? "This is the last case of the list." : "This is the first case of the list." });
    },
    [findNeighbour, id, open, begin],
  );
  const take = useCallback(async () => {
    const isLatest = begin();
    const next = await claimNext(id);
    if (next && isLatest()) open(next.case_id);
    else if (next) leave(next.case_id);
  }, [claimNext, id, open, begin, leave]);
  const onClosed = useCallback(
    async (closed: Case) => {
      // The person may have moved on while the close was sent.
      if (closed.case_id !== id) return;
      const isLatest = begin();
      const next = await findNeighbour(id, { step: 1, isForWork: true });
      if (next !== null && isLatest()) open(next);
    },
    [findNeighbour, id, open, begin],
  );
  const group = "The list";
  useKeys(
    useMemo<Binding[]>(
      () => [
        { key: "j", name: "Next case", group, run: () => void move(1) },
        { key: "k", name: "Previous case", group, run: () => void move(-1) },
        { key: "u", name: "Claim the next unclaimed case", group, run: () => void take() },
      ],
      [move, take],
    ),
  );
  const onReopened = useCallback(
    ([first]: Case[]) => {
      if (first && first.case_id !== id) open(first.case_id);
    },
    [id, open],
  );
  return { onClosed: (closed) => void onClosed(closed), onReopened };
}

// Finding the next case takes a moment. Meanwhile the person may have asked for another one, or left the case. Then the earlier
// move must not take them away. Begins a move, and returns a function that returns whether it is still the latest one.
function useTurns(): () => () => boolean {
  const latest = useRef(0);
  useEffect(() => {
    latest.current = 0;
    return () => void (latest.current = -1);
  }, []);
  return useCallback(() => {
    if (latest.current === -1) return () => false;
    const turn = ++latest.current;
    return () => latest.current === turn;
  }, []);
}

function useClaimed({ case_id: id, status }: Case): void {
  const { may } = useWorkspace();
  const [isOn] = useClaimOnOpen();
  const { claimInPassing, leave } = useClaims();
  const isWanted = isOn && status === "OPEN" && may("update:case");
  useEffect(() => {
    if (isWanted) void claimInPassing(id);
  }, [isWanted, id, claimInPassing]);
  useEffect(() => () => leave(id), [id, leave]);
}
