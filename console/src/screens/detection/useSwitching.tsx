import type { Rule, RuleVersion } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { nameOfActor } from "../../parts/Actor.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { definitionOf, saveRule, type Saving } from "../../changes/rules.ts";
import type { RuleState } from "./address.ts";
import { stateFacts } from "./StateMark.tsx";
import { UntriedDialog } from "./UntriedDialog.tsx";
import { isTried, useBacktests, useStartTry } from "./trying.tsx";

// The rule list and the rule page both switch rules through this hook. `element` must be rendered.
export function useSwitching(): { element: ReactNode; isBusy: boolean; switchTo: (rule: Rule, state: RuleState) => void } {
  const { desk } = useWorkspace();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const backtests = useBacktests();
  const startTry = useStartTry();
  const [warned, setWarned] = useState<Rule | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function send(rule: RuleVersion, state: RuleState): Promise<void> {
    setBusy(true);
    try {
      const body = { ...definitionOf(rule), state, rule_version: rule.rule_version };
      tell(rule, await saveRule(desk, rule.rule_id, body));
    } catch (error) {
      toast({ kind: "problem", words: `${rule.name} was not switched: ${wordsOf(error)}` });
    } finally {
      setBusy(false);
      await cache.invalidateQueries({ queryKey: ["rules"] });
    }
  }

  function tell(before: RuleVersion, result: Saving): void {
    if (result.kind === "refused")
      return void toast({ kind: "problem", words: `${before.name} was not switched: ${result.words}` });
    const { found } = result;
    if (result.kind === "changed") {
      const versions = `version ${before.rule_version} to ${found.rule_version}`;
      const words = `${nameOfActor(found.updated_by)} has changed ${found.name} since you looked (${versions}). The rule was not switched.`;
      return void toast({ kind: "problem", words });
    }
    const action = { name: "Undo", run: () => void send(found, before.state) };
    toast({ kind: "done", words: `${found.name} is ${stateFacts[found.state].name.toLowerCase()}.`, action });
  }

  function switchTo(rule: Rule, state: RuleState): void {
    if (rule.state === state) return;
    if (state === "on" && !isTried(backtests, rule)) setWarned(rule);
    else void send(rule, state);
  }

  async function tryFirst(rule: Rule): Promise<void> {
    setWarned(null);
    const started = await startTry(rule, rule.rule_id);
    if (started.kind === "refused") return void toast({ kind: "problem", words: `The backtest did not start: ${started.words}` });
    await navigate({ to: "/detection/$ruleId", params: { ruleId: rule.rule_id }, search: { backtest: started.id } });
  }

  const element = warned && (
    <UntriedDialog
      name={warned.name}
      shadowHits={warned.shadow_hits_7d}
      onClose={() => setWarned(null)}
      onTry={() => void tryFirst(warned)}
      onAnyway={() => {
        setWarned(null);
        void send(warned, "on");
      }}
    />
  );
  return { element, isBusy, switchTo };
}
