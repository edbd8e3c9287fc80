import type { Decision, FiredRule, StoredDecision } from "../domain/decision.ts";
import { defaultThresholds, type RuleVersion } from "../domain/rule.ts";
import { ratioId } from "../domain/snooze.ts";
import { compileRule } from "./compile.ts";
import { valuesOf } from "./draft.ts";
import { RuleFault } from "./fault.ts";
import { findField } from "./field-name.ts";
import { timesIn } from "./finding.ts";
import { isListRuleId, listOfRuleId } from "./list-rules.ts";
import type { ListView } from "./list-view.ts";
import { partWords } from "./model-finding.ts";
import { partNames, partsOf, type ModelPart, type ServedModel } from "./model/serving.ts";
import { scoreOf, sourceIn } from "./score.ts";
import { compileSentence } from "./sentence.ts";
import { contextOf, unpack, type Attributes, type RuleContext } from "./vector.ts";

type Stored = { decision: StoredDecision; attributes: Attributes; type: string; versions: RuleVersion[]; model?: ServedModel };
type Explained = Pick<
  Decision,
  | "log_odds"
  | "thresholds"
  | "revision"
  | "features"
  | "rules"
  | "other_rules"
  | "shadow_rules"
  | "lists"
  | "lists_revision"
  | "contributions"
  | "model"
  | "recomputed"
>;

// Explains a decision from what was stored with it and from the rule versions that it names. The current rules do not matter.
export function explain({ decision, attributes, type, versions, model }: Stored): Explained {
  const { v: revision = 0, l: log_odds = 0, t: thresholds = defaultThresholds, c: contributions = [], f: vector = "" } = decision;
  const features = unpack(vector);
  const [lists_revision, ...lists] = decision.b ?? [];
  const context = { ...contextOf(features, attributes), lists: storedView(lists_revision, lists) };
  const named = (given: Record<string, number> = {}) =>
    versions
      .filter((rule) => Object.hasOwn(given, rule.rule_id) && given[rule.rule_id] === rule.rule_version)
      .toSorted((a, b) => b.weight - a.weight || (a.rule_id < b.rule_id ? -1 : 1));
  const all = named(decision.r);
  const [whole, elsewhere = []] = decision.o ?? [];
  const [fired, others] = [
    all.filter(({ rule_id }) => !elsewhere.includes(rule_id)),
    all.filter(({ rule_id }) => elsewhere.includes(rule_id)),
  ];
  const [records, compared] = [contributions.filter(isRecord), contributions.filter((each) => !isRecord(each))];
  const rules = sumOf([...fired.map(({ weight }) => weight), ...compared.map(([, part]) => part)]);
  // The model read the rules' full weights, before damping.
  const rating = elsewhere.some((name) => name.startsWith("model.")) ? undefined : decision.m;
  const rated = rating && ratedBy(rating, model, { context, rules: whole ?? rules });
  const recomputed = sumOf([rules, ...records.map(([, part]) => part), rated?.log_odds ?? 0]);
  return {
    log_odds,
    thresholds,
    revision,
    features: Object.entries(features).map(([name, value]) => ({ name, plain_name: plainName(name), value })),
    rules: fired.map((rule) => firedRule(rule, context)),
    other_rules: others.map((rule) => firedRule(rule, context)),
    shadow_rules: named(decision.s).map((rule) => firedRule(rule, context)),
    lists,
    ...(lists_revision !== undefined && { lists_revision }),
    contributions: contributions.map(([name, part, times]) => ({
      name,
      plain_name: partName(name, times, { part, fired }),
      log_odds: part,
    })),
    ...(rated && { model: rated }),
    recomputed: { log_odds: recomputed, score: type === "fraud_report" ? 5 : scoreOf(recomputed, thresholds, sourceIn(context)) },
  };
}

// What a rule found in lists at that time. Nothing else can be looked up later.
function storedView(revision = 0, names: string[]): ListView {
  const isStored = (name: string) => names.includes(name);
  return { revision, hits: [], names: new Set(names), hasOwn: isStored, has: isStored };
}

// Whether the contribution acts after the model: damping by earlier false positives, a quiet rule, or a list.
function isRecord([, , times]: NonNullable<StoredDecision["c"]>[number]): boolean {
  return times !== undefined;
}

function sumOf(parts: number[]): number {
  return Math.round(parts.reduce((sum, part) => sum + part, 0) * 1000) / 1000;
}

type Rated = NonNullable<Decision["model"]>;

function ratedBy(
  [model_id, part]: NonNullable<StoredDecision["m"]>,
  served: ServedModel | undefined,
  { context, rules }: { context: RuleContext; rules: number },
): Rated {
  const isStored = served?.shortId === model_id;
  const parts: ModelPart[] = isStored ? partsOf(served, context, { rules, part }) : [[partNames.other, part]];
  const contributions = parts.map(([name, log_odds]) => ({ name, plain_name: partWords[name] ?? plainName(name), log_odds }));
  return { model_id, log_odds: part, contributions };
}

function plainName(name: string): string {
  return findField(name)?.plain ?? name;
}

function partName(name: string, times: number | undefined, { part, fired }: { part: number; fired: RuleVersion[] }): string {
  if (isListRuleId(name)) return `On the ${part > 0 ? "block" : "allow"} list ${listOfRuleId(name)}`;
  return times === undefined ? plainName(name) : `${ruleName(name, fired)}: ${recordWords(times)}`;
}

function recordWords(times: number): string {
  return times === 0 ? "quiet after a false positive" : `closed as a false positive ${timesIn(times)}`;
}

// The name begins with `damped.` or `quiet.`.
function ruleName(name: string, fired: RuleVersion[]): string {
  const id = name.slice(name.indexOf(".") + 1);
  if (id === ratioId) return "Unusual log-in";
  return id.startsWith("model.") ? "Model" : (fired.find(({ rule_id }) => rule_id === id)?.name ?? id);
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
