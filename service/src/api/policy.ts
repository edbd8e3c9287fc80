import { Type } from "typebox";
import { labelsMax } from "../db/budget.ts";
import { estimateDecisions } from "../db/decisions.ts";
import { appendEvents } from "../db/events.ts";
import {
  countSituations,
  findPolicy,
  insertPolicyVersion,
  listKnownFrauds,
  listPolicyVersions,
  type SituationCount,
} from "../db/policies.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { findRuleVersions, lockSettings } from "../db/rules.ts";
import { listLists } from "../db/value-lists.ts";
import { evidenceLabels } from "../detection/policy-labels.ts";
import type { Label } from "../domain/finding.ts";
import { momentOf as modelMomentOf } from "../domain/moment.ts";
import {
  Policy,
  PolicyChange,
  PolicyDefinition,
  PolicyTrial,
  changePolicy,
  defaultPolicy,
  momentOf,
  policyFaults,
  trialDays,
  tryPolicy,
  type Tried,
} from "../domain/policy.ts";
import { requireReach } from "../domain/role.ts";
import { daysUpTo } from "../domain/rule-report.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const versionsMax = 100;
// A try-out stops after about this many activities, so busy tenants try a policy on fewer days.
const triedMax = 1_000_000;
// At most this many activities are counted by one statement, so that the statement does not time out.
const spanMax = 200_000;

async function read({ database }: Services, { caller }: Call): Promise<Reply> {
  return dataReply(await findPolicy(database, caller.tenant_id));
}

async function versions({ database }: Services, { caller }: Call): Promise<Reply> {
  return dataReply({ versions: await listPolicyVersions(database, caller.tenant_id, versionsMax) });
}

async function refuseFaults(database: Queryable, tenantId: string, policy: PolicyDefinition): Promise<void> {
  const named = policy.rows.flatMap((row) => row.lists ?? []);
  const lists = named.length === 0 ? [] : await listLists(database, tenantId);
  const faults = policyFaults(
    policy,
    lists.map(({ name }) => name),
  );
  if (faults.length > 0) throw invalid(faults);
}

async function update(services: Services, { caller, body }: Call<PolicyChange>): Promise<Reply> {
  // Otherwise a caller without the scope could quarantine accounts through the policy.
  if (body.rows.some((row) => row.set_quarantined)) requireReach(caller, ["update:enduseraccount"]);
  const now = services.now();
  return services.database.transaction(async (tx) => {
    await lockSettings(tx, caller.tenant_id, now);
    await refuseFaults(tx, caller.tenant_id, body);
    const found = await findPolicy(tx, caller.tenant_id);
    const changed = changePolicy(found, body, { name: caller.actor, now });
    if (changed === found) return dataReply(found);
    await insertPolicyVersion(tx, caller.tenant_id, changed);
    const { mode, rows, policy_version: version, updated_at: occurred_at } = changed;
    const resource = { type: "tenant" as const, id: caller.tenant_id, version };
    const event = { type: "policy.updated" as const, occurred_at, actor: caller.actor, resource };
    await appendEvents(tx, caller.tenant_id, [{ ...event, data: { mode, rows: rows.length } }]);
    return dataReply(changed);
  });
}

async function attempt(services: Services, { caller, body }: Call<PolicyDefinition>): Promise<Reply> {
  await refuseFaults(services.database, caller.tenant_id, body);
  const until = services.now();
  const { from, counts } = await countRecent(services, caller.tenant_id, until);
  const labelOf = await ruleLabels(services, caller.tenant_id, counts);
  const blockLists = (await listLists(services.database, caller.tenant_id)).filter(({ kind }) => kind === "block");
  const labelOfList = new Map(blockLists.map(({ name, label }) => [name, label]));
  const situations = counts.map((each) => triedOf(each, labelOf, labelOfList));
  const current = await findPolicy(services.database, caller.tenant_id);
  return dataReply({ from, until, tried: tryPolicy(body, situations), current: tryPolicy(current, situations) });
}

// Counts backwards from now, at most a day at a time, until the limit is reached.
async function countRecent({ database }: Services, tenantId: string, until: string) {
  const [first = ""] = daysUpTo(until, trialDays);
  const since = `${first}T00:00:00.000Z`;
  const frauds = await listKnownFrauds(database, tenantId, { since, max: labelsMax });
  const counts: SituationCount[] = [];
  let seen = 0;
  let from = until;
  while (from > since && seen < triedMax) {
    const span = { from: await spanStart(database, tenantId, { since, until: from }), until: from };
    const inSpan = frauds.filter(({ received_at: at }) => at >= span.from && at < span.until);
    const found = await countSituations(database, tenantId, { ...span, frauds: inSpan.map(({ id_key }) => id_key) });
    counts.push(...found);
    seen += found.reduce((sum, { activities }) => sum + activities, 0);
    from = span.from;
  }
  return { from, counts };
}

// Returns the start of the day, or a later time if the day has too much activity for one statement.
async function spanStart(
  database: Services["database"],
  tenantId: string,
  { since, until }: { since: string; until: string },
): Promise<string> {
  const untilMs = Date.parse(until);
  const day = `${new Date(untilMs - 1).toISOString().slice(0, 10)}T00:00:00.000Z`;
  const from = day < since ? since : day;
  const share = spanMax / (await estimateDecisions(database, tenantId, { from, until }));
  if (share >= 1) return from;
  return new Date(untilMs - Math.max(Math.floor((untilMs - Date.parse(from)) * share), 1)).toISOString();
}

type LabelOf = (ruleId: string, version: number) => Label | undefined;

// A decision names the versions of the rules that fired. A rule may have had a different label then.
async function ruleLabels({ database }: Services, tenantId: string, counts: SituationCount[]): Promise<LabelOf> {
  const named = new Map(
    counts.flatMap(({ rules }) =>
      Object.entries(rules ?? {}).map(([rule_id, rule_version]) => [`${rule_id} ${rule_version}`, { rule_id, rule_version }]),
    ),
  );
  const found = await findRuleVersions(database, tenantId, [...named.values()]);
  const labels = new Map(found.map(({ rule_id, rule_version, label }) => [`${rule_id} ${rule_version}`, label]));
  return (ruleId, version) => labels.get(`${ruleId} ${version}`);
}

// `labelOfList`: the labels of block lists. Their hits are evidence, as those of rules are.
function triedOf(
  { type, score, activities, is_fraud: isFraud, ...decided }: SituationCount,
  labelOf: LabelOf,
  labelOfList: ReadonlyMap<string, Label>,
): Tried {
  const { rules, elsewhere, is_unusual: isUnusual, is_raised: isRaised, quiet } = decided;
  const lists = decided.lists ?? [];
  const without = new Set([...(elsewhere ?? []), ...(quiet ?? [])]);
  const counting = Object.entries(rules ?? {}).filter(([id]) => !without.has(id));
  const modelMoment = modelMomentOf(type);
  const raisedBy = isRaised && !without.has(`model.${modelMoment}`) ? modelMoment : null;
  const ofRules = counting.flatMap(([id, version]) => labelOf(id, version) ?? []);
  const ofLists = lists.flatMap((name) => labelOfList.get(name) ?? []);
  const labels = evidenceLabels({ rules: [...ofRules, ...ofLists], isUnusual, raisedBy });
  return { moment: momentOf({ type }), score, labels, lists, activities, isFraud };
}

const tag = "Detection";

export const policyOperations: Operation[] = [
  operation({
    id: "getPolicy",
    method: "GET",
    path: "/policy",
    scope: "read:rules",
    tag,
    summary: "Read the policy",
    description: "The policy decides what to answer, by moment, score, label and list. Version 1 is the default policy.",
    success: { status: 200, description: "The policy", schema: Policy },
    problems: [],
    handle: read,
  }),
  operation({
    id: "updatePolicy",
    method: "PUT",
    path: "/policy",
    scope: "manage:rules",
    tag,
    summary: "Change the policy",
    description:
      "Replaces the policy. A row that can never match is rejected, and so is the name of a list that does not exist. A policy with `set_quarantined` also requires the scope `update:enduseraccount`. Answers that were already given do not change.",
    body: PolicyChange,
    success: { status: 200, description: "The policy after the change", schema: Policy },
    problems: ["bad-request", "item-version-conflict", "transaction-contended"],
    example: { ...defaultPolicy, mode: "shadow", policy_version: 1 },
    handle: update,
  }),
  operation({
    id: "listPolicyVersions",
    method: "GET",
    path: "/policy/versions",
    scope: "read:rules",
    tag,
    summary: "List the versions of the policy",
    success: {
      status: 200,
      description: `The latest ${versionsMax} versions, newest first`,
      schema: Type.Object({ versions: Type.Array(Policy) }, { additionalProperties: false }),
    },
    problems: [],
    handle: versions,
  }),
  operation({
    id: "tryPolicy",
    method: "POST",
    path: "/policy/try-out",
    scope: "manage:rules",
    tag,
    summary: "Try a policy on recent activity",
    description: `Reports what a policy would have answered to the activity that your servers sent in the last ${trialDays} days. If that is more than about a million activities, only activity since \`from\` is counted. The scores are the ones that were given at the time. Page views, logouts and fraud reports are left out. Nothing is stored.`,
    body: PolicyDefinition,
    success: { status: 200, description: "What the policy would have answered", schema: PolicyTrial },
    problems: ["bad-request"],
    example: defaultPolicy,
    handle: attempt,
  }),
];
