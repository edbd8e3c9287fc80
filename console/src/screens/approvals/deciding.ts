import { ProblemError, type ApprovalDecision } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { wordsOf } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

const doneWords = { APPROVED: "Approved and applied.", REJECTED: "Rejected.", WITHDRAWN: "Withdrawn." };

// Decides a request. If a case has changed since the request, nothing is applied, and the request is loaded again.
export function useDeciding(approvalId: string, onDone: () => void) {
  const { desk } = useWorkspace();
  const cache = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  async function decide(status: ApprovalDecision["status"], note: string): Promise<void> {
    setBusy(true);
    setProblem(null);
    const body = { status, ...(note !== "" && { note }) };
    try {
      // Repeating a decision changes nothing, so it is safe to retry.
      const send = () => desk.client.call("decideApproval", { params: { approval_id: approvalId }, body });
      await desk.outbox.deliver("Deciding a request", send);
      toast({ kind: "done", words: doneWords[status] });
      for (const key of ["approvals", "case", "cases", "digest", "account"]) void cache.invalidateQueries({ queryKey: [key] });
      onDone();
    } catch (error) {
      const isStale = error instanceof ProblemError && error.type === "item-version-conflict";
      setProblem(isStale ? "A case has changed since the request. Nothing was applied." : wordsOf(error));
      void cache.invalidateQueries({ queryKey: ["approvals"] });
    }
    setBusy(false);
  }
  return { problem, isBusy, decide };
}
