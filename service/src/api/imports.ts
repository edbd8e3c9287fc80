import { Type } from "typebox";
import { appendEvents } from "../db/events.ts";
import {
  findAlerts,
  findImport,
  insertHistory,
  listFrauds,
  saveImportStart,
  saveWaitingFrauds,
  type WaitingPast,
} from "../db/history.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { findTenant } from "../db/tenants.ts";
import { Failure } from "../domain/failure.ts";
import { Time } from "../domain/field.ts";
import { shownTime } from "../domain/text.ts";
import {
  HistoryBatch,
  HistoryBatchResult,
  HistoryReport,
  HistoryStatus,
  keptFrom,
  pastFaults,
  type PastActivity,
} from "../domain/history.ts";
import { momentNames, momentOf } from "../domain/moment.ts";
import { recorded } from "./activities.ts";
import { storeLabels } from "./labels.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

const bodyBytesMax = 2 * 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1000;
const reportDaysMax = 31;
// PostgreSQL writes earlier years in another way.
const earliestMs = Date.parse("0001-01-01T00:00:00.000Z");

async function findKeptFrom({ database, retentionDays, now }: Services, { slug }: Caller): Promise<string> {
  const tenant = await findTenant(database, slug);
  return keptFrom(now(), tenant?.retention_days ?? retentionDays);
}

async function accept(services: Services, { caller, body }: Call<HistoryBatch>): Promise<Reply> {
  const now = services.now();
  const faults = body.activities.flatMap((each, index) =>
    pastFaults(each, Date.parse(now)).map(({ field, message }) => ({ field: `activities[${index}].${field}`, message })),
  );
  if (faults.length > 0) throw invalid(faults);
  const since = await findKeptFrom(services, caller);
  const all = body.activities.map((each) => waitingPast(each, now));
  const past = all.filter(({ activity }) => activity.occurred_at >= since);
  const { tenant_id: tenantId, actor } = caller;
  const store = () =>
    services.database.transaction(async (tx) => {
      const { duplicates, reused } = await insertHistory(tx, tenantId, { past, actor });
      const unlabelled = await labelKnown(tx, { caller, now }, duplicates);
      const knownCount = duplicates.length + reused.length;
      const result: HistoryBatchResult = {
        accepted: past.length - knownCount,
        duplicates: knownCount,
        reused: reused.length,
        too_old: all.length - past.length,
        unlabelled,
      };
      if (result.accepted > 0) {
        const resource = { type: "tenant" as const, id: tenantId };
        const data = { accepted: result.accepted };
        await appendEvents(tx, tenantId, [{ type: "history.stored", occurred_at: now, actor, resource, data }]);
      }
      return dataReply(result, 202);
    });
  return services.historyRoom.store(services.database, tenantId, past.length, store);
}

// The time of the activity is also stored as its time of receipt, so that it belongs to the partition of its day.
function waitingPast({ fraudulent, known_at, ...activity }: PastActivity, now: string): WaitingPast {
  const known = known_at === undefined ? now : shownTime(known_at);
  return { activity: recorded(activity, shownTime(activity.occurred_at)), known_at: fraudulent === true ? known : null };
}

// A file that is imported again may mark more frauds than the first time. Returns how many could not be labelled.
async function labelKnown(tx: Queryable, by: { caller: Caller; now: string }, duplicates: WaitingPast[]): Promise<number> {
  const known = duplicates.filter(({ known_at }) => known_at !== null);
  const scored = await saveWaitingFrauds(tx, by.caller.tenant_id, known);
  const labels = scored.map(({ activity, known_at }) => {
    return { activity_id: activity.activity_id, fraudulent: true, ...(known_at !== null && { known_at }) };
  });
  return labels.length === 0 ? 0 : (await storeLabels(tx, by, labels)).not_found.length;
}

async function read(services: Services, { caller }: Call): Promise<Reply> {
  const { oldest_at, ...found } = await findImport(services.database, caller.tenant_id);
  const status: HistoryStatus = {
    ...found,
    ...(oldest_at !== null && { oldest_at }),
    kept_from: await findKeptFrom(services, caller),
  };
  return dataReply(status);
}

async function start(services: Services, call: Call): Promise<Reply> {
  const { tenant_id: tenantId, actor } = call.caller;
  const now = services.now();
  await services.database.transaction(async (tx) => {
    if (!(await saveImportStart(tx, tenantId, { now, actor }))) return;
    const resource = { type: "tenant" as const, id: tenantId };
    await appendEvents(tx, tenantId, [{ type: "history.started", occurred_at: now, actor, resource }]);
  });
  return { ...(await read(services, call)), status: 202 };
}

type Asked = { from?: string; until?: string };

async function report(services: Services, { caller, query }: Call<unknown, Asked>): Promise<Reply> {
  const until = query.until === undefined ? services.now() : shownTime(query.until);
  const earliest = new Date(Math.max(Date.parse(until) - reportDaysMax * dayMs, earliestMs)).toISOString();
  const from = query.from === undefined ? earliest : shownTime(query.from);
  if (Date.parse(until) - Date.parse(from) > reportDaysMax * dayMs)
    throw new Failure("bad-request", `A report covers at most ${reportDaysMax} days.`);
  const span = { from, until };
  const [alerts, frauds] = await Promise.all([
    findAlerts(services.database, caller.tenant_id, span),
    listFrauds(services.database, caller.tenant_id, span),
  ]);
  const found = momentNames.map((moment) => {
    const own = frauds.filter(({ type }) => momentOf(type) === moment);
    const sum = (pick: (each: (typeof own)[number]) => number) => own.reduce((all, each) => all + pick(each), 0);
    return [moment, { frauds: sum((each) => each.frauds), found: sum((each) => each.found) }];
  });
  return dataReply({ ...alerts, moments: Object.fromEntries(found) });
}

const scope = "import:activities" as const;
const tag = "Import";

export const importOperations: Operation[] = [
  operation({
    id: "getImport",
    method: "GET",
    path: "/imports",
    scope,
    tag,
    summary: "Get the progress of the import",
    success: {
      status: 200,
      description: "The number of waiting activities, and the time before which activity is not kept",
      schema: HistoryStatus,
    },
    problems: [],
    handle: read,
  }),
  operation({
    id: "importActivities",
    method: "POST",
    path: "/imports",
    scope,
    tag,
    summary: "Send activity from before you started to use Casehound",
    description:
      "The activities are stored, and wait until the import is started. Then Casehound learns from them what is usual and stores its decisions, but opens no cases. An activity that is already stored is skipped. If the request marks it as a fraud, it is labelled. An activity that is too old to be kept is counted, but not stored. One invalid activity rejects the whole batch. If 5,000,000 activities are waiting, the response is 429: start the import, and send more when fewer are waiting.",
    body: HistoryBatch,
    bodyBytesMax,
    success: { status: 202, description: "How many activities were new, already stored, or too old", schema: HistoryBatchResult },
    problems: ["bad-request", "rate-limited", "transaction-contended"],
    example: {
      activities: [
        {
          activity_id: "payment-2210",
          type: "payment",
          occurred_at: "2026-11-01T09:30:00.000Z",
          website_account_id: "user-42",
          amount: 129.9,
          currency: "EUR",
          fraudulent: true,
          known_at: "2026-11-09T00:00:00.000Z",
        },
      ],
    },
    handle: accept,
  }),
  operation({
    id: "startImport",
    method: "POST",
    path: "/imports/start",
    scope,
    tag,
    summary: "Start scoring the history",
    description:
      "The activities are scored in order of time, regardless of the order in which they were sent. So send everything before you start. The import ends when no activity is waiting. Live activity is scored first.",
    success: { status: 202, description: "The number of waiting activities", schema: HistoryStatus },
    problems: ["transaction-contended"],
    handle: start,
  }),
  operation({
    id: "getImportReport",
    method: "GET",
    path: "/imports/report",
    scope,
    tag,
    summary: "Compare the scores with the known frauds",
    description: `Counts all scored activity between \`from\` and \`until\`, which may be at most ${reportDaysMax} days apart.`,
    query: Type.Object({
      from: Type.Optional({ ...Time, description: `Default: ${reportDaysMax} days before \`until\`.` }),
      until: Type.Optional({ ...Time, description: "Exclusive. Default: now." }),
    }),
    success: {
      status: 200,
      description: "How many frauds are known, how many of them were found, and how many cases would have been opened",
      schema: HistoryReport,
    },
    problems: ["bad-request"],
    handle: report,
  }),
];
