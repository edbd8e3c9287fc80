import { compareEvidence, type Case, type Decision, type FraudOccurrence } from "@casehound/client";

type Behaviour = NonNullable<FraudOccurrence["explanation"]["model_behaviour"]>[number];
type Contributor = Behaviour["top_contributors"][number];

const groups = ["rules", "log-in", "false cases", "model"] as const;
type Group = (typeof groups)[number];
export type Part = { group: Group; name: string; words: string; value: number };

const recordName = "closed_as_false";

// The strongest first. Its story is the summary of the case.
export function evidenceOf(found: Case): FraudOccurrence[] {
  return Object.values(found.fraud_occurrences).toSorted(compareEvidence);
}

// The parts of the score. They are read from the evidence, because one activity can be evidence in several cases, and each case
// counts only the rules about its subject. The decision adds the names that the rules had at that time.
export function partsOf({ explanation }: FraudOccurrence, decision: Decision | null): Part[] {
  const behaviours = explanation.model_behaviour ?? [];
  const isRated = behaviours.some(({ type }) => type === "gradient-boosted-trees");
  const hasHeld = !isRated && decision !== null && rulesElsewhere({ explanation }, decision).length === 0;
  const parts = [...behaviours.flatMap((each) => partsIn(each, decision)), ...(hasHeld ? heldParts(decision) : [])];
  return parts.toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || rankOf(b) - rankOf(a));
}

// A model's parts begin with its base and end with the sum of all smaller parts.
function rankOf({ name, value }: Part): number {
  return name === baseWords ? Infinity : name === otherWords ? -Infinity : value;
}

const baseWords = "Usual risk of this kind of activity";
const otherWords = "All other fields";
const fixedWords: Record<string, string> = { "model.base": baseWords, "model.other": otherWords };

function partsIn({ type, model_name, top_contributors: all }: Behaviour, decision: Decision | null): Part[] {
  if (type === "likelihood_ratio") return all.map((each) => partOf("log-in", each));
  if (type !== "rule" && type !== "list") return all.map((each) => partOf("model", each));
  const fired = decision && firedIn(decision).find(({ rule_id }) => rule_id === model_name);
  const own = all.filter(({ feature }) => feature !== recordName);
  const name = fired?.name ?? own.map(({ plain_name }) => plain_name).join(", ");
  const words = fired?.sentence ?? own.map(({ description }) => description).join(" ");
  const records = all.filter(({ feature }) => feature === recordName).map((each) => partOf("false cases", each));
  return [
    { group: "rules", name, words, value: thousandths(own) / 1000 },
    ...records.map((each) => ({ ...each, name: `${name}: ${each.name.toLowerCase()}` })),
  ];
}

function partOf(group: Group, { feature, plain_name, description, shap_value }: Contributor): Part {
  return { group, name: fixedWords[feature] ?? plain_name, words: description, value: shap_value };
}

// If a model may not lower the score because of a rule, its parts sum to 0. They are shown all the same.
function heldParts({ model }: Decision): Part[] {
  if (model?.log_odds !== 0) return [];
  return model.contributions.map(({ name, plain_name, log_odds }) => ({
    group: "model" as const,
    name: fixedWords[name] ?? plain_name,
    words: "What the model learned from earlier frauds.",
    value: log_odds,
  }));
}

// The names of the rules that fired but count in another case, because they are about another subject.
export function rulesElsewhere({ explanation }: Pick<FraudOccurrence, "explanation">, decision: Decision): string[] {
  if (isReport({ explanation })) return [];
  const own = new Set((explanation.model_behaviour ?? []).map(({ model_name }) => model_name));
  return firedIn(decision)
    .filter(({ rule_id }) => !own.has(rule_id))
    .map(({ name }) => name);
}

function firedIn({ rules, other_rules }: Decision): Decision["rules"] {
  return [...rules, ...other_rules];
}

export function isReport({ explanation }: Pick<FraudOccurrence, "explanation">): boolean {
  return (explanation.model_behaviour ?? []).some(({ model_name }) => model_name === "reported_fraud");
}

function thousandths(contributors: readonly Contributor[]): number {
  return contributors.reduce((sum, each) => sum + Math.round(each.shap_value * 1000), 0);
}

// Adding 0 turns -0 into 0.
function hundredths(sum: number): number {
  return Math.round(sum / 10) + 0;
}

// The sum of all parts, in hundredths. Whole numbers are added, so the result does not depend on the order.
export function totalOf({ explanation }: FraudOccurrence): number {
  const all = (explanation.model_behaviour ?? []).flatMap(({ top_contributors }) => top_contributors);
  return hundredths(thousandths(all));
}

// Returns each part in hundredths, rounded so that the shown parts add up to the shown total.
export function shownParts(parts: readonly Part[]): number[] {
  let sum = 0;
  return parts.map(({ value }) => {
    const before = hundredths(sum);
    sum += Math.round(value * 1000);
    return hundredths(sum) - before;
  });
}

const signed = new Intl.NumberFormat(undefined, {
  signDisplay: "exceptZero",
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

export function signedWords(value: number): string {
  return signed.format(value / 100);
}
