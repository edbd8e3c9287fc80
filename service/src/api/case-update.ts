import { createHash } from "node:crypto";
import { caseText, findOpenCaseId, lockCase, lockFreshCases, saveCases, type LockedCase } from "../db/cases.ts";
import type { TenantDatabase } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { claimKey, insertReplies, saveReply, type StoredReply } from "../db/keys.ts";
import { saveOutcomes } from "../db/outcomes.ts";
import { changeStatus, type CaseChange } from "../domain/case.ts";
import type { DomainEvent } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { canonicalJson } from "./http/json.ts";
import { jsonMediaType, type Call, type CaseUpdate, type Services } from "./operation.ts";
import { problemMediaType, problemReply, type Reply } from "./http/problem.ts";

export function fingerprint(request: { method: string; path: string; body: unknown }): Buffer {
  return createHash("sha256")
    .update(`${request.method} ${request.path}\n${canonicalJson(request.body)}`)
    .digest();
}

export function caseReply(stored: { text: string; end_user_is_blocked: boolean }): Reply {
  return { status: 200, body: `{"data":${caseText(stored)}}`, headers: { "content-type": jsonMediaType } };
}

// The account's id goes first, so that it can be left out of what is stored and put back in.
function withAccount(body: string, websiteAccountId: string): string {
  return body.replace('{"data":{', () => `{"data":{"website_account_id":${JSON.stringify(websiteAccountId)},`);
}

export function replayed(stored: StoredReply): Reply {
  const isCase = stored.status === 200 && stored.website_account_id !== null;
  const body = isCase ? withAccount(stored.body, stored.website_account_id ?? "") : stored.body;
  const type = stored.status === 200 ? jsonMediaType : problemMediaType;
  return { status: stored.status, body, headers: { "content-type": type, "idempotent-replayed": "true" } };
}

export async function updateCase(services: Services, { caller, params, body, key }: Call<CaseChange>): Promise<Reply> {
  const id = params["case_id"] ?? "";
  const claim = {
    key,
    fingerprint: fingerprint({ method: "PUT", path: `/cases/${id}`, body }),
    caseId: isCanonicalUuid(id) ? id : null,
    now: services.now(),
  };
  const update = { caller, id, change: body, claim };
  const mayShare = body.status === "CLOSED" && claim.caseId !== null;
  const shared = mayShare ? await services.closeTogether(caller.tenant_id, update) : null;
  return shared ?? updateAlone(services, update);
}

async function updateAlone(services: Services, { caller, id, change, claim }: CaseUpdate): Promise<Reply> {
  return services.database.transaction(async (tx) => {
    const known = await claimKey(tx, caller.tenant_id, claim);
    if (known) return replayed(known);
    const found = await lockCase(tx, caller.tenant_id, id);
    if (!found) throw notFound("Case", id);
    const wanted = decide(found, { caller, id, change, claim }, services.newId());
    // Two that reopen at once both see none; the unique index then stops one of them, which is run again and sees the other.
    const isOpened = wanted.saved?.document.status === "OPEN";
    const other = isOpened ? await findOpenCaseId(tx, caller.tenant_id, found.subject) : undefined;
    const { reply, saved, events } = other === undefined ? wanted : refused(secondOpen(other));
    const changed = saved ? [saved] : [];
    await saveCases(tx, caller.tenant_id, changed);
    await saveOutcomes(tx, caller.tenant_id, changed);
    await saveReply(tx, caller.tenant_id, claim.key, reply);
    await appendEvents(tx, caller.tenant_id, events);
    return answer(reply, found);
  });
}

// Closes of one tenant that come in together, in one transaction, an outcome each. It waits for nobody: null for who has to be
// tried alone, because the case is not there or somebody holds it, or because the key is known.
export async function closeTogether(
  database: TenantDatabase,
  tenantId: string,
  { updates, newId }: { updates: CaseUpdate[]; newId: () => string },
): Promise<(Reply | null)[]> {
  const apart = distinct(updates);
  try {
    const replies = await database.tryOnce(async (tx) => {
      const locked = await lockFreshCases(
        tx,
        tenantId,
        apart.map(({ id, claim }) => ({ case_id: id, key: claim.key })),
      );
      const decided = apart.flatMap((update) => {
        const found = locked.get(update.id);
        return found ? [{ update, found, ...decide(found, update, newId()) }] : [];
      });
      const changed = decided.flatMap(({ saved }) => saved ?? []);
      // One behind the other in the pipeline, the log last.
      await Promise.all([
        insertReplies(
          tx,
          tenantId,
          decided.map(({ update, reply }) => ({ ...update.claim, ...reply })),
        ),
        saveCases(tx, tenantId, changed),
        saveOutcomes(tx, tenantId, changed),
        appendEvents(
          tx,
          tenantId,
          decided.flatMap(({ events }) => events),
        ),
      ]);
      return new Map(decided.map(({ update, reply, found }) => [update, answer(reply, found)]));
    });
    return updates.map((update) => replies.get(update) ?? null);
  } catch (error) {
    // Nothing of it was applied, and one of them may be the cause: each is tried alone.
    const isCertain = !(error instanceof Failure) || error.code === "transaction-contended";
    if (isCertain) return updates.map(() => null);
    throw error;
  }
}

// The first for each case and for each key: what comes behind it has to see what became of it.
function distinct(updates: CaseUpdate[]): CaseUpdate[] {
  const seen = new Set<string>();
  return updates.filter(({ id, claim }) => {
    const names = [`case ${id}`, `key ${claim.key}`];
    const isFirst = names.every((name) => !seen.has(name));
    if (isFirst) for (const name of names) seen.add(name);
    return isFirst;
  });
}

// The reply is what is stored, so without the account's id.
type Decided = { reply: Reply; saved: LockedCase | null; events: DomainEvent[] };

function decide(found: LockedCase, { change, caller, claim }: CaseUpdate, stateId: string): Decided {
  try {
    const actor = { name: caller.actor, now: claim.now, state_id: stateId };
    const { document, events } = changeStatus(found.document, change, actor);
    const { website_account_id: _account, ...rest } = document;
    const reply = caseReply({ text: JSON.stringify(rest), end_user_is_blocked: found.end_user_is_blocked });
    return { reply, saved: document === found.document ? null : { ...found, document }, events };
  } catch (error) {
    return refused(error);
  }
}

// Bound to the key as a success is.
function refused(error: unknown): Decided {
  const isBound = error instanceof Failure && (error.code === "item-version-conflict" || error.code === "item-already-exists");
  if (!isBound) throw error;
  return { reply: problemReply(error), saved: null, events: [] };
}

function secondOpen(other: string): Failure {
  return new Failure("item-already-exists", `The same account has another open case: ${other}. Close it first, or work there.`);
}

function answer(reply: Reply, { document }: LockedCase): Reply {
  return reply.status === 200 ? { ...reply, body: withAccount(reply.body, document.website_account_id) } : reply;
}
