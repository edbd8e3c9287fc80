import { Type } from "typebox";
import { findLastEventIds, listEventsOf } from "../db/events.ts";
import { readFullEvents } from "../db/full-events.ts";
import { withNoteTexts } from "../db/notes.ts";
import { LoggedEvent, scopeOfEvent } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { accountId, accountNoun } from "./account-update.ts";
import { openStream, readPosition } from "./event-stream.ts";
import { jsonMediaType, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import { Limit, PageQuery, listPage, pageOf } from "./http/page.ts";
import type { Reply } from "./http/problem.ts";

const After = Type.Optional(
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "The id of the last event received." }),
);

// Some types of events need a further scope: only callers that may read users see events about users, for example.
function mayRead({ scopes }: Caller): (type: string) => boolean {
  return (type) => {
    const scope = scopeOfEvent(type);
    return scope === undefined || scopes.has(scope);
  };
}

function readerOf({ actor, tenant_id: tenantId }: Caller): { tenantId: string; reader: string } {
  return { tenantId, reader: actor };
}

async function list(services: Services, { caller, query, hold }: Call): Promise<Reply> {
  if (!hold) throw new Error("a long poll was called without `hold`");
  const { after = 0, limit = 1000, wait = 0 } = query as { after?: number; limit?: number; wait?: number };
  const asked = { after, limit, scopes: caller.scopes, isWanted: mayRead(caller) };
  const read = () => hold.inTurn(() => readFullEvents(services.database, caller.tenant_id, asked));
  let page = await read();
  if (page.next_after === after && after > 0) await requireReached(services, caller, after);
  if (page.next_after === after && wait > 0) {
    await services.feed.wait(readerOf(caller), { after, timeoutMs: wait * 1000, onLeave: hold.onLeave });
    page = await read();
  }
  const body = `{"data":{"events":[${page.events.join(",")}],"next_after":${page.next_after}}}`;
  return { status: 200, body, headers: { "content-type": jsonMediaType } };
}

// An id beyond the end of the log was issued before a restore. A reader that waited after it would miss the new events that get
// the same ids.
async function requireReached({ database }: Services, { tenant_id: tenantId }: Caller, after: number): Promise<void> {
  const last = (await findLastEventIds(database, [tenantId])).get(tenantId) ?? 0;
  if (after <= last) return;
  const words = `The log ends at event ${last}, before ${after}. It was restored from an older backup. Read your data again and continue from there.`;
  throw new Failure("bad-request", words);
}

async function stream(services: Services, { caller, query, visit }: Call): Promise<Reply> {
  if (!visit) throw new Error("a stream was called without `visit`");
  const { after, types, wait } = query as { after?: number; types?: string; wait?: number };
  const isReadable = mayRead(caller);
  const asked = types === undefined ? null : new Set(types.split(","));
  return openStream(services.feed, {
    ...readerOf(caller),
    after: readPosition(visit, after),
    isWanted: (type) => isReadable(type) && (asked === null || asked.has(type)),
    waitMs: wait === undefined ? null : wait * 1000,
    visit,
  });
}

type History = {
  id: string;
  resource: { type: "case" | "end_user_account"; id: string };
  path: string;
  exists: () => Promise<boolean>;
  missing: () => Error;
};

function history(services: Services, call: Call, { id, resource, path, exists, missing }: History): Promise<Reply> {
  return listPage<LoggedEvent, number>(services, call, {
    id,
    path,
    name: "events",
    key: { id: resource.id },
    read: async (before, limit) => {
      const found = await listEventsOf(services.database, call.caller.tenant_id, { resource, before, limit });
      if (found.length === 0 && !(await exists())) throw missing();
      return withNoteTexts(services.database, call.caller.tenant_id, found);
    },
    positionOf: (last) => last.event_id,
    show: (events) => events,
  });
}

function caseHistory(services: Services, call: Call): Promise<Reply> {
  const id = call.params["case_id"] ?? "";
  return history(services, call, {
    id: "listCaseEvents",
    resource: { type: "case", id },
    path: `/cases/${encodeURIComponent(id)}/events`,
    exists: async () => (await services.findCase(call.caller.tenant_id, id)) !== undefined,
    missing: () => notFound("Case", id),
  });
}

// The history of an erased account is found only under its pseudonym, which its cases have.
function accountHistory(services: Services, call: Call): Promise<Reply> {
  const id = accountId(call.params);
  return history(services, call, {
    id: "listEndUserAccountEvents",
    resource: { type: "end_user_account", id },
    path: `/enduseraccounts/${encodeURIComponent(id)}/events`,
    exists: async () => (await services.findAccount(call.caller.tenant_id, id)) !== undefined,
    missing: () => notFound(accountNoun, id),
  });
}

export const eventOperations: Operation[] = [
  operation({
    id: "listEvents",
    method: "GET",
    path: "/events",
    scope: "read:events",
    tag: "Events",
    summary: "Read the feed of changes",
    description:
      "Every change to the tenant's cases, accounts, rules and settings, in commit order, with none skipped. Each event includes the whole case, account or rule as it is now, if the caller may read it. Continue with `after` = `next_after`. A page may be shorter than `limit` even if there is more, because its size is limited too. An `after` beyond the end of the log is rejected: the service was restored from an older backup. Events about users, clients and webhooks need the scopes `read:users`, `read:clients` and `manage:webhooks`, and are left out without them.",
    query: Type.Object({
      after: After,
      limit: Limit,
      wait: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 30, description: "Seconds to wait for an event if there is none." }),
      ),
    }),
    success: {
      status: 200,
      description: "The events after `after`",
      schema: Type.Object({ events: Type.Array(LoggedEvent), next_after: Type.Integer() }, { additionalProperties: false }),
    },
    problems: ["bad-request"],
    isLongPoll: true,
    handle: list,
  }),
  operation({
    id: "streamEvents",
    method: "GET",
    path: "/events/stream",
    scope: "read:events",
    tag: "Events",
    summary: "Follow the feed of changes as it grows",
    description: [
      "Server-sent events. Each message has the event's number as `id`, its type as `event`, and the event itself as `data`, as in the list but without `current`. The stream continues after the header `Last-Event-ID`, or else after `after`. Without either, it begins now.",
      "If more than 1,000 events were missed, or the log does not reach that far, the missed events are not sent. Instead, the first message is `reset` with `last_event_id`, and the stream continues from there. Data that was read before must then be read again.",
      "A comment is sent every 15 seconds, with an id that advances the reader's position. The stream ends when the token expires or the session ends (nothing is sent later than a second after that), when the service stops, or if the reader does not read. Reconnect with the last id. The limits are 30 readers per person or client, 100 per tenant, and 500 per process.",
    ].join("\n\n"),
    query: Type.Object({
      after: After,
      types: Type.Optional(
        Type.String({
          pattern: "^[a-z_]+\\.[a-z_]+(,[a-z_]+\\.[a-z_]+){0,99}$",
          description: "Only these types of events, separated by commas.",
          examples: ["case.opened,case.closed"],
        }),
      ),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 3600,
          description:
            "Seconds after which the stream ends. Events that existed at the start are always sent. Default: no limit.",
        }),
      ),
    }),
    isStream: true,
    success: { status: 200, description: "Messages, until the stream ends" },
    problems: ["bad-request"],
    handle: stream,
  }),
  operation({
    id: "listCaseEvents",
    method: "GET",
    path: "/cases/{case_id}/events",
    scope: "read:case",
    tag: "Cases",
    summary: "Read a case's audit trail",
    description: "Who did what and when, newest first. Also shows what the states leave out: the erasure of the account.",
    query: PageQuery,
    success: pageOf("events", LoggedEvent, "A page of events"),
    problems: ["bad-request", "item-not-found"],
    handle: caseHistory,
  }),
  operation({
    id: "listEndUserAccountEvents",
    method: "GET",
    path: "/enduseraccounts/{website_account_id}/events",
    scope: "read:enduseraccount",
    tag: "End-user accounts",
    summary: "Read an account's history",
    description:
      "Who created it and who set which flags, newest first. `data` of `account.updated` holds the flags that were sent. The history of an erased account is found under its pseudonym.",
    query: PageQuery,
    success: pageOf("events", LoggedEvent, "A page of events"),
    problems: ["bad-request", "item-not-found"],
    handle: accountHistory,
  }),
];
