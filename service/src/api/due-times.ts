import { findDueTimes, saveDueTimes } from "../db/due-times.ts";
import { appendEvents } from "../db/events.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { lockSettings } from "../db/rules.ts";
import { DueTimes, dueTimesFaults, noDueTimes } from "../domain/due.ts";
import { versionConflict } from "../domain/failure.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

async function find(database: Queryable, tenantId: string): Promise<DueTimes> {
  const { due_times_version = 1, due_times } = (await findDueTimes(database, tenantId)) ?? {};
  return { ...noDueTimes, ...due_times, due_times_version };
}

async function read({ database }: Services, { caller }: Call): Promise<Reply> {
  return dataReply(await find(database, caller.tenant_id));
}

function update(services: Services, { caller, body }: Call<DueTimes>): Promise<Reply> {
  const { tenant_id: tenantId, actor } = caller;
  const now = services.now();
  return services.database.transaction(async (tx) => {
    await lockSettings(tx, tenantId, now);
    const found = await find(tx, tenantId);
    if (found.due_times_version !== body.due_times_version) throw versionConflict("The due times", found.due_times_version);
    const changed = { ...body, due_times_version: found.due_times_version + 1 };
    await saveDueTimes(tx, tenantId, changed);
    const resource = { type: "tenant" as const, id: tenantId, version: changed.due_times_version };
    const data = { targets: changed.targets.length };
    await appendEvents(tx, tenantId, [{ type: "due_times.updated", occurred_at: now, actor, resource, data }]);
    return dataReply(changed);
  });
}

const common = { path: "/due-times", tag: "Tenant" } as const;

export const dueTimeOperations: Operation[] = [
  operation({
    ...common,
    id: "getDueTimes",
    method: "GET",
    scope: "read:tenant",
    summary: "Read the due times",
    success: { status: 200, description: "The due times", schema: DueTimes },
    problems: [],
    handle: read,
  }),
  operation({
    ...common,
    id: "updateDueTimes",
    method: "PUT",
    scope: "update:tenant",
    summary: "Change the due times",
    description:
      "Applies only if `due_times_version` is the current one. A case gets its due time when it is opened or reopened, and a new one when evidence changes its score or its primary label. Changing these settings, or the tenant's time zone, does not by itself change the due times of open cases.",
    body: DueTimes,
    faults: dueTimesFaults,
    success: { status: 200, description: "The due times after the change", schema: DueTimes },
    problems: ["bad-request", "item-version-conflict", "transaction-contended"],
    example: {
      due_times_version: 1,
      days: [1, 2, 3, 4, 5],
      start: "09:00",
      end: "17:00",
      days_off: ["2026-12-25"],
      targets: [
        { min_score: 5, label: "Account Takeover", hours: 4 },
        { min_score: 4, hours: 8 },
        { min_score: 1, hours: 40 },
      ],
    },
    handle: update,
  }),
];
