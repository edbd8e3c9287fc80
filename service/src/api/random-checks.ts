import { appendEvents } from "../db/events.ts";
import { countChecks, findChecksPerDay, saveChecksPerDay } from "../db/random-checks.ts";
import { lockSettings } from "../db/rules.ts";
import type { Moment } from "../domain/label.ts";
import { momentNames } from "../domain/moment.ts";
import { RandomChecks, RandomChecksChange, checkedDays, recallOf } from "../domain/random-check.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const dayMs = 24 * 60 * 60 * 1000;

async function show(services: Services, tenantId: string): Promise<RandomChecks> {
  const { database } = services;
  const since = new Date(Date.parse(services.now()) - checkedDays * dayMs).toISOString();
  const recallAt = async (moment: Moment) => ({ moment, ...recallOf(await countChecks(database, tenantId, { moment, since })) });
  // Awaited together: if a promise rejects while another one is awaited, the rejection is unhandled and ends the process.
  const [per_day, ...recall] = await Promise.all([findChecksPerDay(database, tenantId), ...momentNames.map(recallAt)]);
  return { per_day, recall };
}

async function read(services: Services, { caller }: Call): Promise<Reply> {
  return dataReply(await show(services, caller.tenant_id));
}

async function update(services: Services, { caller, body }: Call<RandomChecksChange>): Promise<Reply> {
  const { per_day } = body;
  const now = services.now();
  await services.database.transaction(async (tx) => {
    await lockSettings(tx, caller.tenant_id, now);
    if ((await findChecksPerDay(tx, caller.tenant_id)) === per_day) return;
    await saveChecksPerDay(tx, caller.tenant_id, { per_day, now });
    const resource = { type: "tenant" as const, id: caller.tenant_id };
    const event = { type: "model.settings_updated" as const, occurred_at: now, actor: caller.actor, resource };
    await appendEvents(tx, caller.tenant_id, [{ ...event, data: { random_checks_per_day: per_day } }]);
  });
  return dataReply(await show(services, caller.tenant_id));
}

const tag = "Models";

export const randomCheckOperations: Operation[] = [
  operation({
    id: "getRandomChecks",
    method: "GET",
    path: "/random-checks",
    scope: "read:models",
    tag,
    summary: "Get the estimate of missed frauds",
    description: "The estimate is based on activities with low scores that were chosen at random and decided by people.",
    success: { status: 200, description: "The setting and the estimates", schema: RandomChecks },
    problems: [],
    handle: read,
  }),
  operation({
    id: "updateRandomChecks",
    method: "PUT",
    path: "/random-checks",
    scope: "manage:models",
    tag,
    summary: "Set how many random checks are opened each day",
    description:
      "Each day, `per_day` activities of the previous day with a score of 1 or 2 are chosen, and a case is opened for each. The details of such a case contain `random_check`. An activity with score 2 is five times as likely to be chosen as one with score 1. A payment or transfer is five times as likely to be chosen as another activity.",
    body: RandomChecksChange,
    success: { status: 200, description: "The setting and the estimates", schema: RandomChecks },
    problems: ["transaction-contended"],
    example: { per_day: 10 },
    handle: update,
  }),
];
