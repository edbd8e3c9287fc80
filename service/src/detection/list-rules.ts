import { listTypeFacts, type ListFacts, type ListType } from "../domain/list.ts";
import type { Rule, Thresholds } from "../domain/rule.ts";

// What a hit on a block list is evidence against, like a rule's `about`.
const aboutOf: Record<ListType, Rule["about"]> = {
  account: "account",
  device: "device",
  ip: "address",
  country: "network",
  asn: "network",
  email: "account",
  email_domain: "account",
  payee: "payee",
  instrument: "instrument",
  user_agent: "device",
  text: "account",
};

const prefix = "list.";
// A usual log-in takes away up to 1.5, and that must not lower the score.
const blockMargin = 2;

// A rule's id has no dot, so it cannot be the id of a list.
export function listRuleId(name: string): string {
  return `${prefix}${name}`;
}

export function isListRuleId(ruleId: string): boolean {
  return ruleId.startsWith(prefix);
}

export function listOfRuleId(ruleId: string): string {
  return ruleId.slice(prefix.length);
}

export function listSentence({ name, type, kind }: ListFacts): string {
  return `The ${listTypeFacts[type].noun} is on the ${kind} list ${name}.`;
}

// A hit on a block list counts as a rule that fired, with a weight that is enough for score 5 under these thresholds.
export function blockRule(hit: ListFacts, { score_5 }: Thresholds): Rule {
  return {
    rule_id: listRuleId(hit.name),
    name: `On the block list ${hit.name}`,
    expression: "",
    sentence: listSentence(hit),
    label: hit.label,
    weight: score_5 + blockMargin,
    about: aboutOf[hit.type],
    state: "on",
    rule_version: 0,
    updated_at: "",
    updated_by: "system",
  };
}
