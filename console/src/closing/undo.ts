import type { Case } from "@casehound/client";
import { useQueryClient, type QueryClient } from "@tanstack/react-query";
import { dispositionWords } from "../parts/Badges.tsx";
import { wordsOf } from "../parts/States.tsx";
import { toast } from "../parts/Toasts.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { reopenCase, type Desk } from "../changes/desk.ts";

// What the key for undo takes back, on whatever screen the person is by then.
const lastClosed = new WeakMap<Desk, Case>();

// A case as the service just gave it, for all who show it.
export function showCase(cache: QueryClient, found: Case): void {
  cache.setQueryData(["case", found.case_id], found);
  void cache.invalidateQueries({ queryKey: ["cases", "count"] });
}

export function offerUndo(desk: Desk, closed: Case, undo: () => void): void {
  lastClosed.set(desk, closed);
  const words = `Closed the case of ${closed.website_account_id}${outcomeWords(closed)}.`;
  toast({ kind: "done", words, action: { name: "Undo", run: undo } });
}

export function tellClosedBefore(closed: Case): void {
  const { changed_by: by } = closed.current_state;
  toast({ kind: "problem", words: `${by} had closed this case${outcomeWords(closed)} before. Your verdict was not recorded.` });
}

function outcomeWords({ current_state: { disposition } }: Case): string {
  return disposition ? ` as ${dispositionWords[disposition].toLowerCase()}` : "";
}

// Reopens what is given, or what was closed last.
export function useUndo(onReopened: (found: Case) => void): (closed?: Case) => void {
  const { desk } = useWorkspace();
  const cache = useQueryClient();

  async function undo(closed: Case): Promise<void> {
    lastClosed.delete(desk);
    const result = await reopenCase(desk, closed);
    if (result.kind === "refused") return refuse(result.words);
    showCase(cache, result.found);
    if (result.kind === "changed") return refuse(`${result.found.current_state.changed_by} has changed the case since.`);
    onReopened(result.found);
    toast({ kind: "done", words: `The case of ${result.found.website_account_id} is open again.` });
  }

  return (closed = lastClosed.get(desk)) => {
    if (closed) undo(closed).catch((error: unknown) => refuse(wordsOf(error)));
  };
}

function refuse(words: string): void {
  toast({ kind: "problem", words: `Not undone: ${words}` });
}
