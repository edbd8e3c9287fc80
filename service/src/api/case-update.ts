import { createHash } from "node:crypto";
import { insertMemberCloses } from "../db/case-members.ts";
import {
  caseText,
  findOpenCaseId,
  lockCases,
  lockFreshCases,
  saveCases,
  type LockedCase,
  type LockedCases,
} from "../db/cases.ts";
import { contended as lostRace, type TenantDatabase, type Transaction } from "../db/postgres/database.ts";
import { appendEvents } from "../db/events.ts";
import { deleteClaims } from "../db/leases.ts";
import { claimKey, deleteKey, insertReplies, saveReply, type StoredReply } from "../db/keys.ts";
import { saveOutcomes } from "../db/outcomes.ts";
import { insertSnoozes } from "../db/snoozes.ts";
import type { Account } from "../domain/account.ts";
import { changeStatus, type CaseChange } from "../domain/case.ts";
import type { DomainEvent } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import type { NewSnooze } from "../domain/snooze.ts";
import { requireReach } from "../domain/role.ts";
import { isCanonicalUuid } from "../domain/uuid.ts";
import { actEvents, actOn, lockActedOn, saveActs, type ActedOn } from "./case-acts.ts";
import { canonicalJson } from "./http/json.ts";
import { jsonMediaType, type Call, type CaseUpdate, type Services } from "./operation.ts";
import { problemMediaType, problemReply, type Reply } from "./http/problem.ts";
import { endReopened, snoozesOf } from "./snoozes.ts";

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

// The case after the update with the events to log, or the reason why it was not changed.
type Result = { after: LockedCase; events: DomainEvent[]; snoozes?: NewSnooze[]; acted?: ActedOn } | Failure;
export type Outcome = { update: CaseUpdate; result: Result };
type Deciding = { newId: () => string; account?: Account | undefined };
type Decided = { outcomes: Outcome[]; changed: LockedCase[] };
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
  const wanted = { id, change: body };
  // If an occurrence is not in the case, or a snooze or a flag is not possible, the reply is a 422, which leaves the key free. In a
  // batch, it would make the other closes fail too.
  const isPlain = [body.occurrence_ids, body.snooze, body.account].every((each) => each === undefined);
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
    const known = await claimKey(tx, tenantId, claim);
    if (known) return replayed(known);
    const [first, ...others] = wanted;
    // Only the update of a single case changes flags.
    const account = first && others.length === 0 ? await lockActedOn(tx, tenantId, first) : undefined;
    const ids = wanted.map(({ id }) => id);
    const locked = await lockCases(tx, tenantId, ids);
    const updates = wanted.map((each) => ({ ...each, caller, claim }));
    const decided = await decideAll(tx, updates, { ...locked, newId, account });
    const { stored, sent } = repliesTo(decided.outcomes);
    // A contended result is not stored. Otherwise the case would be reported as contended for as long as the key is kept.
    const isFinal = locked.contended.size === 0;
    await Promise.all([
      isFinal ? saveReply(tx, tenantId, claim.key, stored) : deleteKey(tx, tenantId, claim.key),
      save(tx, tenantId, decided),
    ]);
    return sent;
  });
}

// Closes cases of one tenant that arrive together in one transaction, each under its own key. It waits for no lock. Null means
// that the close must be tried alone: the case is absent, another transaction holds it, or the key is known.
export async function closeTogether(
  database: TenantDatabase,
  tenantId: string,
  { updates, newId }: { updates: CaseUpdate[]; newId: () => string },
): Promise<(Reply | null)[]> {
  const apart = distinct(updates);
  try {
    const replies = await database.tryOnce(async (tx) => {
      const wanted = apart.map(({ id, claim }) => ({ case_id: id, key: claim.key }));
      const cases = await lockFreshCases(tx, tenantId, wanted);
      const free = apart.filter(({ id }) => cases.has(id));
      const decided = await decideAll(tx, free, { cases, contended: new Set(), newId });
      const replied = decided.outcomes.map(({ update, result }) => ({ update, ...caseReplies(result) }));
      const kept = replied.map(({ update, stored }) => ({ ...update.claim, ...stored }));
      await Promise.all([insertReplies(tx, tenantId, kept), save(tx, tenantId, decided)]);
      return new Map(replied.map(({ update, sent }) => [update, sent]));
    });
    return updates.map((update) => replies.get(update) ?? null);
  } catch (error) {
    // Nothing was applied, and one of the closes may be the cause, so each is tried alone.
    const isCertain = !(error instanceof Failure) || error.code === "transaction-contended";
    if (isCertain) return updates.map(() => null);
    throw error;
  }
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

// A request may name a case twice. The second update sees the case as the first left it.
async function decideAll(
  tx: Transaction,
  updates: CaseUpdate[],
  { cases, contended, ...deciding }: LockedCases & Deciding,
): Promise<Decided> {
  const latest = new Map(cases);
  const outcomes: Outcome[] = [];
  for (const update of updates) {
    const found = latest.get(update.id);
    const missing = () => (contended.has(update.id) ? lostRace() : notFound("Case", update.id));
    const result = found ? await decide(tx, found, update, deciding) : missing();
    if (!(result instanceof Failure)) latest.set(update.id, result.after);
    outcomes.push({ update, result });
  }
  return { outcomes, changed: [...latest.values()].filter((each) => each !== cases.get(each.document.case_id)) };
}

async function decide(tx: Transaction, found: LockedCase, update: CaseUpdate, { newId, account }: Deciding): Promise<Result> {
  const { caller, change, claim } = update;
  try {
    const { document, events } = changeStatus(found.document, change, { name: caller.actor, now: claim.now, state_id: newId() });
    if (document === found.document) return { after: found, events };
    const { changed_at: at, changed_by: by } = document.current_state;
    if (change.snooze || change.account) {
      const { snooze, account: flags, occurrence_ids } = change;
      const snoozes = snooze ? await snoozesOf(tx, found, { ...snooze, occurrence_ids, at, by, newId }) : [];
      if (!flags) return { after: { ...found, document }, events, snoozes };
      const acted = actOn({ found, account, flags, at });
      const after = { ...found, document, end_user_is_blocked: acted.after.is_blocked };
      return { after, events: [...events, ...actEvents(acted, flags, by)], snoozes, acted };
    }
    // Two concurrent reopens both see no other open case. The unique index then stops one of them, which is run again and sees
    // the other.
    const other = document.status === "OPEN" ? await findOpenCaseId(tx, caller.tenant_id, found.subject) : undefined;
    return other === undefined ? { after: { ...found, document }, events } : secondOpen(other);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function secondOpen(other: string): Failure {
  return new Failure("item-already-exists", `The same account has another open case: ${other}. Close it first, or work there.`);
}

// The statements are sent one after the other, the event log last.
async function save(tx: Transaction, tenantId: string, { outcomes, changed }: Decided): Promise<unknown> {
  const done = outcomes.flatMap(({ result }) => (result instanceof Failure ? [] : [result]));
  const snoozes = done.flatMap((each) => each.snoozes ?? []);
  if (snoozes.length > 0) await insertSnoozes(tx, tenantId, snoozes);
  await saveActs(
    tx,
    tenantId,
    done.flatMap((each) => each.acted ?? []),
  );
  const reopened = changed.filter(({ document }) => document.status === "OPEN");
  const woken = reopened.length > 0 ? await endReopened(tx, tenantId, reopened) : [];
  const events = [...done.flatMap((each) => each.events), ...woken];
  return Promise.all([
    saveCases(tx, tenantId, changed),
    deleteClaims(tx, tenantId, closedIds(changed)),
    saveOutcomes(tx, tenantId, changed),
    insertMemberCloses(
      tx,
      tenantId,
      outcomes.filter(closesMembers).map(({ update }) => update.id),
    ),
    appendEvents(tx, tenantId, events),
  ]);
}

function closedIds(changed: LockedCase[]): string[] {
  return changed.flatMap(({ document }) => (document.status === "CLOSED" ? [document.case_id] : []));
}

// Closing a case that is already closed does not close its members either.
function closesMembers({ update, result }: Outcome): boolean {
  return update.change.members === "same" && !(result instanceof Failure) && result.events.length > 0;
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
