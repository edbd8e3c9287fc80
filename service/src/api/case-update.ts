import { createHash } from "node:crypto";
import { caseText, lockFreshCases } from "../db/cases.ts";
import type { TenantDatabase } from "../db/postgres/database.ts";
import { early } from "../db/postgres/transaction.ts";
import { claimKey, deleteKey, insertReplies, saveReply, type StoredReply } from "../db/keys.ts";
import { mayNeedApproval } from "../domain/approval-settings.ts";
import type { CaseChange } from "../domain/case.ts";
import { Failure, notFound } from "../domain/failure.ts";
import { requireReach } from "../domain/role.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { requireNoApproval } from "./approval-needs.ts";
import { findApprovalSettings } from "./approval-settings.ts";
import { decideAll, decideCases, saveDecided, type Outcome, type Result } from "./case-changes.ts";
import { canonicalJson } from "./http/json.ts";
import { requireListingReach } from "./case-listings.ts";
import { jsonMediaType, type Call, type CaseUpdate, type Services } from "./operation.ts";
import { problemMediaType, problemReply, type Reply } from "./http/problem.ts";
import { tryTogether } from "./together.ts";

export function fingerprint(request: { method: string; path: string; body: unknown }): Buffer {
  return createHash("sha256")
    .update(`${request.method} ${request.path}\n${canonicalJson(request.body)}`)
    .digest();
}

export function caseReply(stored: { text: string; end_user_is_blocked: boolean }): Reply {
  return { status: 200, body: `{"data":${caseText(stored)}}`, headers: { "content-type": jsonMediaType } };
}

// The account's id comes first, so it can be left out of the stored reply and put back in.
function withAccount(body: string, websiteAccountId: string): string {
  return body.replace('{"data":{', () => `{"data":{"website_account_id":${JSON.stringify(websiteAccountId)},`);
}

function replayed(stored: StoredReply): Reply {
  const isCase = stored.status === 200 && stored.website_account_id !== null;
  const body = isCase ? withAccount(stored.body, stored.website_account_id ?? "") : stored.body;
  const type = stored.status === 200 ? jsonMediaType : problemMediaType;
  return { status: stored.status, body, headers: { "content-type": type, "idempotent-replayed": "true" } };
}

// The stored reply of a case does not contain the account's id.
type Replies = { stored: Reply; sent: Reply };
type KeyedRequest = Pick<CaseUpdate, "caller" | "claim"> & { wanted: Pick<CaseUpdate, "id" | "change">[] };

export async function updateCase(services: Services, { caller, params, body, key }: Call<CaseChange>): Promise<Reply> {
  const id = params["case_id"] ?? "";
  const claim = {
    key,
    fingerprint: fingerprint({ method: "PUT", path: `/cases/${id}`, body }),
    caseId: isCanonicalUuid(id) ? id : null,
    now: services.now(),
  };
  if (body.account !== undefined) requireReach(caller, ["update:enduseraccount"]);
  if (body.list_entries !== undefined) await requireListingReach(services.database, caller, body.list_entries);
  const wanted = { id, change: body };
  // If an occurrence is not in the case, or if the own disposition, the snooze, a flag or a list entry is not possible, the reply is a
  // 422, which leaves the key free. In a batch, it would make the other closes fail too.
  const { occurrence_ids, own_disposition, snooze, account, list_entries } = body;
  const isPlain = [occurrence_ids, own_disposition, snooze, account, list_entries].every((each) => each === undefined);
  const mayShare = body.status === "CLOSED" && claim.caseId !== null && isPlain;
  const shared = mayShare ? await services.closeTogether(caller.tenant_id, { ...wanted, caller, claim }) : null;
  if (shared) return shared;
  return updateUnderKey(services, { caller, claim, wanted: [wanted] }, ([only]) =>
    caseReplies(only?.result ?? notFound("Case", id)),
  );
}

// Applies all updates of one request in one transaction, under the request's key. It may wait for locks.
export function updateUnderKey(
  { database, newId }: Services,
  { caller, claim, wanted }: KeyedRequest,
  repliesTo: (outcomes: Outcome[]) => Replies,
): Promise<Reply> {
  const tenantId = caller.tenant_id;
  return database.transaction(async (tx) => {
    // Sent together, so that the settings cost no round trip of their own.
    const [known, settings] = await Promise.all([claimKey(tx, tenantId, claim), findApprovalSettings(tx, tenantId)]);
    if (known) return replayed(known);
    const { contended, ...decided } = await decideCases(tx, { caller, wanted, now: claim.now, newId });
    const { stored, sent } = repliesTo(decided.outcomes);
    await requireNoApproval(tx, settings, { caller, outcomes: decided.outcomes, now: claim.now });
    // A contended result is not stored. Otherwise the case would be reported as contended for as long as the key is kept.
    const isFinal = contended.size === 0;
    await Promise.all([
      isFinal ? saveReply(tx, tenantId, claim.key, stored) : deleteKey(tx, tenantId, claim.key),
      saveDecided(tx, tenantId, decided),
    ]);
    return sent;
  });
}

// Closes cases of one tenant that arrive together in one transaction, each under its own key. It waits for no lock. Null means
// that the close must be tried alone: the case is absent, another transaction holds it, the key is known, or a second person may be
// needed.
export async function closeTogether(
  database: TenantDatabase,
  tenantId: string,
  { updates, newId }: { updates: CaseUpdate[]; newId: () => string },
): Promise<(Reply | null)[]> {
  const apart = distinct(updates);
  return tryTogether(database, updates, async (tx) => {
    const wanted = apart.map(({ id, claim }) => ({ case_id: id, key: claim.key }));
    const [cases, settings] = await Promise.all([
      lockFreshCases(early(tx), tenantId, wanted),
      findApprovalSettings(early(tx), tenantId),
    ]);
    const isAlone = ({ caller }: CaseUpdate) => mayNeedApproval(settings, { isPerson: caller.person !== undefined });
    const free = apart.filter((update) => cases.has(update.id) && !isAlone(update));
    const decided = await decideAll(tx, free, { cases, contended: new Set(), newId });
    const replied = decided.outcomes.map(({ update, result }) => ({ update, ...caseReplies(result) }));
    const kept = replied.map(({ update, stored }) => ({ ...update.claim, ...stored }));
    await Promise.all([insertReplies(tx, tenantId, kept), saveDecided(tx, tenantId, decided)]);
    return new Map(replied.map(({ update, sent }) => [update, sent]));
  });
}

// Keeps the first update for each case and each key. A later one must see the result of the first.
function distinct(updates: CaseUpdate[]): CaseUpdate[] {
  const seen = new Set<string>();
  return updates.filter(({ id, claim }) => {
    const names = [`case ${id}`, `key ${claim.key}`];
    const isFirst = names.every((name) => !seen.has(name));
    if (isFirst) for (const name of names) seen.add(name);
    return isFirst;
  });
}

// These failures are stored under the key, as a success is. Any other failure leaves the key free.
const boundCodes = new Set<string>(["item-version-conflict", "item-already-exists"]);

function caseReplies(result: Result): Replies {
  if (result instanceof Failure) {
    if (!boundCodes.has(result.code)) throw result;
    const refusal = problemReply(result);
    return { stored: refusal, sent: refusal };
  }
  const { document, end_user_is_blocked } = result.after;
  const { website_account_id: account, ...rest } = document;
  const stored = caseReply({ text: JSON.stringify(rest), end_user_is_blocked });
  return { stored, sent: { ...stored, body: withAccount(stored.body, account) } };
}
