import type { DueTimes } from "../domain/due.ts";
import type { PolicyDefinition } from "../domain/policy.ts";
import { defaultThresholds, type Rule, type Thresholds } from "../domain/rule.ts";
import { sources, type Source } from "../domain/source.ts";
import type { CompiledRule } from "./compile.ts";
import type { LoginRatio } from "./entity.ts";
import { blockRule, isListRuleId, listRuleId } from "./list-rules.ts";
import { readOfList } from "./list-view.ts";
import type { Lists } from "./lists.ts";
import { heldPart, noModels, rate, ratedMoment, thousandths, type ServedModel, type Serving } from "./model/serving.ts";
import { isSensitive, isValue } from "./scene.ts";
import type { compileSentence } from "./sentence.ts";
import { packed, type RuleContext } from "./vector.ts";

export type ActiveRule = { rule: Rule; compiled: CompiledRule; sentence: ReturnType<typeof compileSentence> };
export type RuleSet = {
  revision: number;
  thresholds: Thresholds;
  rules: ActiveRule[];
  serving?: Serving;
  policy?: PolicyDefinition;
  lists?: Lists;
  dueTimes?: DueTimes;
  // No snooze is active after this time.
  snoozedUntil?: string | null;
};

// The parts sum to the log-odds, so each part can be shown as what it contributed.
export type Part = [name: string, logOdds: number];
// What earlier false positives subtract from a rule's weight.
export type Damped = { rule_id: string; logOdds: number; times: number };
// What a snooze subtracts: the whole weight of a rule.
export type Quieted = Omit<Damped, "times">;
export type Verdict = {
  source: Source;
  revision: number;
  thresholds: Thresholds;
  fired: ActiveRule[];
  shadow: ActiveRule[];
  ratio: LoginRatio | null;
  ratioParts: Part[];
  model: RatedByModel | null;
  // The challenger's rating. It is stored, but does not count.
  challenger: { shortId: string; logOdds: number } | null;
  damped: Damped[];
  // What an allow list takes away, so that the score is 1.
  allowed: { name: string; logOdds: number } | null;
  quiet: Quieted[];
  logOdds: number;
  score: Score;
};
// `rules` is the sum of the rules and the ratio, to which the model adds its part.
// `isHeld`: it may not lower the score of the rules.
export type RatedByModel = { served: ServedModel; rules: number; part: number; isHeld: boolean };
// The id under which outcomes of a model's findings are recorded. It cannot be a rule's id, because those have no dot.
export function modelRecordId({ served }: RatedByModel): string {
  return `model.${served.moment}`;
}

export type Score = 1 | 2 | 3 | 4 | 5;

// The ratio has its own unit, and it is high for some genuine log-ins too, such as a new phone on holiday. So only this share of
// it counts, and the ratio alone is never enough for more than score 3. A usual log-in takes away less than most rules add.
const ratioWeight = 0.65;
const ratioParts = { min: -1.5, max: 2.6 };

export function judge(context: RuleContext, set: RuleSet, ratio: LoginRatio | null): Verdict {
  const fired: ActiveRule[] = [];
  const shadow: ActiveRule[] = [];
  for (const active of set.rules) {
    if (active.compiled.test(context)) (active.rule.state === "on" ? fired : shadow).push(active);
  }
  const { type } = context.event;
  const source = sourceIn(context);
  const counts = ratio !== null && ratio.parts.length > 0 && typeof type === "string" && isRated(type);
  // A usual log-in is evidence against a stranger, but not against what the owner is suspected of.
  const ofStrangers = sumOf(fired.filter(({ rule }) => rule.label === "Account Takeover").map(({ rule }) => rule.weight));
  const least = fired.length === 0 ? ratioParts.min : Math.max(-ofStrangers, ratioParts.min);
  const parts = counts ? scaledParts(ratio, least) : [];
  const rules = rounded(sumOf(fired.map(({ rule }) => rule.weight)) + sumOf(parts.map(([, part]) => part)));
  const { revision, thresholds } = set;
  const blocked = blockedBy(context, thresholds);
  const accusing = [...blocked, ...fired];
  const { model, challenger } = rateByModels(context, {
    serving: set.serving ?? noModels,
    source,
    fired: accusing,
    rules,
    thresholds,
  });
  const logOdds = rounded(rules + (model?.part ?? 0) + sumOfWeights(blocked));
  return {
    source,
    revision,
    thresholds,
    fired: accusing,
    shadow,
    ratio: counts ? ratio : null,
    ratioParts: parts,
    model,
    challenger,
    damped: [],
    allowed: null,
    quiet: [],
    logOdds,
    score: scoreOf(logOdds, thresholds, source),
  };
}

// Models and the log-in ratio do not see a block list, because it is not evidence.
function blockedBy({ lists }: RuleContext, thresholds: Thresholds): ActiveRule[] {
  const hits = lists?.hits.filter(({ kind }) => kind === "block") ?? [];
  return hits.map((hit) => {
    const rule = blockRule(hit, thresholds);
    return {
      rule,
      compiled: { reads: [readOfList(hit.name)], test: () => true, instructions: 0 },
      sentence: { reads: [], render: () => rule.sentence },
    };
  });
}

export function isListRule({ rule }: ActiveRule): boolean {
  return isListRuleId(rule.rule_id);
}

type ToRate = { serving: Serving; source: Source; fired: ActiveRule[]; rules: number; thresholds: Thresholds };

function rateByModels(
  context: RuleContext,
  { serving, source, fired, rules, thresholds }: ToRate,
): Pick<Verdict, "model" | "challenger"> {
  const moment = ratedMoment(context, source);
  const champion = moment && serving.champions[moment];
  const challenger = moment && serving.challengers[moment];
  // A rule is somebody's decision. A model that has learned otherwise may lower the rule's score only if the tenant says so.
  const mayLower = fired.every(({ rule }) => serving.released.has(rule.rule_id));
  const partOf = (served: ServedModel) => {
    const part = rate(served, context, rules) - rules;
    return mayLower ? thousandths(part) : heldPart(part, rules, thresholds);
  };
  return {
    model: champion ? { served: champion, rules, part: partOf(champion), isHeld: !mayLower } : null,
    challenger: challenger ? { shortId: challenger.shortId, logOdds: rounded(rules + partOf(challenger)) } : null,
  };
}

// Decisions from before sources existed have none, and are read as `server`.
export function sourceIn({ event }: RuleContext): Source {
  return sources.find((each) => each === event["source"]) ?? "server";
}

// The activities that a stranger would be after. A page view after an unusual log-in says no more than the log-in did.
function isRated(type: string): boolean {
  return type === "login_succeeded" || isSensitive(type) || isValue(type);
}

function scaledParts({ parts }: LoginRatio, least: number): Part[] {
  const scaled = parts.map(([name, part]): Part => [`login.${name}`, rounded(ratioWeight * part)]);
  const sum = sumOf(scaled.map(([, part]) => part));
  const rest = rounded(Math.min(Math.max(sum, least), ratioParts.max) - sum);
  return rest === 0 ? scaled : [...scaled, ["login.usual", rest]];
}

// Anybody can send what a page claims, so it never scores higher than this.
const pageScoreMax = 3;

export function scoreOf(logOdds: number, thresholds: Thresholds, source: Source = "server"): Score {
  if (source === "page") return logOdds >= thresholds.score_3 ? pageScoreMax : logOdds >= thresholds.score_2 ? 2 : 1;
  if (logOdds >= thresholds.score_5) return 5;
  if (logOdds >= thresholds.score_4) return 4;
  if (logOdds >= thresholds.score_3) return 3;
  return logOdds >= thresholds.score_2 ? 2 : 1;
}

// The decision as it is stored with the activity: enough to explain it later, to replay other rules on it, and to learn from it.
// `decided` is what counts towards the score, if some of the rules are about another subject.
export function decisionText(verdict: Verdict, context: RuleContext, decided: Verdict = verdict): string {
  const { revision, shadow, model, challenger, thresholds } = verdict;
  const { logOdds, ratioParts, damped, allowed, quiet } = decided;
  const { lists } = context;
  const isListed = lists !== undefined && lists.names.size > 0;
  const isQuiet = verdict.fired.length === 0 && shadow.length === 0 && !isListed;
  const isPlain = isQuiet && ratioParts.length === 0 && verdict.ratioParts.length === 0;
  // Most events are like this, and building the text at once is several times as fast.
  if (isPlain && damped.length === 0 && !model && !challenger && isDefault(thresholds))
    return `{"v":${revision},"l":${logOdds},"f":"${packed(context)}"}`;
  const fired = verdict.fired.filter((active) => !isListRule(active));
  const ids = fired.filter((active) => !decided.fired.includes(active)).map(({ rule }) => rule.rule_id);
  const elsewhere = model && !decided.model ? [...ids, modelRecordId(model)] : ids;
  const isWhole = elsewhere.length === 0 && ratioParts.length === verdict.ratioParts.length;
  // Like damping, lists act after the model, so they have a third member too.
  const blocked = decided.fired.filter(isListRule).map(({ rule }) => [rule.rule_id, rule.weight, 0]);
  const parts = [
    ...ratioParts,
    ...damped.map(({ rule_id, logOdds: taken, times }) => [`damped.${rule_id}`, taken, times]),
    ...quiet.map(({ rule_id, logOdds: taken }) => [`quiet.${rule_id}`, taken, 0]),
    ...blocked,
    ...(allowed ? [[listRuleId(allowed.name), allowed.logOdds, 0]] : []),
  ];
  const head = {
    v: revision,
    l: logOdds,
    ...(!isDefault(thresholds) && { t: thresholds }),
    ...(fired.length > 0 && { r: versionsOf(fired) }),
    ...(shadow.length > 0 && { s: versionsOf(shadow) }),
    ...(parts.length > 0 && { c: parts }),
    ...(model && { m: [model.served.shortId, (decided.model ?? model).part] }),
    ...(challenger && { n: [challenger.shortId, challenger.logOdds] }),
    ...(!isWhole && { o: [model ? model.rules : rulesIn(verdict), elsewhere] }),
    ...(isListed && { b: [lists.revision, ...lists.names] }),
  };
  return `${JSON.stringify(head).slice(0, -1)},"f":"${packed(context)}"}`;
}

// The sum of the rules and the log-in ratio, which a model would read.
function rulesIn({ logOdds, fired }: Verdict): number {
  return rounded(logOdds - sumOfWeights(fired.filter(isListRule)));
}

function versionsOf(rules: ActiveRule[]): Record<string, number> {
  return Object.fromEntries(rules.map(({ rule }) => [rule.rule_id, rule.rule_version]));
}

function isDefault(given: Thresholds): boolean {
  const { score_2, score_3, score_4, score_5 } = defaultThresholds;
  return given.score_2 === score_2 && given.score_3 === score_3 && given.score_4 === score_4 && given.score_5 === score_5;
}

export function sumOfWeights(rules: ActiveRule[]): number {
  return sumOf(rules.map(({ rule }) => rule.weight));
}

function sumOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
