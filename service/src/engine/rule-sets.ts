import { findPolicy } from "../db/policies.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { findDetection, listRules } from "../db/rules.ts";
import { compileRule, type CompiledRule } from "../detection/compile.ts";
import { worstMsPerInstruction } from "../detection/regex.ts";
import type { ActiveRule, RuleSet } from "../detection/score.ts";
import { compileSentence } from "../detection/sentence.ts";
import { defaultPolicy, type Policy, type PolicyDefinition } from "../domain/policy.ts";
import type { Rule } from "../domain/rule.ts";
import { ListSets } from "./list-sets.ts";
import { ModelSets } from "./model-sets.ts";
import { PatternBudget } from "./pattern-budget.ts";

const tenantsMax = 1_000;
const budgetsMax = 10_000;

type Options = {
  onLimited?: (tenantId: string, ruleIds: string[]) => void;
  onModelFault?: ConstructorParameters<typeof ModelSets>[0];
  nowMs?: () => number;
};

// Compiles a tenant's rules once per revision, and adds its models, lists and policy. A rule that no longer compiles because a
// release removed a field is logged once and skipped.
export class RuleSets {
  readonly #sets = new Map<string, RuleSet>();
  readonly #models: ModelSets;
  readonly #lists = new ListSets();
  readonly #policies = new Map<string, Policy>();
  readonly #budgets = new Map<string, PatternBudget>();
  readonly #onFault: (rule: Rule, fault: unknown) => void;
  readonly #onLimited: NonNullable<Options["onLimited"]>;
  readonly #nowMs: () => number;
  // Paused rules by tenant that have not been saved yet.
  readonly #limited = new Map<string, Set<string>>();

  constructor(onFault: (rule: Rule, fault: unknown) => void, { onLimited, onModelFault, nowMs }: Options = {}) {
    this.#onFault = onFault;
    this.#models = new ModelSets(onModelFault ?? (() => {}));
    this.#onLimited = onLimited ?? (() => {});
    this.#nowMs = nowMs ?? (() => performance.now());
  }

  async current(tx: Queryable, tenantId: string): Promise<RuleSet> {
    const found = await findDetection(tx, tenantId);
    const { revision, thresholds } = found;
    const serving = await this.#models.current(tx, tenantId, found.models_revision);
    const lists = await this.#lists.current(tx, tenantId, found.lists_revision);
    const policy = await this.#policy(tx, tenantId, found.policy_version);
    const { due_times, due_times_version } = found;
    const dueTimes = due_times && { dueTimes: { ...due_times, due_times_version } };
    const current = { serving, ...(lists && { lists }), policy, snoozedUntil: found.snoozed_until, ...dueTimes };
    const known = this.#sets.get(tenantId);
    if (known?.revision === revision) return { ...known, ...current };
    const active = (await listRules(tx, tenantId)).filter((rule) => rule.state !== "off");
    const budget = this.#budgetOf(tenantId);
    const rules = active.flatMap((rule) => this.#compile(rule, (compiled) => this.#limit(tenantId, rule, compiled, budget)));
    budget.use(rules.filter(({ compiled }) => compiled.instructions > 0).map(({ rule }) => rule.rule_id));
    const set = { revision, thresholds, rules };
    if (this.#sets.size >= tenantsMax) this.#sets.clear();
    this.#sets.set(tenantId, set);
    return { ...set, ...current };
  }

  // Version 1 is the default policy, which is not stored.
  async #policy(tx: Queryable, tenantId: string, version: number): Promise<PolicyDefinition> {
    if (version === 1) return defaultPolicy;
    const known = this.#policies.get(tenantId);
    if (known?.policy_version === version) return known;
    const policy = await findPolicy(tx, tenantId);
    if (this.#policies.size >= tenantsMax) this.#policies.clear();
    this.#policies.set(tenantId, policy);
    return policy;
  }

  // Calls `save` with the rules that were paused since it last succeeded.
  async saveLimited(tenantId: string, save: (ruleIds: string[]) => Promise<void>): Promise<void> {
    const limited = this.#limited.get(tenantId);
    if (!limited) return;
    await save([...limited]);
    this.#limited.delete(tenantId);
  }

  #budgetOf(tenantId: string): PatternBudget {
    const budget = this.#budgets.get(tenantId) ?? new PatternBudget(this.#nowMs);
    const [oldest] = this.#budgets.size >= budgetsMax ? this.#budgets.keys() : [];
    if (oldest !== undefined) this.#budgets.delete(oldest);
    this.#budgets.set(tenantId, budget);
    return budget;
  }

  // If the process stalls while a rule runs, the rule is charged no more than its patterns can take.
  #limit(tenantId: string, { rule_id }: Rule, compiled: CompiledRule, budget: PatternBudget): CompiledRule {
    if (compiled.instructions === 0) return compiled;
    const mostMs = compiled.instructions * worstMsPerInstruction;
    const test: CompiledRule["test"] = (context) => {
      if (budget.isLimited(rule_id)) return false;
      const began = this.#nowMs();
      const isHit = compiled.test(context);
      const limited = budget.spend(rule_id, Math.min(this.#nowMs() - began, mostMs), context);
      if (limited.length > 0) this.#noteLimited(tenantId, limited);
      return isHit;
    };
    return { ...compiled, test };
  }

  #noteLimited(tenantId: string, ruleIds: string[]): void {
    this.#onLimited(tenantId, ruleIds);
    const noted = this.#limited.get(tenantId) ?? new Set();
    for (const id of ruleIds) noted.add(id);
    this.#limited.set(tenantId, noted);
  }

  #compile(rule: Rule, limit: (compiled: CompiledRule) => CompiledRule): ActiveRule[] {
    try {
      return [{ rule, compiled: limit(compileRule(rule.expression)), sentence: compileSentence(rule.sentence) }];
    } catch (fault) {
      this.#onFault(rule, fault);
      return [];
    }
  }
}
