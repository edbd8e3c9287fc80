import { ProblemError, type Case, type NewHandover } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { wordsOf } from "../parts/States.tsx";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { useRecipientName } from "./recipients.ts";

// Sends a handover of the version that the person saw. After a conflict, the next one is of the version that the strip shows.
export function useSending(seen: Case, onDone: () => void) {
  const { desk } = useWorkspace();
  const cache = useQueryClient();
  const nameOf = useRecipientName();
  const [conflict, setConflict] = useState<Case | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const params = { case_id: seen.case_id };

  async function send(to: Omit<NewHandover, "case_version">): Promise<void> {
    setBusy(true);
    setProblem(null);
    // One intended handover keeps one key through all attempts.
    const idempotencyKey = desk.newKey();
    const body = { ...to, case_version: (conflict ?? seen).case_version };
    try {
      await desk.outbox.deliver("Handing over a case", () => desk.client.call("handOverCase", { params, body, idempotencyKey }));
      void cache.invalidateQueries({ queryKey: ["case", seen.case_id] });
      void cache.invalidateQueries({ queryKey: ["digest", seen.website_account_id, seen.case_id] });
      void cache.invalidateQueries({ queryKey: ["cases", "count"] });
      toast({ kind: "done", words: `Handed over to ${nameOf(to.handed_to)}.` });
      onDone();
    } catch (error) {
      await refuse(error);
    }
    setBusy(false);
  }

  async function refuse(error: unknown): Promise<void> {
    const isChanged = error instanceof ProblemError && error.type === "item-version-conflict";
    try {
      const now = isChanged ? await desk.client.call("getCase", { params }) : null;
      if (now?.status === "OPEN") return setConflict(now);
      setProblem(now ? "The case has been closed in the meantime. Your text is kept." : wordsOf(error));
    } catch (fault) {
      setProblem(wordsOf(fault));
    }
  }

  return { conflict, problem, isBusy, send };
}
