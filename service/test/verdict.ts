import type { RecordedActivity } from "../src/domain/activity.ts";
import type { Features } from "../src/detection/catalogue.ts";
import type { LoginRatio } from "../src/detection/entity.ts";
import { findingsOf, type Found } from "../src/detection/finding.ts";
import { leadsOf, type Lead, type Observed } from "../src/detection/leads.ts";
import { contextOf } from "../src/detection/vector.ts";
import { compileRule } from "../src/detection/compile.ts";
import { judge, type ActiveRule, type RuleSet } from "../src/detection/score.ts";
import { compileSentence } from "../src/detection/sentence.ts";
import { addressSubject, defaultThresholds, type RuleDefinition } from "../src/domain/rule.ts";

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

const now = Date.UTC(2026, 10, 15);
const minuteMs = 60_000;
export type Judged = {
  rules: ActiveRule[];
  ratio?: LoginRatio;
  features?: Features;
  activity?: Partial<RecordedActivity>;
  minutesAgo?: number;
};

// What the rules find in one activity.
export function findAll(judged: Judged): Found[] {
  const { leads, observed } = leadsIn(judged);
  return findingsOf(leads, observed, now);
}

export function leadsIn({ rules, ratio, features, activity, minutesAgo = 0 }: Judged): { leads: Lead[]; observed: Observed } {
  const time = new Date(now).toISOString();
  const whole = {
    activity_id: "x",
    type: "payment",
    origin: "server",
    occurred_at: time,
    received_at: time,
    ...activity,
  } as const;
  const context = contextOf({ "event.type": whole.type, "event.value": 7, ...features }, {});
  const verdict = judge(context, ruleSet(...rules), ratio ?? null);
  const heard = { source: "server" as const, claimed: undefined, crowd: null };
  const origin = { address: addressSubject(whole.ip), network: "AS64500" };
  const campaigns = new Map([["campaign", { subject: "campaign:campaign:now", size: 1 }]]);
  const observed = { activity: whole, ...heard, ...origin, campaigns, at: now - minutesAgo * minuteMs, context };
  return { leads: leadsOf(verdict, observed), observed };
}

// An unusual log-in.
export const stranger: LoginRatio = {
  total: 8.5,
  history: 12,
  parts: [
    ["country", 3],
    ["device", 3],
    ["os", 2.5],
  ],
};
