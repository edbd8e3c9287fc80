import { insertMemberCloses } from "../db/case-members.ts";
import { findOpenCaseId, lockCases, saveCases, type LockedCase, type LockedCases } from "../db/cases.ts";
import { contended as lostRace, type Transaction } from "../db/postgres/database.ts";
import { findDue } from "../db/due-times.ts";
import { appendEvents } from "../db/events.ts";
import { resumeHandovers } from "../db/handovers.ts";
import { endWork } from "../db/leases.ts";
import { saveOutcomes } from "../db/outcomes.ts";
import { insertSnoozes } from "../db/snoozes.ts";
import type { Account } from "../domain/account.ts";
import { changeStatus, type CaseChange } from "../domain/case.ts";
import { withDue } from "../domain/due.ts";
import type { DomainEvent } from "../domain/event.ts";
import { Failure, notFound } from "../domain/failure.ts";
import type { NewSnooze } from "../domain/snooze.ts";
import { actEvents, actOn, lockActedOn, saveActs, type ActedOn } from "./case-acts.ts";
import { listingsOf, saveListings, type Listing } from "./case-listings.ts";
import type { CaseUpdate, Caller } from "./operation.ts";
import { resolveOwnDispositions } from "./own-dispositions.ts";
import { endReopened, snoozesOf } from "./snoozes.ts";

// Decides changes of cases under their locks, and saves them. Closes, alone, together and in bulk, and approvals use it.

// The case after the update with the events to log, or the reason why it was not changed.
type Acts = { snoozes?: NewSnooze[]; acted?: ActedOn; listings?: Listing[] };
export type Result = ({ after: LockedCase; events: DomainEvent[] } & Acts) | Failure;
type Deciding = { newId: () => string; account?: Account | undefined };
// `claim.now` is the time of the change. `approvedBy`: the approver, if there was one.
export type Update = Pick<CaseUpdate, "caller" | "id" | "change"> & { claim: { now: string }; approvedBy?: string };
export type Outcome<U extends Update = Update> = { update: U; result: Result };
export type Decided<U extends Update = Update> = { outcomes: Outcome<U>[]; changed: LockedCase[] };
type Wanted = { id: string; change: CaseChange };
type Asked = { caller: Caller; wanted: Wanted[]; now: string; newId: () => string; approvedBy?: string };

// Locks all that these changes need, and decides them. It may wait for locks.
export async function decideCases(tx: Transaction, asked: Asked): Promise<Decided & Pick<LockedCases, "contended">> {
  const { caller, now, newId, approvedBy } = asked;
  const { tenant_id: tenantId } = caller;
  const wanted = await resolveOwnDispositions(tx, tenantId, asked.wanted);
  const [first, ...others] = wanted;
  // Only the update of a single case changes flags.
  const account = first && others.length === 0 ? await lockActedOn(tx, tenantId, first) : undefined;
  const ids = wanted.map(({ id }) => id);
  const locked = await lockCases(tx, tenantId, ids);
  const common = { caller, claim: { now }, ...(approvedBy !== undefined && { approvedBy }) };
  const updates = wanted.map((each) => ({ ...each, ...common }));
  const decided = await decideAll(tx, updates, { ...locked, newId, account });
  return { ...decided, contended: locked.contended };
}

// A request may name a case twice. The second update sees the case as the first left it.
export async function decideAll<U extends Update>(
  tx: Transaction,
  updates: U[],
  { cases, contended, ...deciding }: LockedCases & Deciding,
): Promise<Decided<U>> {
  const latest = new Map(cases);
  const outcomes: Outcome<U>[] = [];
  for (const update of updates) {
    const found = latest.get(update.id);
    const missing = () => (contended.has(update.id) ? lostRace() : notFound("Case", update.id));
    const result = found ? await decide(tx, found, update, deciding) : missing();
    if (!(result instanceof Failure)) latest.set(update.id, result.after);
    outcomes.push({ update, result });
  }
  return { outcomes, changed: [...latest.values()].filter((each) => each !== cases.get(each.document.case_id)) };
}

async function decide(tx: Transaction, found: LockedCase, update: Update, { newId, account }: Deciding): Promise<Result> {
  const { caller, change, claim, approvedBy } = update;
  try {
    const actor = { name: caller.actor, now: claim.now, state_id: newId(), ...(approvedBy !== undefined && { approvedBy }) };
    const { document, events } = changeStatus(found.document, change, actor);
    if (document === found.document) return { after: found, events };
    const { changed_at: at, changed_by: by } = document.current_state;
    const { snooze, account: flags, list_entries: entries, occurrence_ids } = change;
    if (snooze || flags || entries) {
      const snoozes = snooze ? await snoozesOf(tx, found, { ...snooze, occurrence_ids, at, by, newId }) : [];
      const listings = entries ? await listingsOf(tx, { caller, entries, case_id: document.case_id, at }) : [];
      const acts = { snoozes, listings };
      if (!flags) return { after: { ...found, document }, events, ...acts };
      const acted = actOn({ found, account, flags, at });
      const after = { ...found, document, end_user_is_blocked: acted.after.is_blocked };
      return { after, events: [...events, ...actEvents(acted, flags, { by, approvedBy })], ...acts, acted };
    }
    // Two concurrent reopens both see no other open case. The unique index then stops one of them, which is run again and sees
    // the other.
    if (document.status !== "OPEN") return { after: { ...found, document }, events };
    const other = await findOpenCaseId(tx, caller.tenant_id, found.subject);
    if (other !== undefined) return secondOpen(other);
    const due = await findDue(tx, caller.tenant_id);
    return { after: { ...found, document: withDue(document, due) }, events };
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function secondOpen(other: string): Failure {
  return new Failure(
    "item-already-exists",
    `The same account has another open case: ${other}. Close that case first, or work on it instead.`,
  );
}

// The statements are sent one after the other, the event log last. `more`: events that come after those of the changes.
export async function saveDecided(
  tx: Transaction,
  tenantId: string,
  { outcomes, changed }: Decided,
  more: DomainEvent[] = [],
): Promise<unknown> {
  const done = outcomes.flatMap(({ result }) => (result instanceof Failure ? [] : [result]));
  const snoozes = done.flatMap((each) => each.snoozes ?? []);
  if (snoozes.length > 0) await insertSnoozes(tx, tenantId, snoozes);
  await saveActs(
    tx,
    tenantId,
    done.flatMap((each) => each.acted ?? []),
  );
  const listed = await saveListings(
    tx,
    done.flatMap((each) => each.listings ?? []),
  );
  const reopened = changed.filter(({ document }) => document.status === "OPEN");
  const woken = reopened.length > 0 ? await endReopened(tx, tenantId, reopened) : [];
  if (reopened.length > 0) await resumeHandovers(tx, tenantId, idsOf(reopened));
  const events = [...done.flatMap((each) => each.events), ...listed, ...woken, ...more];
  return Promise.all([
    saveCases(tx, tenantId, changed),
    endWork(tx, tenantId, idsOf(changed.filter(({ document }) => document.status === "CLOSED"))),
    saveOutcomes(tx, tenantId, changed),
    insertMemberCloses(
      tx,
      tenantId,
      outcomes.filter(closesMembers).map(({ update }) => update.id),
    ),
    appendEvents(tx, tenantId, events),
  ]);
}

function idsOf(changed: LockedCase[]): string[] {
  return changed.map(({ document }) => document.case_id);
}

// Closing a case that is already closed does not close its members either.
function closesMembers({ update, result }: Outcome): boolean {
  return update.change.members === "same" && !(result instanceof Failure) && result.events.length > 0;
}
