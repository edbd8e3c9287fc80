import { findRequestTime } from "../db/approvals.ts";
import { claimMemberClose, deleteMemberCloses, listOwnOpenCases, saveMemberClose } from "../db/case-members.ts";
import { lockCases, saveCases } from "../db/cases.ts";
import { appendEvents } from "../db/events.ts";
import { endWork } from "../db/leases.ts";
import { saveOutcomes } from "../db/outcomes.ts";
import type { Database } from "../db/postgres/database.ts";
import { changeStatus, defaultReasons, type CaseDocument } from "../domain/case.ts";
import type { Clock } from "./cases.ts";

const closedAtOnce = 100;

type Closing = { database: Database; clock: Clock };

// Closes the next batch of the cases that one attack opened, if its case was closed with `members: "same"`. Returns how many
// cases it closed. It continues after the last id that it handled, so a case that a person reopens meanwhile stays open. So
// does a case that has got evidence since the attack's case was closed, or its approved close was requested, because nobody has
// judged it.
export async function closeMembers({ database, clock }: Closing, tenantId: string, limit = closedAtOnce): Promise<number> {
  return database.transaction(async (tx) => {
    const claimed = await claimMemberClose(tx, tenantId);
    if (!claimed) return 0;
    const { case_id, closed_to } = claimed;
    const listed = await listOwnOpenCases(tx, tenantId, { case_id, closed_to, limit });
    const last = listed.at(-1);
    if (claimed.document === null || last === undefined) {
      await deleteMemberCloses(tx, tenantId, [case_id]);
      return 0;
    }
    // The cast is safe: only saveCases and insertCase write documents.
    const { current_state: state } = JSON.parse(claimed.document) as CaseDocument;
    // A second person approved what was there when the first one asked.
    const asked = state.approved_by === undefined ? undefined : await findRequestTime(tx, tenantId, case_id);
    const judgedAt = asked ?? state.changed_at;
    const reason = state.reason === defaultReasons.CLOSED ? `Closed together with case ${case_id}.` : state.reason;
    const { disposition, own_disposition } = state;
    const outcome = { ...(disposition && { disposition }), ...(own_disposition !== undefined && { own_disposition }) };
    const change = { status: "CLOSED" as const, reason, ...outcome };
    const { cases, contended } = await lockCases(tx, tenantId, listed);
    const firstHeld = listed.findIndex((id) => contended.has(id));
    // Stop at the first case that another transaction has locked, so that the next batch continues there.
    const ids = firstHeld === -1 ? listed : listed.slice(0, firstHeld);
    const changed = ids.flatMap((id) => {
      const found = cases.get(id);
      if (found?.document.status !== "OPEN" || found.document.current_state.changed_at > judgedAt) return [];
      const { changed_by: name, approved_by: approvedBy } = state;
      const actor = { name, now: clock.now(), state_id: clock.newId(), ...(approvedBy !== undefined && { approvedBy }) };
      const { document, events } = changeStatus(found.document, { ...change, case_version: found.document.case_version }, actor);
      return [{ after: { ...found, document }, events }];
    });
    const closed = changed.map(({ after }) => after);
    await Promise.all([
      saveMemberClose(tx, tenantId, { case_id, closed_to: ids.at(-1) ?? closed_to }),
      saveCases(tx, tenantId, closed),
      endWork(
        tx,
        tenantId,
        closed.map(({ document }) => document.case_id),
      ),
      saveOutcomes(tx, tenantId, closed),
      appendEvents(
        tx,
        tenantId,
        changed.flatMap(({ events }) => events),
      ),
    ]);
    return closed.length;
  });
}
