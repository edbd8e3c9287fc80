import { Type } from "typebox";
import { findDecidingLabels } from "../db/labels.ts";
import {
  listActivitiesOfAccount,
  listActivitiesOfDecisions,
  listLatestActivities,
  type LogPosition,
  type TimelineRow,
} from "../db/timeline.ts";
import { unknownAccount } from "../domain/account.ts";
import type { BrowserFacts, Payment } from "../domain/activity.ts";
import type { CaseDocument } from "../domain/case.ts";
import { casesIn, type StoredDecision } from "../domain/decision.ts";
import { notFound } from "../domain/failure.ts";
import { ratedTypes } from "../domain/label.ts";
import { ScoredActivity } from "../domain/session.ts";
import { storedSource } from "../domain/source.ts";
import { requireAccountId } from "./accounts.ts";
import { operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import { PageQuery, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";

const hourMs = 60 * 60 * 1000;
// The time around a case's occurrences for which its account's activity is shown.
const aroundMs = { before: 24 * hourMs, after: hourMs };
// Scoring may lag behind by as long as an outage of the engine, but no longer.
const scoringLagMs = 30 * 24 * hourMs;

// Leaves out members that are not set.
export function given<T extends object>(members: T): { [name in keyof T]?: NonNullable<T[name]> } {
  const set = Object.entries(members).filter(([, value]) => value !== null && value !== undefined);
  // The same members, without those that are not set.
  return Object.fromEntries(set) as { [name in keyof T]?: NonNullable<T[name]> };
}

// The log does not keep the order of activities that were received together, so they are sorted as they were sent. Newest first,
// unless `byTime` says that the rows are in chronological order.
export function inOrder(rows: TimelineRow[], byTime?: "occurred_at"): TimelineRow[] {
  const [at, sign] = byTime ? ([byTime, 1] as const) : (["received_at", -1] as const);
  return rows
    .map((row) => ({ row, place: (JSON.parse(row.document) as { place?: number }).place ?? 0 }))
    .toSorted((a, b) => sign * (a.row[at] === b.row[at] ? a.place - b.place : a.row[at] < b.row[at] ? -1 : 1))
    .map(({ row }) => row);
}

function showActivity(row: TimelineRow): ScoredActivity {
  // Stored with the activity and by the engine.
  const { attributes, browser, source, payment } = JSON.parse(row.document) as {
    attributes?: ScoredActivity["attributes"];
    payment?: Payment;
    browser?: BrowserFacts;
    source?: string;
  };
  const decision = JSON.parse(row.decision) as StoredDecision;
  const { l, r = {}, b } = decision;
  const { page_url, page_title, signs } = browser ?? {};
  const { website_account_id, claimed_account_id, session_id, device_id, ip, user_agent, prediction_id, case_id } = row;
  return {
    activity_id: row.activity_id,
    type: row.type,
    origin: row.origin === "browser" ? "browser" : "server",
    source: storedSource(row.origin, source),
    occurred_at: row.occurred_at,
    received_at: row.received_at,
    ...given({ website_account_id, claimed_account_id, session_id, device_id, ip }),
    ...given({ user_agent, page_url, page_title, signs }),
    ...payment,
    ...given({ attributes }),
    score: row.score,
    ...given({ log_odds: l }),
    rules: Object.keys(r),
    ...given({ lists: b?.slice(1).map(String) }),
    ...given({ prediction_id, case_id }),
    ...casesIn(decision, case_id, row.score),
  };
}

export async function showActivities(
  { database }: Services,
  { tenant_id, scopes }: Caller,
  rows: TimelineRow[],
): Promise<ScoredActivity[]> {
  const rated = scopes.has("read:labels") ? rows.filter(({ type }) => ratedTypes.includes(type)) : [];
  const labels = await findDecidingLabels(
    database,
    tenant_id,
    rated.map(({ id_key }) => id_key),
  );
  return rows.map((row) => ({ ...showActivity(row), ...given({ label: labels.get(row.id_key) }) }));
}

export async function requireCase(services: Services, { caller, params }: Call): Promise<CaseDocument> {
  const id = params["case_id"] ?? "";
  const stored = await services.findCase(caller.tenant_id, id);
  if (!stored) throw notFound("Case", id);
  // Written by us.
  return JSON.parse(stored.text) as CaseDocument;
}

// The part of the log in which the case's evidence is, and for a case with an account what the account did around it.
export function caseSpan({ website_account_id, fraud_occurrences, details }: CaseDocument): { from: string; until: string } {
  const occurrences = Object.values(fraud_occurrences);
  const times = occurrences.map((each) => Date.parse(each.generated_at));
  // A random check is opened the day after its activity, or later.
  if (details.random_check) times.push(...occurrences.map(({ generated_at, first_at = generated_at }) => Date.parse(first_at)));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const isUnknown = website_account_id === unknownAccount;
  return {
    from: new Date(first - (isUnknown ? scoringLagMs : aroundMs.before)).toISOString(),
    until: new Date(last + aroundMs.after).toISOString(),
  };
}

async function caseActivities(services: Services, call: Call): Promise<Reply> {
  const found = await requireCase(services, call);
  const { case_id, website_account_id } = found;
  const { evidence = false } = call.query as { evidence?: boolean };
  const isEvidence = evidence || website_account_id === unknownAccount;
  const span = caseSpan(found);
  const prediction_ids = Object.values(found.fraud_occurrences).map((each) => each.prediction_id);
  const { tenant_id: tenantId } = call.caller;
  return listPage<TimelineRow, LogPosition>(services, call, {
    id: "listCaseActivities",
    path: `/cases/${case_id}/activities`,
    name: "activities",
    key: { case_id, evidence: String(evidence) },
    read: (after, limit) =>
      isEvidence
        ? listActivitiesOfDecisions(services.database, tenantId, { ...span, prediction_ids, after, limit })
        : listActivitiesOfAccount(services.database, tenantId, { ...span, website_account_id, after, limit }),
    positionOf: ({ received_at, id_key }) => ({ received_at, id_key }),
    show: (rows) => showActivities(services, call.caller, inOrder(rows)),
  });
}

async function accountActivities(services: Services, call: Call): Promise<Reply> {
  const website_account_id = await requireAccountId(services, call);
  const span = { from: "-infinity", until: "infinity" };
  return listPage<TimelineRow, LogPosition>(services, call, {
    id: "listEndUserAccountActivities",
    path: `/enduseraccounts/${encodeURIComponent(website_account_id)}/activities`,
    name: "activities",
    key: { website_account_id },
    read: (after, limit) =>
      listActivitiesOfAccount(services.database, call.caller.tenant_id, { ...span, website_account_id, after, limit }),
    positionOf: ({ received_at, id_key }) => ({ received_at, id_key }),
    show: (rows) => showActivities(services, call.caller, inOrder(rows)),
  });
}

async function latestActivities(services: Services, call: Call): Promise<Reply> {
  return listPage<TimelineRow, LogPosition>(services, call, {
    id: "listActivities",
    path: "/activities",
    name: "activities",
    key: {},
    read: (after, limit) => listLatestActivities(services.database, call.caller.tenant_id, { after, limit }),
    positionOf: ({ received_at, id_key }) => ({ received_at, id_key }),
    show: (rows) => showActivities(services, call.caller, inOrder(rows)),
  });
}

export const timelineOperations: Operation[] = [
  operation({
    id: "listActivities",
    method: "GET",
    path: "/activities",
    scope: "read:enduseraccounts",
    tag: "Activity",
    summary: "List the latest activity",
    description:
      "From servers and browsers, newest first by the time it was received. Activity that still waits to be scored appears a moment later. Use this to check whether activity arrives, and what it contains.",
    query: PageQuery,
    success: pageOf("activities", ScoredActivity, "A page of activity"),
    problems: ["bad-request"],
    handle: latestActivities,
  }),
  operation({
    id: "listCaseActivities",
    method: "GET",
    path: "/cases/{case_id}/activities",
    scope: "read:case",
    tag: "Cases",
    summary: "List the activity around a case's occurrences",
    description:
      "Newest first by the time it was received. For a case with an account: everything the account did from a day before the first occurrence that the case shows to an hour after the last. For a case without one: the activity that caused its occurrences. Its sessions show the rest.",
    query: Type.Object({
      ...PageQuery.properties,
      evidence: Type.Optional(
        Type.Boolean({ description: "If `true`, only the activity that caused the occurrences that the case shows." }),
      ),
    }),
    success: pageOf("activities", ScoredActivity, "A page of activity"),
    problems: ["bad-request", "item-not-found"],
    handle: caseActivities,
  }),
  operation({
    id: "listEndUserAccountActivities",
    method: "GET",
    path: "/enduseraccounts/{website_account_id}/activities",
    scope: "read:enduseraccount",
    tag: "End-user accounts",
    summary: "List an account's activity",
    description: "Newest first by the time it was received, for as long as raw activity is kept.",
    query: PageQuery,
    success: pageOf("activities", ScoredActivity, "A page of activity"),
    problems: ["bad-request", "item-not-found"],
    handle: accountActivities,
  }),
];
