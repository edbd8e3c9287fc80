import type { Rule, RuleVersion } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { wordsOf } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { saveRule, type FieldErrors, type RuleDefinition } from "../../changes/rules.ts";
import {
  carryOver,
  draftOf,
  dropRuleDraft,
  isTouched,
  newDraft,
  readRuleDraft,
  saveRuleDraft,
  type RuleDraft,
} from "./rule-draft.ts";

type Trouble = { words: string | null; errors: FieldErrors };

const fine: Trouble = { words: null, errors: [] };

function begin(rule: Rule | null): RuleDraft {
  const stored = readRuleDraft(rule?.rule_id ?? null);
  if (stored && isTouched(stored)) return stored;
  return rule ? draftOf(rule) : newDraft();
}

// The draft of an existing or new rule. The text is kept whatever the service answers.
export function useRuleDraft(rule: Rule | null, onSaved: (found: RuleVersion) => void) {
  const { desk } = useWorkspace();
  const cache = useQueryClient();
  const [draft, setDraft] = useState(() => begin(rule));
  const [trouble, setTrouble] = useState(fine);
  const [isBusy, setBusy] = useState(false);
  const storedAs = rule?.rule_id ?? null;

  function put(next: RuleDraft): void {
    setDraft(next);
    if (isTouched(next)) saveRuleDraft(storedAs, next);
    else dropRuleDraft(storedAs);
  }

  function change(part: Partial<RuleDefinition>): void {
    put({ ...draft, wanted: { ...draft.wanted, ...part } });
    // An error belongs to the text that was sent, so drop it once that text changes.
    const errors = trouble.errors.filter(({ field }) => !Object.hasOwn(part, field));
    setTrouble({ words: errors.length === 0 ? null : trouble.words, errors });
  }

  function rename(ruleId: string): void {
    put({ ...draft, rule_id: ruleId });
    setTrouble({ ...trouble, errors: trouble.errors.filter(({ field }) => field !== "rule_id") });
  }

  async function save(): Promise<void> {
    setBusy(true);
    setTrouble(fine);
    try {
      const body = { ...draft.wanted, rule_version: draft.base.rule_version };
      const result = await saveRule(desk, draft.rule_id, body);
      if (result.kind === "refused") return setTrouble({ words: result.words, errors: result.errors });
      const isTaken = result.kind === "changed" && rule === null;
      if (isTaken) return setTrouble({ words: null, errors: [{ field: "rule_id", message: "Another rule has this id." }] });
      cache.setQueryData<Rule>(["rules", "one", draft.rule_id], (known) => known && { ...known, ...result.found });
      void cache.invalidateQueries({ queryKey: ["rules"] });
      if (result.kind === "changed") return;
      dropRuleDraft(storedAs);
      onSaved(result.found);
    } catch (error) {
      setTrouble({ words: wordsOf(error), errors: [] });
    } finally {
      setBusy(false);
    }
  }

  const now = rule && rule.rule_version !== draft.base.rule_version && !isBusy ? rule : null;
  return {
    draft,
    trouble,
    isBusy,
    // The rule as others have changed it meanwhile.
    conflict: now,
    isTouched: isTouched(draft),
    change,
    rename,
    save,
    setErrors: (errors: FieldErrors) => setTrouble({ words: null, errors }),
    goOn: () => now && put(carryOver(draft, now)),
    takeTheirs: () => now && put(draftOf(now)),
    discard: () => {
      dropRuleDraft(storedAs);
      return draft;
    },
  };
}

export type Drafting = ReturnType<typeof useRuleDraft>;
