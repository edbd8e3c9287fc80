import { Type } from "typebox";
import { appendEvents } from "../db/events.ts";
import { findSettings, lockSettings, saveThresholds, type Settings } from "../db/rules.ts";
import { fields, ringSize } from "../detection/catalogue.ts";
import { StoredThresholds, ThresholdsChange, changeThresholds, defaultThresholds, thresholdFaults } from "../domain/rule.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const Feature = Type.Object(
  {
    name: Type.String({ description: "The name to use in an expression and, in braces, in a sentence." }),
    type: Type.Enum(["number", "string", "boolean", "map"]),
    plain_name: Type.String({ description: "The name that an investigator would use." }),
    description: Type.String(),
    maximum: Type.Optional(
      Type.Integer({ description: "Counted among an entity's latest events only, so no rule can ask for more than this." }),
    ),
  },
  { additionalProperties: false, $id: "Feature" },
);

async function listFeatures(): Promise<Reply> {
  const features = fields.map(({ name, type, plain, description, isRing }) => ({
    name,
    type,
    plain_name: plain,
    description,
    ...(isRing && { maximum: ringSize }),
  }));
  return dataReply({ features });
}

function toThresholds({ thresholds, thresholds_version, updated_at, updated_by }: Omit<Settings, "revision">): StoredThresholds {
  const { score_2, score_3, score_4, score_5 } = thresholds;
  return { score_2, score_3, score_4, score_5, thresholds_version, updated_at, updated_by };
}

async function read(services: Services, { caller }: Call): Promise<Reply> {
  const found = await findSettings(services.database, caller.tenant_id);
  const untouched = { thresholds: defaultThresholds, thresholds_version: 1, updated_at: services.now(), updated_by: "system" };
  return dataReply(toThresholds(found ?? untouched));
}

async function update(services: Services, { caller, body }: Call<ThresholdsChange>): Promise<Reply> {
  const now = services.now();
  return services.database.transaction(async (tx) => {
    const found = toThresholds(await lockSettings(tx, caller.tenant_id, now));
    const changed = changeThresholds(found, body, { name: caller.actor, now });
    if (changed === found) return dataReply(found);
    const { thresholds_version, updated_at, updated_by, ...thresholds } = changed;
    await saveThresholds(tx, caller.tenant_id, { thresholds, thresholds_version, updated_at, updated_by });
    const resource = { type: "tenant" as const, id: caller.tenant_id, version: thresholds_version };
    const event = { type: "thresholds.updated" as const, occurred_at: now, actor: caller.actor, resource, data: thresholds };
    await appendEvents(tx, caller.tenant_id, [event]);
    return dataReply(changed);
  });
}

export const thresholdOperations: Operation[] = [
  operation({
    id: "listFeatures",
    method: "GET",
    path: "/features",
    scope: "read:rules",
    tag: "Detection",
    summary: "List what rules can read",
    success: {
      status: 200,
      description: "The fields of an event, and of its account, device, address, network and session at that time",
      schema: Type.Object({ features: Type.Array(Feature) }, { additionalProperties: false }),
    },
    problems: [],
    handle: listFeatures,
  }),
  operation({
    id: "getThresholds",
    method: "GET",
    path: "/thresholds",
    scope: "read:rules",
    tag: "Detection",
    summary: "Read the thresholds",
    description: "The lowest log-odds for each score. Below the first threshold the score is 1.",
    success: { status: 200, description: "The thresholds", schema: StoredThresholds },
    problems: [],
    handle: read,
  }),
  operation({
    id: "updateThresholds",
    method: "PUT",
    path: "/thresholds",
    scope: "manage:rules",
    tag: "Detection",
    summary: "Change the thresholds",
    description: "Each must be higher than the one before it. Activity that was already scored keeps its score.",
    body: ThresholdsChange,
    faults: thresholdFaults,
    success: { status: 200, description: "The thresholds after the change", schema: StoredThresholds },
    problems: ["bad-request", "item-version-conflict", "transaction-contended"],
    example: { ...defaultThresholds, score_5: 6.5, thresholds_version: 1 },
    handle: update,
  }),
];
