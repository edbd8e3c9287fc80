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
import { dropDraft, readDraft } from "./draft.ts";
import { showCase, tellClosedBefore, useReopened, useReopening } from "./undo.ts";

type Opened = {
  seen: Case;
  first: Disposition | null;
  conflict: Case | null;
  // The case as somebody else closed it, while the person was still writing.
  closed: Case | null;
  problem: string | null;
  isBusy: boolean;
};

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

  function finish(seen: Case, result: Closing, verdict?: Verdict): void {
    const isShown = latest.current.opened?.seen.case_id === seen.case_id;
    if ("found" in result) know(result.found);
    const again = reopenedBy(seen, result);
    if (again && isShown) return setOpened(again);
    if (result.kind === "closed" || result.kind === "already-closed") latest.current.watch.onClosed(result.found);
    if (again) return tellLater(again, () => setOpened(again));
    dropDraft(seen.case_id);
    if (isShown) setOpened(null);
    if (result.kind === "closed") offerOne(result.found, verdict);
    if (result.kind === "already-closed") tellClosedBefore(result.found);
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
      finish(seen, result, verdict);
    } catch (error) {
      if (isDelayed) latest.current.watch.onUnsaved?.(id, true);
      finish(seen, { kind: "refused", words: wordsOf(error) });
    }
  }

  // While a dialog shows the person's words, the screen stays at the case that they are about.
  const leave = () => {
    setOpened(null);
    if (opened?.closed) watch.onClosed(opened.closed);
  };

  const element = opened && (
    <CloseDialog
      key={opened.seen.case_id}
      {...opened}
      onSubmit={(verdict) => void submit(opened.seen, verdict)}
      onClose={leave}
    />
  );
  const open = (seen: Case, first: Disposition | null = null) => setOpened({ ...justOpened(seen), first });
  return { element, open, undo: () => undoLast(desk), reopen };
}

function justOpened(seen: Case): Opened {
  return { seen, first: null, conflict: null, closed: null, problem: null, isBusy: false };
}

// What the dialog shows after the answer, or null if nothing is left to do. If somebody else was faster, the person's words stay
// until the person has copied or discarded them.
function reopenedBy(seen: Case, result: Closing): Opened | null {
  const again = justOpened(seen);
  if (result.kind === "changed") return { ...again, conflict: result.found };
  if (result.kind === "refused") return { ...again, problem: result.words };
  const isLate = result.kind === "already-closed" && readDraft(seen.case_id).reason.trim() !== "";
  return isLate ? { ...again, closed: result.found } : null;
}

// The person has moved on, so report the failure in a toast and do not take the focus.
function tellLater({ seen, conflict, closed, problem }: Opened, onReview: () => void): void {
  const name = subjectCaseName(seen.website_account_id, seen.details.subject);
  const why = closed
    ? `${closed.current_state.changed_by} closed it first.`
    : conflict
      ? "It changed since you looked."
      : problem;
  const words = `Not closed: ${name}. ${why ?? ""}`;
  toast({ kind: "problem", words: `${words} Your draft is kept.`, action: { name: "Review", run: onReview } });
}
