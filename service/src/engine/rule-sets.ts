import type { Queryable } from "../db/database.ts";
import { findDetection, listRules } from "../db/rules.ts";
import { compileRule, type CompiledRule } from "../detection/compile.ts";
import type { ActiveRule, RuleSet } from "../detection/score.ts";
import { compileSentence } from "../detection/sentence.ts";
import type { Rule } from "../domain/rule.ts";

const tenantsMax = 1_000;
const patience = { ownMs: 50, allMs: 500, eachMs: 0.2, slowMs: 1 };

type Spent = { ms: number; calls: number };

function isOver({ ms, calls }: Spent, onceMs: number): boolean {
  return ms > onceMs + calls * patience.eachMs;
}

function isSlow({ ms, calls }: Spent): boolean {
  return calls === 0 || ms / calls > patience.slowMs;
}

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
    const spent: Spent = { ms: 0, calls: 0 };
    const set = { revision, thresholds, rules: active.flatMap((rule) => this.#compile(rule, spent)) };
    if (this.#sets.size >= tenantsMax) this.#sets.clear();
    this.#sets.set(tenantId, set);
    return set;
  }

  // Patterns are linear, but a hostile one takes milliseconds for every event. A rule that does is left out until it is changed,
  // and so are those that come after it when all of a tenant's together take too long.
  #limited(rule: Rule, compiled: CompiledRule, all: Spent): CompiledRule {
    if (!rule.expression.includes("matches")) return compiled;
    const own: Spent = { ms: 0, calls: 0 };
    let isOut = false;
    const test: CompiledRule["test"] = (context) => {
      if (isOut) return false;
      const began = performance.now();
      const isHit = isOver(all, patience.allMs) && isSlow(own) ? false : compiled.test(context);
      const ms = performance.now() - began;
      for (const spent of [own, all]) {
        spent.ms += ms;
        spent.calls++;
      }
      isOut = isOver(own, patience.ownMs) || (isOver(all, patience.allMs) && isSlow(own));
      if (isOut) this.#onFault(rule, new Error("its patterns take too long"));
      return isHit;
    };
    return { ...compiled, test };
  }

  #compile(rule: Rule, spent: Spent): ActiveRule[] {
    try {
      const compiled = compileRule(rule.expression);
      return [{ rule, compiled: this.#limited(rule, compiled, spent), sentence: compileSentence(rule.sentence) }];
    } catch (fault) {
      this.#onFault(rule, fault);
      return [];
    }
  }
}
