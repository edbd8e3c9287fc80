import { compileRule } from "../src/detection/compile.ts";
import type { ActiveRule, RuleSet } from "../src/detection/score.ts";
import { compileSentence } from "../src/detection/sentence.ts";
import { defaultThresholds, type RuleDefinition } from "../src/domain/rule.ts";

// An active rule with default values for what a test does not care about.
export function active(given: Partial<RuleDefinition> & { rule_id: string }): ActiveRule {
  const rule = {
    name: `Rule ${given.rule_id}`,
    expression: `event.value >= 0 && account.events_1h >= 0`,
    sentence: `${given.rule_id} of {event.value}.`,
    label: "Bot" as const,
    weight: 1,
    about: "account" as const,
    state: "on" as const,
    rule_version: 1,
    updated_at: "2026-11-15T09:30:00.000Z",
    updated_by: "system",
    ...given,
  };
  return { rule, compiled: compileRule(rule.expression), sentence: compileSentence(rule.sentence) };
}

export function ruleSet(...rules: ActiveRule[]): RuleSet {
  return { revision: 7, thresholds: defaultThresholds, rules };
}
