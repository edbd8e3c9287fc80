import { Type } from "typebox";
import { countUnread, listNotices, saveRead } from "../db/notices.ts";
import { Notice, ReadNotices, UnreadCount, noticeDays, noticesMax } from "../domain/notice.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { Cursor, Limit, listPage, pageOf } from "./http/page.ts";
import { dataReply, operation, type Call, type Caller, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";

const InboxQuery = Type.Object({
  unread: Type.Optional(Type.Boolean({ description: "With `true`, only unread entries." })),
  limit: Limit,
  cursor: Cursor,
});

// A client has no inbox, and no person has this id.
const nobody = "00000000-0000-0000-0000-000000000000";
const ownerOf = ({ person }: Caller) => person?.user_id ?? nobody;

function list(services: Services, call: Call): Promise<Reply> {
  const { tenant_id: tenantId } = call.caller;
  const user_id = ownerOf(call.caller);
  const isUnread = (call.query as { unread?: boolean }).unread ?? false;
  return listPage<Notice, string>(services, call, {
    id: "listInbox",
    path: "/inbox",
    name: "notices",
    key: { user_id, unread: String(isUnread) },
    read: (before, limit) => listNotices(services.database, tenantId, { user_id, isUnread, before, limit }),
    positionOf: ({ notice_id }) => notice_id,
    show: (found) => found,
  });
}

async function count(services: Services, { caller }: Call): Promise<Reply> {
  return dataReply({ unread: await countUnread(services.database, caller.tenant_id, ownerOf(caller)) });
}

async function markRead(services: Services, call: Call<ReadNotices>): Promise<Reply> {
  const notice_ids = call.body.notice_ids.filter(isCanonicalUuid);
  const read = { user_id: ownerOf(call.caller), notice_ids, now: services.now() };
  await services.database.transaction((tx) => saveRead(tx, call.caller.tenant_id, read));
  return count(services, call);
}

const common = { tag: "Cases", scope: "read:case" } as const;

export const inboxOperations: Operation[] = [
  operation({
    ...common,
    id: "listInbox",
    method: "GET",
    path: "/inbox",
    summary: "List the caller's inbox",
    description: `Mentions in notes, and cases that were handed over to the caller or to the caller's role, newest first. The caller's own notes are left out. An inbox holds the newest ${noticesMax} entries of the last ${noticeDays} days. Only people have one: the inbox of a client is empty.`,
    query: InboxQuery,
    success: pageOf("notices", Notice, "A page of the inbox"),
    problems: ["bad-request"],
    handle: list,
  }),
  operation({
    ...common,
    id: "getUnreadCount",
    method: "GET",
    path: "/inbox/unread",
    summary: "Count the unread entries of the caller's inbox",
    success: { status: 200, description: "The count", schema: UnreadCount },
    problems: [],
    handle: count,
  }),
  operation({
    ...common,
    id: "markRead",
    method: "POST",
    path: "/inbox/read",
    summary: "Mark entries of the caller's inbox as read",
    description: "Entries that are already read stay as they are. Ids that are not in the caller's inbox are ignored.",
    body: ReadNotices,
    success: { status: 200, description: "How many entries are still unread", schema: UnreadCount },
    problems: ["bad-request", "transaction-contended"],
    example: { notice_ids: ["019a8b1c-0000-7000-8000-000000000000"] },
    handle: markRead,
  }),
];
