import type { Decision, FiredRule, StoredDecision } from "../domain/decision.ts";
import { defaultThresholds, type RuleVersion } from "../domain/rule.ts";
import { compileRule } from "./compile.ts";
import { valuesOf } from "./draft.ts";
import { RuleFault } from "./fault.ts";
import { findField } from "./field-name.ts";
import { scoreOf, sourceIn } from "./score.ts";
import { compileSentence } from "./sentence.ts";
import { contextOf, unpack, type Attributes, type RuleContext } from "./vector.ts";

type Stored = { decision: StoredDecision; attributes: Attributes; type: string; versions: RuleVersion[] };
type Explained = Pick<
  Decision,
  "log_odds" | "thresholds" | "revision" | "features" | "rules" | "shadow_rules" | "contributions" | "recomputed"
>;

// Explains a decision from what was stored with it and from the rule versions that it names. The current rules do not matter.
export function explain({ decision, attributes, type, versions }: Stored): Explained {
  const { v: revision = 0, l: log_odds = 0, t: thresholds = defaultThresholds, c: contributions = [], f: vector = "" } = decision;
  const features = unpack(vector);
  const context = contextOf(features, attributes);
  const named = (given: Record<string, number> = {}) =>
    versions
      .filter((rule) => Object.hasOwn(given, rule.rule_id) && given[rule.rule_id] === rule.rule_version)
      .toSorted((a, b) => b.weight - a.weight || (a.rule_id < b.rule_id ? -1 : 1));
  const fired = named(decision.r);
  const sum = [...fired.map(({ weight }) => weight), ...contributions.map(([, part]) => part)].reduce((a, b) => a + b, 0);
  const recomputed = Math.round(sum * 1000) / 1000;
  return {
    log_odds,
    thresholds,
    revision,
    features: Object.entries(features).map(([name, value]) => ({ name, plain_name: plainName(name), value })),
    rules: fired.map((rule) => firedRule(rule, context)),
    shadow_rules: named(decision.s).map((rule) => firedRule(rule, context)),
    contributions: contributions.map(([name, part]) => ({ name, plain_name: plainName(name), log_odds: part })),
    recomputed: { log_odds: recomputed, score: type === "fraud_report" ? 5 : scoreOf(recomputed, thresholds, sourceIn(context)) },
  };
}

function plainName(name: string): string {
  return findField(name)?.plain ?? name;
}

function firedRule(rule: RuleVersion, context: RuleContext): FiredRule {
  const { rule_id, rule_version, name, label, weight, expression } = rule;
  const sentence = orOld(() => compileSentence(rule.sentence).render(context), rule.sentence);
  const reads = orOld(() => compileRule(expression).reads, []);
  return { rule_id, rule_version, name, label, weight, expression, sentence, values: valuesOf(reads, context) };
}

// An old version may read fields that the catalogue no longer has. Then it is shown as it was written.
function orOld<T>(make: () => T, old: T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof RuleFault) return old;
    throw error;
  }
}
