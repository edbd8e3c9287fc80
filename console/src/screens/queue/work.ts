import type { Case, CaseListItem } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { useClosing } from "../../closing/useClosing.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import type { BulkOutcome } from "../../changes/bulk.ts";
import type { Disposition } from "../../changes/desk.ts";
import type { useQueueRows } from "./rows.ts";
import { toRow, type QueueFilter } from "./search.ts";

type Parts = {
  filter: QueueFilter;
  queue: ReturnType<typeof useQueueRows>;
  focusedId: string | null;
  focus: (caseId: string) => void;
  move: (step: number) => void;
};

const none: ReadonlyMap<string, number> = new Map();

// What a person does in the list: select, open, close one or many, and what the list makes of it.
export function useQueueWork({ filter, queue, focusedId, focus, move }: Parts) {
  const { queries } = useWorkspace();
  const cache = useQueryClient();
  const { rows, remove, change, restore } = queue;
  // With the version that was on the screen when the case was selected: what has changed since is not closed unseen.
  const [chosen, setChosen] = useState(none);
  const [unsaved, setUnsaved] = useState<ReadonlySet<string>>(new Set());
  // Those that were selected when the dialog opened: its results must not go with the selection.
  const [bulk, setBulk] = useState<CaseListItem[] | null>(null);
  const latest = useRef(rows);
  useEffect(() => {
    latest.current = rows;
  });
  const choose = useCallback((id: string) => {
    const version = latest.current.find((row) => row.case_id === id)?.case_version ?? 0;
    setChosen((known) => (known.has(id) ? withoutKey(known, id) : new Map(known).set(id, version)));
  }, []);
  const chooseNone = useCallback(() => setChosen(none), []);

  const closing = useClosing({
    // A closed case leaves a list of open ones; the focus has gone on to the next before.
    onClosed: (found: Case) => {
      if (focusedId === found.case_id) move(1);
      setChosen((known) => withoutKey(known, found.case_id));
      if ((filter.status ?? "open") === "open") remove(found.case_id);
      else change(toRow(found));
    },
    onReopened: (found) => {
      restore(toRow(found));
      focus(found.case_id);
    },
    onUnsaved: (id, isOver) => {
      setUnsaved((known) => new Set([...known].filter((each) => each !== id).concat(isOver ? [] : [id])));
      if (!isOver && focusedId === id) move(1);
    },
  });

  const openBulk = () =>
    setBulk(
      rows.flatMap((row) => {
        const case_version = chosen.get(row.case_id);
        return case_version === undefined ? [] : [{ ...row, case_version }];
      }),
    );
  // A key may be quicker than the peek pane: then the dialog waits for the case, and the key is not lost.
  const openClosing = async (caseId: string, first?: Disposition) => {
    const seen = await cache.ensureQueryData(queries.case(caseId)).catch(() => null);
    if (seen) closing.open(seen, first);
    else toast({ kind: "problem", words: "The case could not be read." });
  };
  const close = (first?: Disposition) => {
    if (chosen.size > 0 && first === undefined) openBulk();
    else if (focusedId !== null) void openClosing(focusedId, first);
  };
  const takeOutcomes = (outcomes: ReadonlyMap<string, BulkOutcome>) => {
    const isLeft = (id: string) => ["changed", "failed"].includes(outcomes.get(id)?.kind ?? "");
    for (const id of outcomes.keys()) if (!isLeft(id)) remove(id);
    setChosen((known) => new Map([...known].filter(([id]) => isLeft(id))));
  };
  const endBulk = () => setBulk(null);
  return { chosen, choose, chooseNone, unsaved, bulk, closing, open: useOpen(), close, openBulk, endBulk, takeOutcomes };
}

function useOpen(): (caseId: string) => void {
  const navigate = useNavigate();
  return useCallback(
    (caseId) => {
      // First this address, so that the way back leads to the same row.
      void navigate({ from: "/", to: "/", search: (search) => ({ ...search, case: caseId }), replace: true }).then(() =>
        navigate({ to: "/cases/$caseId", params: { caseId } }),
      );
    },
    [navigate],
  );
}

function withoutKey(known: ReadonlyMap<string, number>, id: string): ReadonlyMap<string, number> {
  return new Map([...known].filter(([each]) => each !== id));
}
