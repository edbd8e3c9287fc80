import { ProblemError, type Problem, type Rule, type RuleChange, type RuleVersion } from "@casehound/client";
import type { Desk } from "./desk.ts";

export type RuleDefinition = Omit<RuleChange, "rule_version">;
export type FieldErrors = NonNullable<Problem["errors"]>;

export type Saving =
  | { kind: "saved"; found: RuleVersion }
  // Nothing was changed. `found` is the current rule, to compare with the one the person saw.
  | { kind: "changed"; found: Rule }
  | { kind: "refused"; words: string; errors: FieldErrors };

const contendedMax = 3;
export const members = ["name", "expression", "sentence", "label", "weight", "about", "state"] as const;
export type Member = (typeof members)[number];

export function definitionOf(rule: RuleDefinition): RuleDefinition {
  const { name, expression, sentence, label, weight, about, state } = rule;
  return { name, expression, sentence, label, weight, about, state };
}

export function changedMembers(before: RuleDefinition, after: RuleDefinition): Member[] {
  return members.filter((member) => before[member] !== after[member]);
}

// Saves only over the version that the person saw.
export async function saveRule(desk: Desk, ruleId: string, body: RuleChange): Promise<Saving> {
  const params = { rule_id: ruleId };
  const label = "Saving a rule";
  for (let contended = 0; ;) {
    try {
      const found = await desk.outbox.deliver(label, () => desk.client.call("updateRule", { params, body }));
      return { kind: "saved", found };
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (error.type === "transaction-contended" && ++contended <= contendedMax) continue;
      if (error.type !== "item-version-conflict") return { kind: "refused", words: error.detail, errors: error.errors ?? [] };
      const found = await desk.outbox.deliver(label, () => desk.client.call("getRule", { params }));
      // If the response to an earlier attempt was lost, the stored rule is exactly what we sent.
      const isOurs = found.rule_version === body.rule_version + 1 && changedMembers(found, body).length === 0;
      return { kind: isOurs ? "saved" : "changed", found };
    }
  }
}
