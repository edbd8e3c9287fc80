import { findSessions, type StoredSession } from "../db/states.ts";
import {
  findSessionTraces,
  listActivitiesOfSession,
  listSessionsOfAccount,
  type SessionPosition,
  type TimelineRow,
} from "../db/timeline.ts";
import type { SessionFacts } from "../detection/entity.ts";
import { clockToleranceMs, type BrowserFacts } from "../domain/activity.ts";
import { notFound } from "../domain/failure.ts";
import { ScoredActivity, Session, isActive, sessionActivitiesMax, type Client } from "../domain/session.ts";
import { requireAccountId } from "./accounts.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import { PageQuery, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";
import { given, inOrder, requireCase, showActivities } from "./timeline.ts";

function showClient(client: Partial<BrowserFacts> | null | undefined): Client | undefined {
  if (!client) return undefined;
  const { sdk, locale, zone_offset_minutes, screen, viewport, referrer, session_started_at } = client;
  return given({ sdk, locale, zone_offset_minutes, screen, viewport, referrer, session_started_at });
}

async function showSessions(services: Services, tenantId: string, stored: StoredSession[]): Promise<Session[]> {
  const traces = await findSessionTraces(services.database, tenantId, stored);
  const nowMs = Date.parse(services.now());
  return stored.map(({ session_id, website_account_id, device_id, started_at, last_at, facts }) => {
    // The engine wrote this, and it leaves out empty members.
    const { events = 0, pages = 0, accounts = [], isWebdriver = false, client } = JSON.parse(facts) as Partial<SessionFacts>;
    const { ips, user_agent } = traces.get(session_id) ?? { ips: null, user_agent: null };
    const isNow = isActive(last_at, nowMs);
    return {
      session_id,
      session_status: isNow ? "ACTIVE" : "FINISHED",
      ...given({ website_account_id, device_id }),
      started_at,
      last_activity_at: last_at,
      ended_at: isNow ? null : last_at,
      activities: events,
      page_views: pages,
      accounts: accounts.length,
      is_webdriver: isWebdriver,
      ips: ips ?? [],
      ...given({ user_agent, client: showClient(client) }),
    };
  });
}

async function requireSession(services: Services, { caller, params }: Call): Promise<StoredSession> {
  const id = params["session_id"] ?? "";
  const [found] = await findSessions(services.database, caller.tenant_id, [id]);
  if (!found) throw notFound("Session", id);
  return found;
}

async function readSession(services: Services, call: Call): Promise<Reply> {
  const stored = await requireSession(services, call);
  const [shown] = await showSessions(services, call.caller.tenant_id, [stored]);
  return dataReply(shown);
}

async function sessionActivities(services: Services, call: Call): Promise<Reply> {
  const { session_id, started_at } = await requireSession(services, call);
  const from = new Date(Date.parse(started_at) - clockToleranceMs).toISOString();
  return listPage<TimelineRow, SessionPosition>(services, call, {
    id: "listSessionActivities",
    path: `/sessions/${encodeURIComponent(session_id)}/activities`,
    name: "activities",
    key: { session_id },
    read: (after, limit) => listActivitiesOfSession(services.database, call.caller.tenant_id, { session_id, from, after, limit }),
    positionOf: ({ occurred_at, id_key }) => ({ occurred_at, id_key }),
    show: (rows) => showActivities(services, call.caller, inOrder(rows, "occurred_at")),
  });
}

// A case shows at most 200 occurrences, so its sessions are few enough to be sorted here.
async function caseSessions(services: Services, call: Call): Promise<Reply> {
  const { case_id, session_id, fraud_occurrences } = await requireCase(services, call);
  const named = [session_id, ...Object.values(fraud_occurrences).map((each) => each.session_id)];
  const ids = [...new Set(named)].filter((id) => id !== undefined);
  const { tenant_id: tenantId } = call.caller;
  return listPage<StoredSession, string>(services, call, {
    id: "listCaseSessions",
    path: `/cases/${case_id}/sessions`,
    name: "sessions",
    key: { case_id },
    read: async (after, limit) => {
      const found = await findSessions(services.database, tenantId, ids);
      const sorted = found.toSorted((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
      return sorted.filter((each) => after === null || placeOf(each) < after).slice(0, limit);
    },
    positionOf: placeOf,
    show: (stored) => showSessions(services, tenantId, stored),
  });
}

function placeOf({ started_at, session_id }: StoredSession): string {
  return `${started_at} ${session_id}`;
}

async function accountSessions(services: Services, call: Call): Promise<Reply> {
  const website_account_id = await requireAccountId(services, call);
  const { tenant_id: tenantId } = call.caller;
  return listPage<StoredSession, { started_at: string; session_id: string }>(services, call, {
    id: "listEndUserAccountSessions",
    path: `/enduseraccounts/${encodeURIComponent(website_account_id)}/sessions`,
    name: "sessions",
    key: { website_account_id },
    read: (after, limit) => listSessionsOfAccount(services.database, tenantId, { website_account_id, after, limit }),
    positionOf: ({ started_at, session_id }) => ({ started_at, session_id }),
    show: (stored) => showSessions(services, tenantId, stored),
  });
}

export const sessionOperations: Operation[] = [
  operation({
    id: "getSession",
    method: "GET",
    path: "/sessions/{session_id}",
    scope: "read:case",
    tag: "Activity",
    summary: "Read a session",
    success: { status: 200, description: "The session", schema: Session },
    problems: ["bad-request", "item-not-found"],
    handle: readSession,
  }),
  operation({
    id: "listSessionActivities",
    method: "GET",
    path: "/sessions/{session_id}/activities",
    scope: "read:case",
    tag: "Activity",
    summary: "List a session's events",
    description: `In the order in which they occurred, each with its score. For a session with more than ${sessionActivitiesMax} events, only those received first.`,
    query: PageQuery,
    success: pageOf("activities", ScoredActivity, "A page of events"),
    problems: ["bad-request", "item-not-found"],
    handle: sessionActivities,
  }),
  operation({
    id: "listCaseSessions",
    method: "GET",
    path: "/cases/{case_id}/sessions",
    scope: "read:case",
    tag: "Cases",
    summary: "List the sessions that a case's occurrences belong to",
    description: "Newest first. A session whose activity is no longer kept, or was erased with its account, is left out.",
    query: PageQuery,
    success: pageOf("sessions", Session, "A page of sessions"),
    problems: ["bad-request", "item-not-found"],
    handle: caseSessions,
  }),
  operation({
    id: "listEndUserAccountSessions",
    method: "GET",
    path: "/enduseraccounts/{website_account_id}/sessions",
    scope: "read:enduseraccount",
    tag: "End-user accounts",
    summary: "List an account's sessions",
    description: "Newest first. A session belongs to the account that was seen in it last.",
    query: PageQuery,
    success: pageOf("sessions", Session, "A page of sessions"),
    problems: ["bad-request", "item-not-found"],
    handle: accountSessions,
  }),
];
