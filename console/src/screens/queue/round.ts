import type { Case, CaseListItem } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo } from "react";
import { useClaims } from "../../claiming/claims.ts";
import { soon } from "../../data/soon.ts";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { toCaseQuery, type QueueFilter } from "./search.ts";

let lastFilter: QueueFilter = {};

// Among this many cases, one should be free. Colleagues may claim the first ones at the same moment.
const triedMax = 20;

// Claims the next case of the list that nobody works on, and returns it. The case that the person leaves is released if it was
// claimed in the same way.
export function useNextUnclaimed(filter?: QueueFilter) {
  const { client } = useWorkspace();
  const { claimInPassing, leave } = useClaims();
  return useCallback(
    async (fromId: string | null): Promise<CaseListItem | null> => {
      const { claimed: _claimed, ...wanted } = filter ?? lastFilter;
      const query = { ...toCaseQuery(wanted), status: "OPEN" as const, claimed_by: "none", limit: triedMax };
      const found = await soon(client.call("listCases", { query }));
      for (const each of found?.cases ?? []) {
        if (each.case_id === fromId || !(await claimInPassing(each.case_id))) continue;
        if (fromId !== null) leave(fromId);
        return each;
      }
      toast({ kind: "note", words: found ? "No other case in this list is unclaimed." : "The list could not be loaded." });
      return null;
    },
    [client, claimInPassing, leave, filter],
  );
}

type Taking = {
  filter: QueueFilter;
  rows: CaseListItem[];
  focusedId: string | null;
  focus: (caseId: string) => void;
  open: (caseId: string) => void;
};

// Goes to the next unclaimed case: to its row, or to the case itself if the list has not been read that far.
export function useTakeNext({ filter, rows, focusedId, focus, open }: Taking): () => void {
  const claimNext = useNextUnclaimed(filter);
  // The list that the person came from. The case screen goes on in its order.
  useEffect(() => {
    lastFilter = filter;
  }, [filter]);
  const take = async () => {
    const next = await claimNext(focusedId);
    if (next) (rows.some((row) => row.case_id === next.case_id) ? focus : open)(next.case_id);
  };
  return () => void take();
}

// Finds the case before or after this one in the list. Cases that have been closed meanwhile are left out, and after a close
// those that colleagues work on.
export function useNeighbour() {
  const { queries } = useWorkspace();
  const cache = useQueryClient();
  const { me } = useClaims();
  return useMemo(() => {
    const isFree = async (row: CaseListItem) => {
      const digest = await soon(cache.fetchQuery({ ...queries.digest(row), staleTime: 0 }));
      return digest?.claim === undefined || digest.claim.claimed_by === me;
    };
    const isOpen = async (row: CaseListItem) =>
      (await soon<Case>(cache.fetchQuery({ ...queries.case(row.case_id), staleTime: 1000 })))?.status === "OPEN";
    return async (fromId: string, { step, isForWork }: { step: 1 | -1; isForWork: boolean }): Promise<string | null> => {
      const wantsOpen = (lastFilter.status ?? "open") === "open";
      const list = await soon(cache.ensureInfiniteQueryData(queries.cases(toCaseQuery(lastFilter))));
      const rows = list?.pages.flatMap((page) => page.cases) ?? [];
      const at = rows.findIndex((row) => row.case_id === fromId);
      const rest = step === 1 ? rows.slice(at + 1) : rows.slice(0, Math.max(at, 0)).toReversed();
      for (const row of rest) {
        if (wantsOpen && !(await isOpen(row))) continue;
        if (!isForWork || (await isFree(row))) return row.case_id;
      }
      return null;
    };
  }, [queries, cache, me]);
}
