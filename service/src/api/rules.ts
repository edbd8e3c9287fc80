import { Type } from "typebox";
import type { Queryable } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { countOutcomes } from "../db/outcomes.ts";
import { countHits, countSubjects, listExamples, listHitsByDay, listOverlap } from "../db/rule-report.ts";
import { listRuleLimits } from "../db/rule-limits.ts";
import {
  countRules,
  findRule,
  insertRuleVersion,
  listRules,
  listRuleVersions,
  lockSettings,
  raiseRevision,
} from "../db/rules.ts";
import { findListTypes } from "../db/value-lists.ts";
import { compileRule } from "../detection/compile.ts";
import { RuleFault } from "../detection/fault.ts";
import { listOfRead } from "../detection/list-view.ts";
import { compileSentence } from "../detection/sentence.ts";
import { Failure, notFound, type FieldError } from "../domain/failure.ts";
import { RuleReport, daysUpTo, reportDaysMax } from "../domain/rule-report.ts";
import {
  MeasuredRule,
  RuleChange,
  RuleVersion,
  changeRule,
  changedMembers,
  precisionOf,
  ruleIdPattern,
  rulesMax,
  type Rule,
} from "../domain/rule.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const historyMax = 1000;
const idForm = new RegExp(ruleIdPattern);

// Accepts any body. The schema rejects an expression that is not a string. Whether its lists exist is checked later, by
// requireLists, because that takes a query.
export function expressionFaults(body: { expression?: unknown }): FieldError[] {
  return compileFaults("expression", body.expression, (text) => compileRule(text));
}

// Refuses an expression that uses a list that does not exist, or a value that the list cannot contain.
export async function requireLists(database: Queryable, tenantId: string, expression: string): Promise<void> {
  if (!compileRule(expression).reads.some((name) => listOfRead(name) !== null)) return;
  const lists = await findListTypes(database, tenantId);
  const faults = compileFaults("expression", expression, (text) => compileRule(text, lists));
  if (faults.length > 0) throw invalid(faults);
}

function ruleFaults(body: { expression?: unknown; sentence?: unknown }): FieldError[] {
  return [...expressionFaults(body), ...compileFaults("sentence", body.sentence, compileSentence)];
}

function compileFaults(field: string, text: unknown, compile: (text: string) => unknown): FieldError[] {
  if (typeof text !== "string") return [];
  try {
    compile(text);
    return [];
  } catch (error) {
    if (!(error instanceof RuleFault)) throw error;
    const { line, column } = error.position;
    const hint = error.hint === null ? "" : ` ${error.hint}`;
    return [{ field, message: `${error.message.replace(/\.$/, "")} (line ${line}, column ${column}).${hint}` }];
  }
}

// An id that no rule can have is treated as not found.
async function requireRule(database: Queryable, { caller, params }: Call): Promise<Rule> {
  const id = params["rule_id"] ?? "";
  const rule = idForm.test(id) ? await findRule(database, caller.tenant_id, id) : undefined;
  if (!rule) throw notFound("Rule", id);
  return rule;
}

async function measure(services: Services, tenantId: string, rules: Rule[]): Promise<MeasuredRule[]> {
  const [since = ""] = daysUpTo(services.now(), 7);
  const rule_ids = rules.map((rule) => rule.rule_id);
  const [limitOf, hitsOf, outcomesOf, latestOf] = await Promise.all([
    listRuleLimits(services.database, tenantId, services.now()),
    countHits(services.database, tenantId, since),
    countOutcomes(services.database, tenantId, { rule_ids, hit_since: null }),
    countOutcomes(services.database, tenantId, { rule_ids, hit_since: `${since}T00:00:00.000Z` }),
  ]);
  return rules.map((rule) => ({
    ...rule,
    ...limitedMembers(limitOf.get(rule.rule_id)),
    hits_7d: hitsOf({ ...rule, is_shadow: false }),
    shadow_hits_7d: hitsOf({ ...rule, is_shadow: true }),
    outcomes_7d: precisionOf(latestOf({ ...rule, is_shadow: false })),
    precision: precisionOf(outcomesOf({ ...rule, is_shadow: false })),
  }));
}

function limitedMembers(until: string | undefined): Pick<MeasuredRule, "is_limited" | "limited_until"> {
  return until === undefined ? { is_limited: false } : { is_limited: true, limited_until: until };
}

async function list(services: Services, { caller }: Call): Promise<Reply> {
  const rules = await listRules(services.database, caller.tenant_id);
  return dataReply({ rules: await measure(services, caller.tenant_id, rules) });
}

async function read(services: Services, call: Call): Promise<Reply> {
  const rule = await requireRule(services.database, call);
  const [measured] = await measure(services, call.caller.tenant_id, [rule]);
  return dataReply(measured);
}

async function update(services: Services, { caller, params, body }: Call<RuleChange>): Promise<Reply> {
  const id = params["rule_id"] ?? "";
  const now = services.now();
  if (!idForm.test(id)) throw idFault(id, body);
  return services.database.transaction(async (tx) => {
    await lockSettings(tx, caller.tenant_id, now);
    await requireLists(tx, caller.tenant_id, body.expression);
    const found = await findRule(tx, caller.tenant_id, id);
    const changed = changeRule(found, { ...body, rule_id: id }, { name: caller.actor, now });
    if (changed === found) return dataReply(found);
    if (!found && (await countRules(tx, caller.tenant_id)) >= rulesMax) throw tooMany();
    await insertRuleVersion(tx, caller.tenant_id, changed);
    await raiseRevision(tx, caller.tenant_id);
    const resource = { type: "rule" as const, id, version: changed.rule_version };
    const data = { state: changed.state, ...(found && { changed: changedMembers(found, changed) }) };
    await appendEvents(tx, caller.tenant_id, [{ type: "rule.changed", occurred_at: now, actor: caller.actor, resource, data }]);
    return dataReply(changed);
  });
}

function idFault(id: string, { rule_version }: RuleChange): Failure {
  if (rule_version !== 0) return notFound("Rule", id);
  return new Failure("bad-request", "A rule's id has 1 to 64 characters: a letter from a to z, then letters, digits and _.");
}

function tooMany(): Failure {
  return invalid([{ field: "rule_version", message: `must not be 0: the tenant already has the maximum of ${rulesMax} rules` }]);
}

async function history(services: Services, call: Call): Promise<Reply> {
  const { rule_id } = await requireRule(services.database, call);
  const versions = await listRuleVersions(services.database, call.caller.tenant_id, { rule_id, limit: historyMax });
  return dataReply({ versions });
}

async function report(services: Services, call: Call<unknown, { days?: number }>): Promise<Reply> {
  const { database } = services;
  const tenantId = call.caller.tenant_id;
  const { rule_id } = await requireRule(database, call);
  const { days: count = 7 } = call.query;
  const days = daysUpTo(services.now(), count);
  const since = `${days[0]}T00:00:00.000Z`;
  const [hits_per_day, subjects, outcomesOf, examples, overlap] = await Promise.all([
    listHitsByDay(database, tenantId, { rule_id, days }),
    countSubjects(database, tenantId, { rule_id, since }),
    countOutcomes(database, tenantId, { rule_ids: [rule_id], hit_since: since }),
    listExamples(database, tenantId, { rule_id, since }),
    listOverlap(database, tenantId, { rule_id, since }),
  ]);
  return dataReply({
    rule_id,
    days: count,
    hits_per_day,
    ...subjects,
    precision: precisionOf(outcomesOf({ rule_id, is_shadow: false })),
    shadow_precision: precisionOf(outcomesOf({ rule_id, is_shadow: true })),
    examples,
    overlap,
  } satisfies RuleReport);
}

const example: RuleChange = {
  name: "Many accounts on one device",
  expression: 'event.type == "login_failed" && device.failed_accounts_1h >= 8',
  sentence: "{device.failed_accounts_1h} accounts failed to sign in from one device within an hour.",
  label: "Bot",
  weight: 3,
  about: "device",
  state: "shadow",
  rule_version: 1,
};

export const ruleOperations: Operation[] = [
  operation({
    id: "listRules",
    method: "GET",
    path: "/rules",
    scope: "read:rules",
    tag: "Detection",
    summary: "List the rules",
    description: `All of them, ordered by id, with their hits and how investigators judged those they hit. A tenant has at most ${rulesMax}.`,
    success: {
      status: 200,
      description: "The rules",
      schema: Type.Object({ rules: Type.Array(MeasuredRule) }, { additionalProperties: false }),
    },
    problems: [],
    handle: list,
  }),
  operation({
    id: "getRule",
    method: "GET",
    path: "/rules/{rule_id}",
    scope: "read:rules",
    tag: "Detection",
    summary: "Read a rule",
    success: { status: 200, description: "The rule", schema: MeasuredRule },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
  operation({
    id: "updateRule",
    method: "PUT",
    path: "/rules/{rule_id}",
    scope: "manage:rules",
    tag: "Detection",
    summary: "Create or change a rule",
    description:
      "A rule_version of 0 creates a rule, under an id of 1 to 64 characters a-z, 0-9 and _. Otherwise rule_version must be the current one. Engines apply the change within seconds. A request that changes nothing creates no version. Rules are never deleted. Switch them off instead.",
    body: RuleChange,
    faults: ruleFaults,
    success: { status: 200, description: "The rule after the change", schema: RuleVersion },
    problems: ["bad-request", "item-not-found", "item-version-conflict", "transaction-contended"],
    example,
    handle: update,
  }),
  operation({
    id: "listRuleVersions",
    method: "GET",
    path: "/rules/{rule_id}/history",
    scope: "read:rules",
    tag: "Detection",
    summary: "Read a rule's history",
    description: `Its versions, newest first, up to the latest ${historyMax}.`,
    success: {
      status: 200,
      description: "The versions",
      schema: Type.Object({ versions: Type.Array(RuleVersion) }, { additionalProperties: false }),
    },
    problems: ["bad-request", "item-not-found"],
    handle: history,
  }),
  operation({
    id: "getRuleReport",
    method: "GET",
    path: "/rules/{rule_id}/report",
    scope: "read:rules",
    tag: "Detection",
    summary: "Read what a rule hit",
    description:
      "Returns the hits by day and by subject, while the rule was on and while it was in shadow. Check them before you switch a rule on.",
    query: Type.Object({
      days: Type.Optional(
        Type.Integer({ minimum: 1, maximum: reportDaysMax, default: 7, description: "Days in UTC, today included." }),
      ),
    }),
    success: { status: 200, description: "The report", schema: RuleReport },
    problems: ["bad-request", "item-not-found"],
    handle: report,
  }),
];
