import type { Case } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { wordsOf } from "../parts/States.tsx";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace } from "../session/workspace.tsx";

// Adds a note to a case. Returns whether the service has stored it.
export function useAddNote(caseId: string): { add: (text: string) => Promise<boolean>; isBusy: boolean } {
  const { desk } = useWorkspace();
  const cache = useQueryClient();
  const [isBusy, setBusy] = useState(false);

  async function add(text: string): Promise<boolean> {
    if (isBusy || text.trim() === "") return false;
    setBusy(true);
    // One intended note keeps one key through all attempts, so it is stored once.
    const idempotencyKey = desk.newKey();
    const params = { case_id: caseId };
    try {
      const { case_version } = await desk.outbox.deliver("Adding a note", () =>
        desk.client.call("addCaseNote", { params, body: { text }, idempotencyKey }),
      );
      // A close that follows at once must not conflict with the person's own note.
      cache.setQueryData<Case>(["case", caseId], (known) =>
        known?.case_version === case_version - 1 ? { ...known, case_version } : known,
      );
      void cache.invalidateQueries({ queryKey: ["case", caseId] });
      return true;
    } catch (error) {
      toast({ kind: "problem", words: `The note was not added: ${wordsOf(error)} Your text is kept.` });
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { add, isBusy };
}
