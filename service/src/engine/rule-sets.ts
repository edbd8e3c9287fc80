import type { Queryable } from "../db/database.ts";
import { findDetection, listRules } from "../db/rules.ts";
import { compileRule } from "../detection/compile.ts";
import type { ActiveRule, RuleSet } from "../detection/score.ts";
import { compileSentence } from "../detection/sentence.ts";
import type { Rule } from "../domain/rule.ts";

const tenantsMax = 1_000;

// Compiled once a revision. What cannot be compiled any more (a field that a release took away) is told once, and left out.
export class RuleSets {
  readonly #sets = new Map<string, RuleSet>();
  readonly #onFault: (rule: Rule, fault: unknown) => void;

  constructor(onFault: (rule: Rule, fault: unknown) => void) {
    this.#onFault = onFault;
  }

  async current(tx: Queryable, tenantId: string): Promise<RuleSet> {
    const { revision, thresholds } = await findDetection(tx, tenantId);
    const known = this.#sets.get(tenantId);
    if (known?.revision === revision) return known;
    const active = (await listRules(tx, tenantId)).filter((rule) => rule.state !== "off");
    const set = { revision, thresholds, rules: active.flatMap((rule) => this.#compile(rule)) };
    if (this.#sets.size >= tenantsMax) this.#sets.clear();
    this.#sets.set(tenantId, set);
    return set;
  }

  #compile(rule: Rule): ActiveRule[] {
    try {
      return [{ rule, compiled: compileRule(rule.expression), sentence: compileSentence(rule.sentence) }];
    } catch (fault) {
      this.#onFault(rule, fault);
      return [];
    }
  }
}
