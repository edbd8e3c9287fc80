import { findCaseVersion, lockCases, saveCases, type LockedCase } from "../db/cases.ts";
import { appendEvents } from "../db/events.ts";
import { claimKey, saveReply, type StoredReply } from "../db/keys.ts";
import { countNotes, findNoteTexts, insertNote, listNotes } from "../db/notes.ts";
import { insertNotices } from "../db/notices.ts";
import type { Queryable, Transaction } from "../db/postgres/database.ts";
import { contended } from "../db/postgres/faults.ts";
import { findUserIdsByEmail } from "../db/users.ts";
import { notFound } from "../domain/failure.ts";
import { NewNote, Note, mentionedIn, noteCase, notesMax } from "../domain/note.ts";
import { noticesOf } from "../domain/notice.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { fingerprint } from "./case-update.ts";
import { PageQuery, listPage, pageOf } from "./http/page.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import type { Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

async function list(services: Services, call: Call): Promise<Reply> {
  const { tenant_id: tenantId } = call.caller;
  const id = call.params["case_id"] ?? "";
  if ((await findCaseVersion(services.database, tenantId, id)) === undefined) throw notFound("Case", id);
  return listPage<Note, string>(services, call, {
    id: "listCaseNotes",
    path: `/cases/${encodeURIComponent(id)}/notes`,
    name: "notes",
    key: { id },
    read: (before, limit) => listNotes(services.database, tenantId, { case_id: id, before, limit }),
    positionOf: ({ note_id }) => note_id,
    show: (found) => found,
  });
}

function add(services: Services, { caller, params, body, key }: Call<NewNote>): Promise<Reply> {
  const { tenant_id: tenantId, actor: by } = caller;
  const id = params["case_id"] ?? "";
  const now = services.now();
  const request = fingerprint({ method: "POST", path: `/cases/${id}/notes`, body });
  const claim = { key, fingerprint: request, caseId: isCanonicalUuid(id) ? id : null, now };
  return services.database.transaction(async (tx) => {
    const known = await claimKey(tx, tenantId, claim);
    if (known) return replayed(tx, tenantId, known);
    const found = await lockNotedCase(tx, tenantId, id);
    const mentions = await findUserIdsByEmail(tx, tenantId, mentionedIn(body.text));
    const note_id = services.newId(now);
    const { document, events } = noteCase(found.document, { note_id, mentions, by, now });
    const { case_version } = document;
    const { text } = body;
    const note: Note = {
      note_id,
      case_id: id,
      text,
      mentions,
      created_at: document.updated_at ?? now,
      created_by: by,
      case_version,
    };
    await insertNote(tx, tenantId, note);
    await insertNotices(tx, tenantId, { note, told: noticesOf({ author: caller.person?.user_id, mentions }) });
    await saveCases(tx, tenantId, [{ ...found, document }]);
    await saveReply(tx, tenantId, key, dataReply({ ...note, text: "" }, 201));
    await appendEvents(tx, tenantId, events);
    return dataReply(note, 201);
  });
}

// Locks a case that has room for another note.
export async function lockNotedCase(tx: Transaction, tenantId: string, id: string): Promise<LockedCase> {
  const { cases, contended: held } = await lockCases(tx, tenantId, [id]);
  const found = cases.get(id);
  if (!found) throw held.has(id) ? contended() : notFound("Case", id);
  if ((await countNotes(tx, tenantId, id)) >= notesMax)
    throw invalid([{ field: "text", message: `must not be added: a case has at most ${notesMax} notes` }]);
  return found;
}

// The text is not in the stored reply, so an erasure finds it in one place.
async function replayed(tx: Queryable, tenantId: string, stored: StoredReply): Promise<Reply> {
  // The cast is safe: `add` wrote this reply, because the fingerprint contains the path.
  const { data } = JSON.parse(stored.body) as { data: Note };
  const text = (await findNoteTexts(tx, tenantId, [data])).get(data.note_id) ?? "";
  const reply = dataReply({ ...data, text }, 201);
  return { ...reply, headers: { ...reply.headers, "idempotent-replayed": "true" } };
}

const common = { path: "/cases/{case_id}/notes", tag: "Cases" } as const;

export const noteOperations: Operation[] = [
  operation({
    ...common,
    id: "listCaseNotes",
    method: "GET",
    scope: "read:case",
    summary: "List the notes of a case",
    description: "Newest first. The notes of an erased account's cases are deleted.",
    query: PageQuery,
    success: pageOf("notes", Note, "A page of notes"),
    problems: ["bad-request", "item-not-found"],
    handle: list,
  }),
  operation({
    ...common,
    id: "addCaseNote",
    method: "POST",
    scope: "update:case",
    summary: "Add a note to a case",
    description: `Works on open and closed cases. A note raises \`case_version\`, so that nobody closes the case without having seen it. It does not change the state. A repeat with the same Idempotency-Key and body returns the first result and adds nothing. A case has at most ${notesMax} notes.`,
    body: NewNote,
    wantsKey: true,
    success: {
      status: 201,
      description: "The note",
      schema: Note,
      headers: { "Idempotent-Replayed": "`true` if this is the stored result of an earlier request." },
    },
    problems: [
      "bad-request",
      "invalid-operation-id",
      "item-not-found",
      "operation-idempotency-conflict",
      "transaction-contended",
    ],
    example: { text: "The customer did not place this order. @ada@shop.example please call the bank." },
    handle: add,
  }),
];
