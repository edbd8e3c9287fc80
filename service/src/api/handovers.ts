import { findCaseVersion, saveCases } from "../db/cases.ts";
import { appendEvents } from "../db/events.ts";
import { countHandovers, findHandover, saveHandover } from "../db/handovers.ts";
import { claimKey, saveReply, type StoredReply } from "../db/keys.ts";
import { deleteOtherClaims } from "../db/leases.ts";
import { findNoteTexts, insertNote } from "../db/notes.ts";
import { insertNotices } from "../db/notices.ts";
import type { Queryable } from "../db/postgres/database.ts";
import { lockRoleScopes } from "../db/roles.ts";
import { findUser, findUserIdsByEmail, findUserIdsByRole } from "../db/users.ts";
import type { Changed } from "../domain/case.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { CaseHandover, NewHandover, handOverCase, handoversMax, type Handover } from "../domain/handover.ts";
import { mentionedIn } from "../domain/note.ts";
import { noticesOf } from "../domain/notice.ts";
import { actorOf } from "../domain/user.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { fingerprint } from "./case-update.ts";
import { lockNotedCase } from "./notes.ts";
import { dataReply, operation, type Call, type Operation, type Services } from "./operation.ts";
import { problemMediaType, problemReply, type Reply } from "./http/problem.ts";
import { invalid } from "./http/validate.ts";

async function read(services: Services, { caller, params }: Call): Promise<Reply> {
  const { tenant_id: tenantId } = caller;
  const id = params["case_id"] ?? "";
  if ((await findCaseVersion(services.database, tenantId, id)) === undefined) throw notFound("Case", id);
  return handoverReply(id, await findHandover(services.database, tenantId, id));
}

function handoverReply(caseId: string, handover: Handover | undefined, status = 200): Reply {
  const data: CaseHandover = { case_id: caseId, ...(handover && { handover }) };
  return dataReply(data, status);
}

// The note, the end of the claim, the handover and the event are one transaction.
function handOver(services: Services, { caller, params, body, key }: Call<NewHandover>): Promise<Reply> {
  const { tenant_id: tenantId, actor: by } = caller;
  const id = params["case_id"] ?? "";
  const now = services.now();
  const request = fingerprint({ method: "POST", path: `/cases/${id}/handover`, body });
  const claim = { key, fingerprint: request, caseId: isCanonicalUuid(id) ? id : null, now };
  return services.database.transaction(async (tx) => {
    const known = await claimKey(tx, tenantId, claim);
    if (known) return replayed(tx, tenantId, known);
    const found = await lockNotedCase(tx, tenantId, id);
    const mentions = await findUserIdsByEmail(tx, tenantId, mentionedIn(body.text));
    const note_id = services.newId(now);
    const { text, ...to } = body;
    const changed = tryIt(() => handOverCase(found.document, { ...to, note_id, mentions, by, now }));
    if (changed instanceof Failure) {
      const refusal = problemReply(changed);
      await saveReply(tx, tenantId, key, refusal);
      return refusal;
    }
    const { document, events } = changed;
    const { case_version, updated_at } = document;
    const { handed_to } = body;
    const { holder, recipients } = await requireRecipient(tx, tenantId, handed_to);
    const handover: Handover = { handed_to, handed_by: by, handed_at: updated_at ?? now, note_id, text, case_version };
    const note = {
      note_id,
      case_id: id,
      text,
      mentions,
      created_at: handover.handed_at,
      created_by: by,
      case_version,
      handed_to,
    };
    await insertNote(tx, tenantId, note);
    const told = noticesOf({ author: caller.person?.user_id, mentions, recipients });
    await insertNotices(tx, tenantId, { note, told });
    await saveHandover(tx, tenantId, { case_id: id, handover });
    await deleteOtherClaims(tx, tenantId, { case_id: id, holder });
    await saveCases(tx, tenantId, [{ ...found, document }]);
    await saveReply(tx, tenantId, key, handoverReply(id, { ...handover, text: "" }, 201));
    await appendEvents(tx, tenantId, events);
    return handoverReply(id, handover, 201);
  });
}

// A version conflict is stored under the key, as it is for a close.
function tryIt(change: () => Changed): Changed | Failure {
  try {
    return change();
  } catch (error) {
    if (error instanceof Failure && error.code === "item-version-conflict") return error;
    throw error;
  }
}

// `holder` is the name under which the recipient claims cases. A role has no such name, because several people can have the role.
type Receiving = { holder?: string; recipients: string[] };

async function requireRecipient(tx: Queryable, tenantId: string, recipient: string): Promise<Receiving> {
  const user = isCanonicalUuid(recipient) ? await findUser(tx, tenantId, recipient) : undefined;
  const isThere = user ? !user.is_disabled : (await lockRoleScopes(tx, tenantId, recipient)) !== undefined;
  if (!isThere) throw invalid([{ field: "handed_to", message: "must be the user_id of an active person, or a role" }]);
  if ((await countHandovers(tx, tenantId, recipient)) >= handoversMax)
    throw invalid([
      { field: "handed_to", message: `already has the maximum of ${handoversMax} open cases that were handed over` },
    ]);
  if (user) return { holder: actorOf(user), recipients: [user.user_id] };
  return { recipients: await findUserIdsByRole(tx, tenantId, recipient) };
}

// The text is not in the stored reply, so an erasure finds it in one place.
async function replayed(tx: Queryable, tenantId: string, stored: StoredReply): Promise<Reply> {
  const headers = { "idempotent-replayed": "true" };
  if (stored.status !== 201)
    return { status: stored.status, body: stored.body, headers: { "content-type": problemMediaType, ...headers } };
  // The cast is safe: `handOver` wrote this reply, because the fingerprint contains the path.
  const { data } = JSON.parse(stored.body) as { data: { case_id: string; handover: Handover } };
  const { case_id, handover } = data;
  const texts = await findNoteTexts(tx, tenantId, [{ case_id, note_id: handover.note_id }]);
  const reply = handoverReply(case_id, { ...handover, text: texts.get(handover.note_id) ?? "" }, 201);
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

const common = { path: "/cases/{case_id}/handover", tag: "Cases" } as const;

export const handoverOperations: Operation[] = [
  operation({
    ...common,
    id: "getCaseHandover",
    method: "GET",
    scope: "read:case",
    summary: "Read a case's handover",
    description: "The response has no `handover` if the case was not handed over, or if it is closed.",
    success: { status: 200, description: "The case's handover", schema: CaseHandover },
    problems: ["bad-request", "item-not-found"],
    handle: read,
  }),
  operation({
    ...common,
    id: "handOverCase",
    method: "POST",
    scope: "update:case",
    summary: "Hand over a case",
    description: `Hands an open case over to a person or a role, with a note. This replaces an earlier handover, raises \`case_version\`, and ends the claim of anybody but the recipient. It prevents nobody from changing the case. Closing the case ends the handover, and reopening the case restores it. A repeat with the same Idempotency-Key and body returns the first result and changes nothing. A 409 that names a version is stored under its key as well, so use a new key after it. At most ${handoversMax} open cases can be handed over to one person or role.`,
    body: NewHandover,
    wantsKey: true,
    precondition: "case_version",
    success: {
      status: 201,
      description: "The handover",
      schema: CaseHandover,
      headers: { "Idempotent-Replayed": "`true` if this is the stored result of an earlier request." },
    },
    problems: [
      "bad-request",
      "invalid-operation-id",
      "item-not-found",
      "item-version-conflict",
      "operation-idempotency-conflict",
      "precondition-required",
      "transaction-contended",
    ],
    example: { case_version: 1, handed_to: "lead", text: "The amount is above my limit. Please decide." },
    handle: handOver,
  }),
];
