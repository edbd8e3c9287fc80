import type { Flags } from "../db/accounts.ts";
import type { CaseClaim } from "../db/case-claims.ts";
import { insertCase, lockOpenCase, type LockedCase } from "../db/cases.ts";
import type { Queryable } from "../db/postgres/database.ts";
import type { Found } from "../detection/finding.ts";
import { unknownAccount } from "../domain/account.ts";
import { timeOf, type RecordedActivity } from "../domain/activity.ts";
import { joinCase, openCase, type CaseDocument, type Changed } from "../domain/case.ts";
import type { DomainEvent } from "../domain/event.ts";
import { countRepeat, isRepeat } from "../domain/evidence.ts";
import type { FindingIds } from "../domain/finding.ts";

const openAttemptsMax = 5;

// `newId(at)` embeds `at` in the id. A case id carries the time at which the case was created.
export type Clock = { now: () => string; newId: (at?: string) => string };
export type Batch = { tx: Queryable; tenantId: string; clock: Clock; now: string };
// One activity may lead to a finding about its account and another about its source. Both occurrences share one prediction id.
type Predictions = Map<RecordedActivity, string>;

export type CaseWork = {
  opened: number;
  joinedFindings: number;
  // Each case appears once. The caller saves all of them together.
  joined: LockedCase[];
  events: DomainEvent[];
  // Maps each finding to its occurrence and case. A finding that only repeats its case's contents is counted in the case and is
  // not listed here.
  made: Map<Found, { case_id: string; prediction_id: string }>;
  // Which cases list which accounts named by pages.
  claims: CaseClaim[];
};

type Done = Pick<CaseWork, "events" | "made" | "claims"> & { isOpened: boolean; joined: LockedCase | null };

// Processes subjects in sorted order, so that two engines lock cases in the same order.
export async function openOrJoin(batch: Batch, found: Found[], flags: Map<string, Flags>): Promise<CaseWork> {
  const predictions: Predictions = new Map();
  const work: CaseWork = { opened: 0, joinedFindings: 0, joined: [], events: [], made: new Map(), claims: [] };
  const groups = [...Map.groupBy(found, ({ subject }) => subject)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [, group] of groups) {
    const done = await openOrJoinOne({ ...batch, predictions }, group, flags);
    if (done.joined) work.joined.push(done.joined);
    work.opened += done.isOpened ? 1 : 0;
    work.joinedFindings += done.made.size - (done.isOpened ? 1 : 0);
    work.events.push(...done.events);
    work.claims.push(...done.claims);
    for (const [each, ids] of done.made) work.made.set(each, ids);
  }
  return work;
}

// Folds all findings about one subject into its case before writing it, so an attack on one account costs one write per batch.
async function openOrJoinOne(
  batch: Batch & { predictions: Predictions },
  group: Found[],
  flags: Map<string, Flags>,
): Promise<Done> {
  const { tx, tenantId, now } = batch;
  const [first, ...others] = group;
  if (!first) throw new Error("a group without findings");
  const { subject, account } = first;
  // A case may close between finding it and locking it. Then there is none to join, and a new one is opened.
  for (let attempt = 1; attempt <= openAttemptsMax; attempt++) {
    const open = await lockOpenCase(tx, tenantId, subject);
    if (open) {
      const { changed, made } = fold(batch, { document: open.document, events: [] }, group);
      const joined = changed.document === open.document ? null : { ...open, document: changed.document };
      return { isOpened: false, joined, events: changed.events, made, claims: claimsIn(changed.document, group) };
    }
    const ids = newIds(batch, first.activity);
    const owner = { tenant_id: tenantId, website_account_id: account ?? unknownAccount };
    const opened = openCase(owner, first.finding, ids, now);
    const { changed, made } = fold(batch, opened, others);
    const isBlocked = flags.get(account ?? "")?.is_blocked ?? false;
    if (!(await insertCase(tx, { document: changed.document, subject, end_user_is_blocked: isBlocked }))) continue;
    made.set(first, { case_id: ids.case_id, prediction_id: ids.prediction_id });
    return { isOpened: true, joined: null, events: changed.events, made, claims: claimsIn(changed.document, group) };
  }
  throw new Error(`no case could be opened or joined in ${openAttemptsMax} attempts`);
}

function claimsIn({ case_id, details }: CaseDocument, group: Found[]): CaseClaim[] {
  const named = new Set(group.flatMap(({ finding }) => finding.claimed ?? []));
  return (details.claimed_accounts ?? []).flatMap((account) => (named.has(account) ? [{ case_id, account }] : []));
}

function fold(
  batch: Batch & { predictions: Predictions },
  start: Changed,
  group: Found[],
): { changed: Changed; made: CaseWork["made"] } {
  const made: CaseWork["made"] = new Map();
  let document: CaseDocument = start.document;
  const events = [...start.events];
  for (const found of group) {
    if (isRepeat(document, found.finding)) {
      document = countRepeat(document, found.finding, seenAtOf(found.activity));
      continue;
    }
    const ids = newIds(batch, found.activity);
    const next = joinCase(document, found.finding, ids, batch.now);
    document = next.document;
    events.push(...next.events);
    made.set(found, { case_id: document.case_id, prediction_id: ids.prediction_id });
  }
  return { changed: { document, events }, made };
}

function newIds({ clock, now, predictions }: Batch & { predictions: Predictions }, activity: RecordedActivity): FindingIds {
  const prediction_id = predictions.get(activity) ?? clock.newId();
  predictions.set(activity, prediction_id);
  const seen_at = seenAtOf(activity);
  return { case_id: clock.newId(now), state_id: clock.newId(), occurrence_id: clock.newId(), prediction_id, seen_at };
}

// For a server, the event's own time. A page can send any time, so for a page the time of receipt is used.
function seenAtOf(activity: RecordedActivity): string {
  return activity.origin === "server" ? new Date(timeOf(activity)).toISOString() : activity.received_at;
}
