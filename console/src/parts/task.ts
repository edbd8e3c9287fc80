import { useState } from "react";
import { wordsOf } from "./States.tsx";

// Something a dialog does once: it is busy meanwhile, and a refusal's words are kept to be shown.
export function useTask(): { isBusy: boolean; problem: string | null; run: (task: () => Promise<void>) => void } {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  async function attempt(task: () => Promise<void>): Promise<void> {
    setBusy(true);
    setProblem(null);
    try {
      await task();
    } catch (error) {
      setProblem(wordsOf(error));
    }
    setBusy(false);
  }
  return { isBusy, problem, run: (task) => void attempt(task) };
}
