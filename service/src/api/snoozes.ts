import { Type } from "typebox";
import type { LockedCase } from "../db/cases.ts";
import type { Transaction } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { lockSettings } from "../db/rules.ts";
import {
  countActiveSnoozes,
  endSnoozes,
  findJudgedSize,
  listEvidenceNames,
  listSnoozes,
  listSnoozesOfCases,
  lockSnooze,
  type SnoozePlace,
} from "../db/snoozes.ts";
import { reportName } from "../detection/report.ts";
import type { DomainEvent } from "../domain/event.ts";
import { notFound } from "../domain/failure.ts";
import {
  Snooze,
  isOwnScope,
  judgedIn,
  scopeValue,
  snoozeEnded,
  snoozeFault,
  snoozesMax,
  type NewSnooze,
  type SnoozeRequest,
} from "../domain/snooze.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { Cursor, Limit, listPage, pageOf } from "./http/page.ts";
import { operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const dayMs = 24 * 60 * 60 * 1000;

type Asked = SnoozeRequest & { occurrence_ids?: string[] | undefined; at: string; by: string; newId: () => string };

// Returns the snoozes that closing this case creates: one, or one for each device, address or payee that its evidence names. If the
// close is about some occurrences only, the others were not judged.
export async function snoozesOf(tx: Transaction, found: LockedCase, asked: Asked): Promise<NewSnooze[]> {
  const { days, scope, occurrence_ids: ids, at, by, newId } = asked;
  const { document, subject } = found;
  const { tenant_id: tenantId, case_id } = document;
  const occurrences = Object.entries(document.fraud_occurrences).flatMap(([id, each]) =>
    ids?.includes(id) === false ? [] : each,
  );
  const judged = judgedIn(occurrences, reportName);
  const isOwn = isOwnScope(subject, scope);
  const named = isOwn
    ? []
    : await listEvidenceNames(
        tx,
        tenantId,
        occurrences.map(({ prediction_id }) => prediction_id),
      );
  const values = [...new Set(named.flatMap((each) => scopeValue(scope, each) ?? []))];
  const fault = snoozeFault({ subject, scope, judged, values });
  if (fault) throw invalid([fault]);
  // Lock the settings, so that concurrent closes cannot exceed the limit.
  await lockSettings(tx, tenantId, at);
  if ((await countActiveSnoozes(tx, tenantId, at)) + Math.max(values.length, 1) > snoozesMax)
    throw invalid([
      { field: "snooze", message: `is not possible, because the tenant would have more than ${snoozesMax} active snoozes` },
    ]);
  const size = await findJudgedSize(tx, tenantId, { case_id, rules: judged.rules });
  const until = new Date(Date.parse(at) + days * dayMs).toISOString();
  const common = { case_id, subject, scope, ...judged, size, created_at: at, created_by: by, until };
  return (isOwn ? [null] : values).map((value) => ({ ...common, value, snooze_id: newId() }));
}

// Reopening a case revokes the outcome that made its rules quiet.
export async function endReopened(tx: Transaction, tenantId: string, reopened: LockedCase[]): Promise<DomainEvent[]> {
  const events: DomainEvent[] = [];
  for (const { document } of reopened) {
    const { changed_at: now, changed_by: by } = document.current_state;
    const ending = { because: "reopened", by, now } as const;
    const ids = await listSnoozesOfCases(tx, tenantId, [document.case_id]);
    const ended = await endSnoozes(tx, tenantId, ids, ending);
    events.push(...ended.map((each) => snoozeEnded(each, ending)));
  }
  return events;
}

async function list(services: Services, call: Call<unknown, { is_active?: boolean }>): Promise<Reply> {
  const { is_active: isActive = null } = call.query;
  return listPage<Snooze, SnoozePlace>(services, call, {
    id: "listSnoozes",
    path: "/snoozes",
    name: "snoozes",
    key: { is_active: String(isActive) },
    read: (after, limit) => {
      const page = { now: services.now(), isActive, after, limit };
      return listSnoozes(services.database, call.caller.tenant_id, page);
    },
    positionOf: ({ created_at, snooze_id }) => [created_at, snooze_id],
    show: (found) => found,
  });
}

// Ending a snooze that has already ended changes nothing.
async function end(services: Services, { caller, params }: Call): Promise<Reply> {
  const id = params["snooze_id"] ?? "";
  const ending = { because: "by_hand", by: caller.actor, now: services.now() } as const;
  return services.database.transaction(async (tx) => {
    if (!isCanonicalUuid(id) || !(await lockSnooze(tx, caller.tenant_id, id))) throw notFound("Snooze", id);
    const ended = await endSnoozes(tx, caller.tenant_id, [id], ending);
    const events = ended.map((each) => snoozeEnded(each, ending));
    if (events.length > 0) await appendEvents(tx, caller.tenant_id, events);
    return { status: 204, body: "", headers: {} };
  });
}

const tag = "Cases";

export const snoozeOperations: Operation[] = [
  operation({
    id: "listSnoozes",
    method: "GET",
    path: "/snoozes",
    scope: "read:cases",
    tag,
    summary: "List snoozes",
    description:
      "Lists the rules that are quiet about a subject because its case was closed as a false positive with `snooze`. Each snooze says until when, and how many activities it kept from the queue. Newest first. A snooze is listed until the retention period after its date is over, even if it has ended.",
    query: Type.Object({ is_active: Type.Optional(Type.Boolean()), limit: Limit, cursor: Cursor }),
    success: pageOf("snoozes", Snooze, "A page of snoozes"),
    problems: ["bad-request"],
    handle: list,
  }),
  operation({
    id: "endSnooze",
    method: "DELETE",
    path: "/snoozes/{snooze_id}",
    scope: "update:case",
    tag,
    summary: "End a snooze",
    description:
      "The rules count again from the next batch on. The snooze stays in the list. Ending a snooze that has already ended changes nothing.",
    success: { status: 204, description: "The snooze has ended" },
    problems: ["bad-request", "item-not-found", "transaction-contended"],
    handle: end,
  }),
];
