import type { Logger } from "pino";
import { lockBlocked } from "../db/accounts.ts";
import { lockTurn } from "../db/activities.ts";
import { insertCase } from "../db/cases.ts";
import { appendEvents } from "../db/events.ts";
import type { Database, Transaction } from "../db/postgres/database.ts";
import {
  attachActivity,
  claimDay,
  findChecksPerDay,
  insertChecks,
  listCandidates,
  listUncheckedTenants,
  type Candidate,
  type RandomCheck,
} from "../db/random-checks.ts";
import { readAs } from "../db/reader.ts";
import { accountSubject, timeOf } from "../domain/activity.ts";
import { openCase } from "../domain/case.ts";
import type { DomainEvent } from "../domain/event.ts";
import { momentOf } from "../domain/moment.ts";
import { checkFinding, sharePerCheck } from "../domain/random-check.ts";

const dayMs = 24 * 60 * 60 * 1000;
// An account with an open case gets no second one, so more activities are read than are needed.
const spare = 3;

type Clock = { now: () => string; newId: (at?: string) => string };
type Options = { database: Database; clock: Clock; log: Logger };

// Opens cases for some of yesterday's activities with a low score, for tenants that have random checks turned on.
export async function drawChecks({ database, clock, log }: Options): Promise<void> {
  const day = new Date(Date.parse(clock.now()) - dayMs).toISOString().slice(0, 10);
  for (const tenantId of await listUncheckedTenants(database, day)) {
    await drawDay({ database, clock }, tenantId, day).catch((error: unknown) =>
      log.error({ err: error, tenant_id: tenantId }, "activities could not be chosen for random checks; this will be retried"),
    );
  }
}

// Returns how many cases were opened. Each day is processed once, by one process, in one transaction.
export async function drawDay({ database, clock }: Omit<Options, "log">, tenantId: string, day: string): Promise<number> {
  const wanted = await findChecksPerDay(database, tenantId);
  const { reader, end } = await readAs(database.address);
  const drawn = await listCandidates(reader, tenantId, { day, limit: spare * wanted }).finally(end);
  return database.transaction(async (tx) => {
    // Engines and erasures must not change the accounts meanwhile.
    await lockTurn(tx, tenantId);
    const perDay = await claimDay(tx, tenantId, day);
    if (perDay === null) return 0;
    return openChecks({ tx, tenantId, clock }, drawn, Math.min(perDay, wanted));
  });
}

type Opening = { tx: Transaction; tenantId: string; clock: Clock };
type Drawn = { total: number; candidates: Candidate[] };

async function openChecks({ tx, tenantId, clock }: Opening, { total, candidates }: Drawn, wanted: number): Promise<number> {
  const now = clock.now();
  const blocked = await lockBlocked(tx, tenantId, [...new Set(candidates.map((each) => each.website_account_id))]);
  const chosen: { candidate: Candidate; case_id: string }[] = [];
  const events: DomainEvent[] = [];
  for (const candidate of candidates) {
    if (chosen.length === wanted) break;
    const { website_account_id, session_id, score, type } = candidate;
    const moment = momentOf(type);
    if (moment === null) continue;
    const ids = {
      case_id: clock.newId(now),
      state_id: clock.newId(),
      occurrence_id: clock.newId(),
      prediction_id: clock.newId(),
      seen_at: new Date(timeOf(candidate)).toISOString(),
    };
    const finding = checkFinding({ moment, score, ...(session_id !== null && { session_id }) });
    const opened = openCase({ tenant_id: tenantId, website_account_id }, finding, ids, now);
    const end_user_is_blocked = blocked.has(website_account_id);
    const added = { document: opened.document, subject: accountSubject(website_account_id), end_user_is_blocked };
    if (!(await insertCase(tx, added))) continue;
    // This process has the turn, so the activity can only be missing if an erasure ran before. Then the account is gone too.
    if (!(await attachActivity(tx, tenantId, { ...candidate, ...ids }))) throw new Error("a chosen activity no longer exists");
    chosen.push({ candidate, case_id: ids.case_id });
    events.push(...opened.events);
  }
  const perCheck = sharePerCheck(
    chosen.map(({ candidate }) => candidate.ofAccount),
    total,
  );
  const checks = chosen.map(({ candidate: { id_key, received_at, type, share, ofAccount }, case_id }): RandomCheck => {
    return { id_key, received_at, type, case_id, weight: Math.max(Math.max(perCheck, ofAccount) / share, 1) };
  });
  await insertChecks(tx, tenantId, checks, now);
  await appendEvents(tx, tenantId, events);
  return chosen.length;
}
