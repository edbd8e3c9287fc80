import type { Case } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { undoLast } from "../parts/offers.ts";
import { wordsOf } from "../parts/States.tsx";
import { subjectCaseName } from "../parts/subject.ts";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { closeCase, type Closing, type Disposition, type Verdict } from "../changes/desk.ts";
import { CloseDialog } from "./CloseDialog.tsx";
import { dropDraft } from "./draft.ts";
import { showCase, tellClosedBefore, useReopened, useReopening } from "./undo.ts";

type Opened = { seen: Case; first: Disposition | null; conflict: Case | null; problem: string | null; isBusy: boolean };

type ClosingEvents = {
  onClosed: (found: Case) => void;
  onReopened: (found: Case[]) => void;
  // The close is still being sent and the person moves on. `isOver` is true once the service has answered.
  onUnsaved?: (caseId: string, isOver: boolean) => void;
};

// Every screen closes and reopens cases through this hook. `element` must be rendered.
export function useClosing(watch: ClosingEvents): {
  element: ReactNode;
  open: (seen: Case, first?: Disposition) => void;
  undo: () => void;
  reopen: (closed: Case) => void;
} {
  const { desk } = useWorkspace();
  const cache = useQueryClient();
  const [opened, setOpened] = useState<Opened | null>(null);
  const latest = useRef({ watch, opened });
  useEffect(() => {
    latest.current = { watch, opened };
  });

  const know = (found: Case) => showCase(cache, found);
  const { offerOne, reopen } = useReopening();
  useReopened(watch.onReopened);

  function finish(seen: Case, result: Closing, isForMembers = false): void {
    const isShown = latest.current.opened?.seen.case_id === seen.case_id;
    if (result.kind === "closed" || result.kind === "already-closed") {
      know(result.found);
      dropDraft(seen.case_id);
      if (isShown) setOpened(null);
      latest.current.watch.onClosed(result.found);
      if (result.kind === "closed") offerOne(result.found, isForMembers);
      else tellClosedBefore(result.found);
      return;
    }
    const conflict = result.kind === "changed" ? result.found : null;
    const problem = result.kind === "refused" ? result.words : null;
    if (conflict) know(conflict);
    const again = { seen, first: null, conflict, problem, isBusy: false };
    if (isShown) return setOpened(again);
    tellLater(again, () => setOpened(again));
  }

  async function submit(seen: Case, verdict: Verdict): Promise<void> {
    setOpened((known) => known && { ...known, isBusy: true, problem: null });
    const { case_id: id } = seen;
    let isDelayed = false;
    const onDelay = () => {
      isDelayed = true;
      setOpened(null);
      latest.current.watch.onUnsaved?.(id, false);
    };
    try {
      const result = await closeCase(desk, verdict, onDelay);
      if (isDelayed) latest.current.watch.onUnsaved?.(id, true);
      finish(seen, result, verdict.isForMembers);
    } catch (error) {
      if (isDelayed) latest.current.watch.onUnsaved?.(id, true);
      finish(seen, { kind: "refused", words: wordsOf(error) });
    }
  }

  const element = opened && (
    <CloseDialog
      key={opened.seen.case_id}
      {...opened}
      onSubmit={(verdict) => void submit(opened.seen, verdict)}
      onClose={() => setOpened(null)}
    />
  );
  const open = (seen: Case, first: Disposition | null = null) =>
    setOpened({ seen, first, conflict: null, problem: null, isBusy: false });
  return { element, open, undo: () => undoLast(desk), reopen };
}

// The person has moved on, so report the failure in a toast and do not take the focus.
function tellLater({ seen, conflict, problem }: Opened, onReview: () => void): void {
  const name = subjectCaseName(seen.website_account_id, seen.details.subject);
  const words = conflict ? `Not closed: ${name}. It changed since you looked.` : `Not closed: ${name}. ${problem ?? ""}`;
  toast({ kind: "problem", words: `${words} Your draft is kept.`, action: { name: "Review", run: onReview } });
}
