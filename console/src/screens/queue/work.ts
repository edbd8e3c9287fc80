import type { Case, CaseListItem } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { useReopening } from "../../closing/undo.ts";
import { useClosing } from "../../closing/useClosing.tsx";
import { soon } from "../../data/soon.ts";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import type { BulkOutcome } from "../../changes/bulk.ts";
import type { Disposition } from "../../changes/desk.ts";
import type { useQueueRows } from "./rows.ts";
import { toRow, type QueueFilter } from "./search.ts";
import { useChosen, withoutKey } from "./chosen.ts";

type QueueWorkOptions = {
  filter: QueueFilter;
  queue: ReturnType<typeof useQueueRows>;
  focusedId: string | null;
  focus: (caseId: string) => void;
  move: (step: number) => void;
};

// What a person does in the list: select, open, and close one case or many, and how the list reacts.
export function useQueueWork({ filter, queue, focusedId, focus, move }: QueueWorkOptions) {
  const { queries } = useWorkspace();
  const cache = useQueryClient();
  const { rows, remove, change, restore } = queue;
  const { offerMany } = useReopening();
  const { chosen, setChosen, ...choosing } = useChosen(rows);
  const [unsaved, setUnsaved] = useState<ReadonlySet<string>>(new Set());
  // The cases selected when the dialog opened. Its results must survive a change of the selection.
  const [bulk, setBulk] = useState<{ rows: CaseListItem[]; first: Disposition | null } | null>(null);
  const done = useRef<ReadonlyMap<string, BulkOutcome>>(new Map());
  const focusNow = useRef(focusedId);
  useEffect(() => {
    focusNow.current = focusedId;
  });

  const closing = useClosing({
    // A closed case leaves a list of open ones. The focus moves to the next case first.
    onClosed: (found: Case) => {
      if (focusedId === found.case_id) move(1);
      setChosen((known) => withoutKey(known, found.case_id));
      if ((filter.status ?? "open") === "open") remove(found.case_id);
      else change(toRow(found));
    },
    onReopened: (found) => {
      for (const each of found) restore(toRow(each));
      if (found[0]) focus(found[0].case_id);
    },
    onUnsaved: (id, isOver) => {
      setUnsaved((known) => new Set([...known].filter((each) => each !== id).concat(isOver ? [] : [id])));
      if (!isOver && focusedId === id) move(1);
    },
  });

  const openBulk = (first: Disposition | null = null) => {
    const selected = rows.flatMap((row) => {
      const case_version = chosen.get(row.case_id);
      return case_version === undefined ? [] : [{ ...row, case_version }];
    });
    setBulk({ rows: selected, first });
  };
  // A key may be faster than the peek pane, so wait briefly for the case. Never open the dialog later, on top of whatever the
  // person is doing by then.
  const openClosing = async (caseId: string, first?: Disposition) => {
    const seen = await soon(cache.ensureQueryData(queries.case(caseId)));
    if (focusNow.current !== caseId || document.querySelector("dialog[open]")) return;
    if (seen) closing.open(seen, first);
    else toast({ kind: "problem", words: "The case could not be loaded." });
  };
  const close = (first?: Disposition) => {
    if (chosen.size > 0) openBulk(first);
    else if (focusedId !== null) void openClosing(focusedId, first);
  };
  const takeOutcomes = (outcomes: ReadonlyMap<string, BulkOutcome>) => {
    const isLeft = (id: string) => ["changed", "failed"].includes(outcomes.get(id)?.kind ?? "");
    done.current = outcomes;
    for (const id of outcomes.keys()) if (!isLeft(id)) remove(id);
    setChosen((known) => new Map([...known].filter(([id]) => isLeft(id))));
  };
  // Offer the undo after the dialog is closed, because nothing behind an open dialog can be pressed.
  const endBulk = () => {
    const closed = (bulk?.rows ?? []).flatMap((row) => {
      const outcome = done.current.get(row.case_id);
      return outcome?.kind === "closed" ? [{ ...row, case_version: outcome.case_version }] : [];
    });
    done.current = new Map();
    setBulk(null);
    if (closed.length > 0) offerMany(closed);
  };
  return { chosen, ...choosing, unsaved, bulk, closing, open: useOpen(), close, openBulk, endBulk, takeOutcomes };
}

function useOpen(): (caseId: string) => void {
  const navigate = useNavigate();
  return useCallback(
    (caseId) => {
      // Record the row in this address first, so that going back returns to it.
      void navigate({ from: "/", to: "/", search: (search) => ({ ...search, case: caseId }), replace: true }).then(() =>
        navigate({ to: "/cases/$caseId", params: { caseId } }),
      );
    },
    [navigate],
  );
}
