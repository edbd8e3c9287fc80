import { ProblemError, type Policy, type PolicyDefinition, type PolicyTrial } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { wordsOf } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

type Draft = { base: Policy; wanted: PolicyDefinition };
export type Tried = { of: PolicyDefinition; result: PolicyTrial };

function definitionOf({ mode, rows }: PolicyDefinition): PolicyDefinition {
  return { mode, rows };
}

function isSame(one: PolicyDefinition, other: PolicyDefinition): boolean {
  return JSON.stringify(definitionOf(one)) === JSON.stringify(definitionOf(other));
}

// The members of a row as the console names them.
const memberWords: Record<string, string> = {
  min_score: "the lowest score",
  max_score: "the highest score",
  moments: "a moment",
  labels: "a label",
  lists: "a list",
  name: "the name",
};

// Turns a field such as `rows[2].max_score` into `In row 3, the highest score`, because people count from 1.
function placeOf(field: string): string {
  const [, index, member] = /^rows\[(\d+)\](?:\.(\w+))?/.exec(field) ?? [];
  if (index === undefined) return field;
  const number = Number(index) + 1;
  return member === undefined ? `Row ${number}` : `In row ${number}, ${memberWords[member] ?? member}`;
}

function refusalOf(error: unknown): string {
  const errors = error instanceof ProblemError ? (error.errors ?? []) : [];
  if (errors.length === 0) return wordsOf(error);
  const words = errors.map(({ field, message }) => `${placeOf(field)} ${message.replace("min_score", "the lowest score")}.`);
  return words.join(" ");
}

// Keeps a draft, the version that it is based on, and the last try-out.
export function usePolicyDraft(stored: Policy) {
  const { client, desk } = useWorkspace();
  const cache = useQueryClient();
  const [draft, setDraft] = useState<Draft | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState<"save" | "try" | null>(null);
  const [tried, setTried] = useState<Tried | null>(null);
  const wanted = draft?.wanted ?? definitionOf(stored);
  const isTouched = draft !== null && !isSame(draft.base, draft.wanted);
  const isOld = isTouched && busy === null && draft.base.policy_version !== stored.policy_version;

  async function attempt(): Promise<void> {
    setBusy("try");
    setProblem(null);
    try {
      setTried({ of: wanted, result: await client.call("tryPolicy", { body: wanted }) });
    } catch (error) {
      setProblem(refusalOf(error));
    }
    setBusy(null);
  }

  async function save(): Promise<void> {
    if (!draft) return;
    setBusy("save");
    setProblem(null);
    const body = { ...wanted, policy_version: draft.base.policy_version };
    try {
      const found = await desk.outbox.deliver("Saving the policy", () => client.call("updatePolicy", { body }));
      cache.setQueryData(["policy"], found);
      await cache.invalidateQueries({ queryKey: ["policy", "versions"] });
      setDraft(null);
      toast({ kind: "done", words: `The policy was saved as version ${found.policy_version}.` });
    } catch (error) {
      if (error instanceof ProblemError && error.type === "item-version-conflict")
        await cache.invalidateQueries({ queryKey: ["policy"] });
      else setProblem(refusalOf(error));
    }
    setBusy(null);
  }

  function change(part: Partial<PolicyDefinition>): void {
    setDraft({ base: draft?.base ?? stored, wanted: { ...wanted, ...part } });
    setProblem(null);
  }

  return {
    wanted,
    problem,
    busy,
    isTouched,
    isOld,
    tried: tried !== null && isSame(tried.of, wanted) ? tried.result : null,
    change,
    save,
    attempt,
    putBack: () => setDraft(null),
    goOn: () => draft && setDraft({ ...draft, base: stored }),
  };
}

export type PolicyDrafting = ReturnType<typeof usePolicyDraft>;
