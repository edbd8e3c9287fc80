import { ProblemError, type BacktestListItem } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { wordsOf } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import type { FieldErrors, RuleDefinition } from "../../changes/rules.ts";
import { useDetection } from "./queries.ts";

export const tryDays = 30;

export type Tried = Pick<RuleDefinition, "expression" | "about">;
export type Started = { kind: "started"; id: string } | { kind: "refused"; words: string; errors: FieldErrors };

// Only a finished backtest counts.
export function isTried(backtests: BacktestListItem[], { expression, about }: Tried): boolean {
  return backtests.some((each) => each.status === "DONE" && each.expression === expression && each.about === about);
}

export function useBacktests(): BacktestListItem[] {
  return useQuery(useDetection().backtests).data ?? [];
}

// Not retried, because a repeat would start a second backtest.
export function useStartTry(): (draft: Tried, ruleId: string) => Promise<Started> {
  const { client } = useWorkspace();
  const cache = useQueryClient();
  return async ({ expression, about }, ruleId) => {
    try {
      const body = { expression, about, days: tryDays, ...(ruleId !== "" && { label: ruleId }) };
      const made = await client.call("createBacktest", { body });
      cache.setQueryData(["backtests", "one", made.backtest_id], made);
      void cache.invalidateQueries({ queryKey: ["backtests", "list"] });
      return { kind: "started", id: made.backtest_id };
    } catch (error) {
      const errors = error instanceof ProblemError ? (error.errors ?? []) : [];
      return { kind: "refused", words: wordsOf(error), errors };
    }
  };
}
