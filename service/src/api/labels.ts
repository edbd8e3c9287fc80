import { Type } from "typebox";
import { appendEvents } from "../db/events.ts";
import {
  listLabels,
  lockRatedById,
  lockRatedOfOrders,
  saveLabels,
  type LabelFilter,
  type LabelPosition,
  type ListedLabel,
  type NewLabelRow,
} from "../db/labels.ts";
import { timeOf } from "../domain/activity.ts";
import { Time } from "../domain/field.ts";
import { shownTime } from "../domain/text.ts";
import { Label, LabelBatch, LabelBatchResult, labelFaults, labelSources, sourcesByRank, type NewLabel } from "../domain/label.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import { Cursor, Limit, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const bodyBytesMax = 1024 * 1024;

async function create(services: Services, { caller, body }: Call<LabelBatch>): Promise<Reply> {
  const now = services.now();
  const faults = labelFaults(body, Date.parse(now));
  if (faults.length > 0) throw invalid(faults);
  const { labels } = body;
  return services.database.transaction(async (tx) => dataReply(await storeLabels(tx, { caller, now }, labels)));
}

// Stores labels and the event that says how many, in the caller's transaction.
export async function storeLabels(
  tx: Queryable,
  { caller, now }: { caller: Caller; now: string },
  labels: readonly NewLabel[],
): Promise<LabelBatchResult> {
  const tenantId = caller.tenant_id;
  const byId = await lockRatedById(tx, tenantId, definedOf(labels.map((each) => each.activity_id)));
  const byOrder = await lockRatedOfOrders(tx, tenantId, definedOf(labels.map((each) => each.order_id)));
  const found = labels.map(({ activity_id, order_id }) =>
    activity_id === undefined ? byOrder.get(order_id ?? "") : byId.get(activity_id),
  );
  // If a request labels an activity twice, the last label counts.
  const rows = new Map<string, { row: NewLabelRow; index: number }>();
  for (const [index, { fraudulent, known_at }] of labels.entries()) {
    const known = known_at === undefined ? now : shownTime(known_at);
    for (const activity of found[index] ?? []) {
      const event_at = new Date(timeOf(activity)).toISOString();
      const told = { y: fraudulent ? (1 as const) : (0 as const), event_at, labelled_at: now, known_at: known };
      const from = { source: "api" as const, weight: labelSources.api.weight, case_id: null, case_version: null };
      rows.set(activity.id_key, { row: { activity, ...told, ...from, actor: caller.actor }, index });
    }
  }
  const all = [...rows.values()];
  const changed = await saveLabels(
    tx,
    tenantId,
    all.map(({ row }) => row),
  );
  const stored = new Set(all.flatMap(({ row, index }) => (changed.has(row.activity.id_key) ? [index] : [])));
  const not_found = labels.flatMap((_, index) => (found[index] ? [] : [index]));
  const result: LabelBatchResult = {
    stored: stored.size,
    unchanged: labels.length - not_found.length - stored.size,
    not_found,
  };
  if (stored.size > 0) {
    const fraudulent = [...stored].filter((index) => labels[index]?.fraudulent === true).length;
    const resource = { type: "tenant" as const, id: tenantId };
    const data = { stored: stored.size, fraudulent };
    await appendEvents(tx, tenantId, [{ type: "labels.stored", occurred_at: now, actor: caller.actor, resource, data }]);
  }
  return result;
}

function definedOf(texts: (string | undefined)[]): string[] {
  return texts.filter((text) => text !== undefined);
}

function list(services: Services, call: Call): Promise<Reply> {
  const { limit: _limit, cursor: _cursor, ...given } = call.query as LabelFilter & { limit?: number; cursor?: string };
  const filter = { ...given, ...(given.since !== undefined && { since: shownTime(given.since) }) };
  return listPage<ListedLabel, LabelPosition>(services, call, {
    id: "listLabels",
    path: "/labels",
    name: "labels",
    key: filter,
    read: (before, limit) => listLabels(services.database, call.caller.tenant_id, { filter, before, limit }),
    positionOf: (last) => last.position,
    show: (items) => items.map(({ position: _position, ...label }) => label),
  });
}

export const labelOperations: Operation[] = [
  operation({
    id: "listLabels",
    method: "GET",
    path: "/labels",
    scope: "read:labels",
    tag: "Labels",
    summary: "List labels",
    description: "The latest first. An activity can have one label of each source, and one of each case that it is evidence in.",
    query: Type.Object({
      activity_id: Type.Optional(Type.String({ maxLength: 64 })),
      order_id: Type.Optional(Type.String({ maxLength: 128 })),
      source: Type.Optional(Type.Enum(sourcesByRank)),
      since: Type.Optional({ ...Time, description: "Only labels that were stored at this time or later." }),
      limit: Limit,
      cursor: Cursor,
    }),
    success: pageOf("labels", Label, "A page of labels"),
    problems: ["bad-request"],
    handle: list,
  }),
  operation({
    id: "createLabels",
    method: "POST",
    path: "/labels",
    scope: "create:labels",
    tag: "Labels",
    summary: "Say which activities were frauds",
    description:
      "For example from a file of chargebacks. A label names an activity that a server sent, or an order. Only log-ins, sign-ups, changes of an account, payments and transfers can be labelled. Stored labels are durable. A label whose activity is unknown does not stop the others. The same label again changes nothing, and a later label replaces an earlier one.",
    body: LabelBatch,
    bodyBytesMax,
    success: {
      status: 200,
      description: "How many labels were stored and how many changed nothing, and which were not found",
      schema: LabelBatchResult,
    },
    problems: ["bad-request", "transaction-contended"],
    example: { labels: [{ order_id: "order-7781", fraudulent: true, known_at: "2026-11-15T09:30:00.000Z" }] },
    handle: create,
  }),
];
