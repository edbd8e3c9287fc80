import { compileRule } from "../service/src/detection/compile.ts";
import { defaultRules } from "../service/src/detection/default-rules.ts";
import { contextOf, unpack } from "../service/src/detection/vector.ts";
import { isOfSource } from "../service/src/domain/activity.ts";
import { defaultThresholds } from "../service/src/domain/rule.ts";

// The decision about one activity, as far as it is measured.
export type Decided = {
  receivedMs: number;
  type: string;
  account: string | null;
  session: string | null;
  caseId: string | null;
  logOdds: number;
  // What a model added to the log-odds.
  modelPart: number;
  // Whether a rule, the likelihood ratio or a model applied to it.
  isJudged: boolean;
  // Whether a rule or the likelihood ratio applied to it.
  isRuled: boolean;
  rules: string[];
  // What the unusual log-in added to the log-odds.
  ratioPart: number;
  // The log-in's own ratio. Null for any other activity, and if the account's history was too short.
  ratio: number | null;
  hasVelocity: boolean;
};

export type StoredActivity = {
  received_at: string;
  type: string;
  website_account_id: string | null;
  session_id: string | null;
  case_id: string | null;
  decision: string;
};

type Decision = { l: number; r?: Record<string, number>; c?: [string, number][]; m?: [string, number]; f?: string };

// What many shops start with: five counts with untuned thresholds.
export const velocityRules: readonly string[] = [
  `event.type == "login_failed" && account.failed_logins_1h >= 5`,
  `event.type == "login_failed" && device.failed_logins_1h >= 10`,
  `event.type == "login_failed" && ip.failed_logins_1h >= 20`,
  `event.type == "signup" && device.signups_24h >= 3`,
  `event.type == "signup" && ip.signups_1h >= 5`,
];
const velocity = velocityRules.map((expression) => compileRule(expression));

export function readDecided(row: StoredActivity): Decided {
  // Only the engine writes this.
  const { l, r = {}, c = [], m, f = "" } = JSON.parse(row.decision) as Decision;
  const context = contextOf(unpack(f), {});
  const isRatedLogin = row.type === "login_succeeded" && Number(context.login["history"]) >= 4;
  const isRuled = c.length > 0 || Object.keys(r).length > 0;
  return {
    receivedMs: Date.parse(row.received_at),
    type: row.type,
    account: row.website_account_id,
    session: row.session_id,
    caseId: row.case_id,
    logOdds: l,
    modelPart: m?.[1] ?? 0,
    isJudged: isRuled || m !== undefined,
    isRuled,
    rules: Object.keys(r),
    ratioPart: c.reduce((sum, [, part]) => sum + part, 0),
    ratio: isRatedLogin ? Number(context.login["ratio"]) : null,
    hasVelocity: velocity.some((rule) => rule.test(context)),
  };
}

const ruleOf = new Map(defaultRules.map((rule) => [rule.rule_id, rule]));
const weightOf = (id: string): number => ruleOf.get(id)?.weight ?? 0;
const isOfAccount = (id: string): boolean => ruleOf.get(id)?.about === "account";
const sumOf = (ids: string[]): number => ids.reduce((sum, id) => sum + weightOf(id), 0);

// Whether it opens a case or is added to one. A failed log-in and a sign-up are judged separately for the account and for the
// source. If a model raises the score of a sign-up, that counts for the account. If it lowers the score, that counts for both.
export function isFinding({ type, account, logOdds, modelPart, rules }: Decided): boolean {
  if (type === "fraud_report") return true;
  const from = defaultThresholds.score_3;
  if (!isOfSource({ type }) || account === null) return logOdds >= from;
  const ofSource = sumOf(rules.filter((id) => !isOfAccount(id))) + Math.min(modelPart, 0);
  return sumOf(rules.filter(isOfAccount)) + modelPart >= from || ofSource >= from;
}

// The reason with the largest weight.
export function leadOf({ rules, ratioPart, modelPart }: Decided): string {
  const [heaviest] = rules.toSorted((a, b) => weightOf(b) - weightOf(a));
  if (modelPart > Math.max(ratioPart, ...rules.map(weightOf))) return "model";
  return heaviest !== undefined && weightOf(heaviest) >= ratioPart ? heaviest : "unusual log-in";
}
