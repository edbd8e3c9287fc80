import { useQueryClient, type QueryKey } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "./Button.tsx";
import { Alert } from "./Field.tsx";
import { wordsOf } from "./States.tsx";
import { toast } from "./Toasts.tsx";

type Stored<T> = {
  stored: T;
  versionOf: (settings: T) => number;
  queryKey: QueryKey;
  send: (settings: T) => Promise<T>;
  // For the messages: what is stored, and what is said after it was saved.
  name: string;
  saved: string;
};

export type Draft = { problem: string | null; isBusy: boolean; isStale: boolean; isChanged: boolean; name: string } & Record<
  "onReset" | "onSave",
  () => void
>;

// Settings that a person is changing. A draft keeps the version that it started from, so nothing typed is lost when a colleague
// saves first.
export function useDraft<T extends object>({ stored, versionOf, queryKey, send, name, saved }: Stored<T>) {
  const cache = useQueryClient();
  const [draft, setDraft] = useState<T | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const settings = draft ?? stored;
  const isStale = versionOf(settings) !== versionOf(stored);
  async function save(): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      cache.setQueryData(queryKey, await send(settings));
      setDraft(null);
      toast({ kind: "done", words: saved });
    } catch (error) {
      setProblem(wordsOf(error));
      // Loads what a colleague saved first.
      void cache.invalidateQueries({ queryKey });
    }
    setBusy(false);
  }
  const state: Draft = {
    problem: isStale ? `Somebody else changed the ${name}. Your changes have not been saved.` : problem,
    isBusy,
    isStale,
    isChanged: draft !== null && (isStale || JSON.stringify(draft) !== JSON.stringify(stored)),
    name,
    onReset: () => setDraft(null),
    onSave: () => void save(),
  };
  return { settings, setDraft, change: (some: Partial<T>) => setDraft({ ...settings, ...some }), state };
}

export function DraftEnd({ draft, isOff }: { draft: Draft; isOff: boolean }) {
  const { problem, isBusy, isStale, isChanged, name, onReset, onSave } = draft;
  return (
    <>
      {problem !== null && (
        <div className="mt-4">
          <Alert>{problem}</Alert>
        </div>
      )}
      {!isOff && (
        <div className="mt-4 flex justify-end gap-2">
          <Button disabled={!isChanged || isBusy} onClick={onReset}>
            {isStale ? `Show the current ${name}` : "Reset"}
          </Button>
          <Button look="primary" disabled={!isChanged || isStale || isBusy} onClick={onSave}>
            {isBusy ? "Saving…" : "Save"}
          </Button>
        </div>
      )}
    </>
  );
}
