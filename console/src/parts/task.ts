import { useState } from "react";
import { wordsOf } from "./States.tsx";

// Something that a dialog does once. It tracks whether the task is running and keeps the message if it fails.
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
