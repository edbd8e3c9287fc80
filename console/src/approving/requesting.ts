import { ProblemError, type NewApproval } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { wordsOf } from "../parts/States.tsx";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import type { Desk } from "../changes/desk.ts";

// One intended request keeps one key through all of its attempts.
export async function requestApproval(desk: Desk, body: NewApproval): Promise<void> {
  const idempotencyKey = desk.newKey();
  await desk.outbox.deliver("Requesting approval", () => desk.client.call("requestApproval", { body, idempotencyKey }));
}

export const requestedWords = "Approval requested. You will find the decision in your inbox.";

export function useRequesting(onDone: () => void) {
  const { desk } = useWorkspace();
  const cache = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  async function send(body: NewApproval): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      await requestApproval(desk, body);
      void cache.invalidateQueries({ queryKey: ["approvals"] });
      toast({ kind: "done", words: requestedWords });
      onDone();
    } catch (error) {
      const isStale = error instanceof ProblemError && error.type === "item-version-conflict";
      setProblem(isStale ? "A case has changed since you opened it. Your text is kept. Review the case again." : wordsOf(error));
    }
    setBusy(false);
  }
  return { problem, isBusy, send };
}
