import { findDecision, type DecidedActivity } from "../db/decisions.ts";
import { findRuleVersions } from "../db/rules.ts";
import { attributesOf } from "../detection/draft.ts";
import { explain } from "../detection/explanation.ts";
import { Decision, casesIn, type StoredDecision } from "../domain/decision.ts";
import { notFound } from "../domain/failure.ts";
import { storedSource } from "../domain/source.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { given } from "./timeline.ts";

async function read(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = params["prediction_id"] ?? "";
  const found = await findDecision(services.database, caller.tenant_id, id);
  if (!found) throw notFound("Decision", id);
  // Written by the engine.
  const decision = JSON.parse(found.decision) as StoredDecision;
  const named = [...Object.entries(decision.r ?? {}), ...Object.entries(decision.s ?? {})];
  const wanted = named.map(([rule_id, rule_version]) => ({ rule_id, rule_version }));
  const versions = await findRuleVersions(services.database, caller.tenant_id, wanted);
  const modelId = decision.m?.[0];
  const model =
    modelId === undefined ? undefined : await services.servedModels.find(services.database, caller.tenant_id, modelId);
  const { type, document } = found;
  return dataReply({
    prediction_id: id,
    ...(found.case_id !== null && { case_id: found.case_id }),
    ...casesIn(decision, found.case_id, found.score),
    activity: activityOf(found),
    score: found.score,
    ...explain({ decision, attributes: attributesOf(document), type, versions, ...(model && { model }) }),
  });
}

function activityOf(found: DecidedActivity): Decision["activity"] {
  const { activity_id, type, origin, occurred_at, received_at } = found;
  const { website_account_id, claimed_account_id, session_id, device_id, ip } = found;
  // Written by the engine.
  const { source } = JSON.parse(found.document) as { source?: string };
  return {
    activity_id,
    type,
    origin,
    source: storedSource(origin, source),
    occurred_at,
    received_at,
    ...given({ website_account_id, claimed_account_id, session_id, device_id, ip }),
  };
}

export const decisionOperations: Operation[] = [
  operation({
    id: "getDecision",
    method: "GET",
    path: "/decisions/{prediction_id}",
    scope: "read:case",
    tag: "Detection",
    summary: "Explain a decision",
    description:
      "Explains why an activity got its score, by an occurrence's prediction_id. The explanation is made from what was stored with the decision, so it stays the same after the rules have changed.",
    success: { status: 200, description: "The decision", schema: Decision },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
];
