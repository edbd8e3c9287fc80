import { insertSeenAccounts, saveSessionTimes } from "../db/accounts.ts";
import { claimActivities, saveScored } from "../db/activities.ts";
import { insertCase, lockOpenCase, saveCases, type LockedCase } from "../db/cases.ts";
import type { Database, Queryable } from "../db/database.ts";
import { appendEvents } from "../db/events.ts";
import { scoreReport } from "../detection/report.ts";
import { unknownAccount } from "../domain/account.ts";
import { subjectOf, type Activity } from "../domain/activity.ts";
import { joinCase, openCase, type Changed } from "../domain/case.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { Finding, FindingIds } from "../domain/finding.ts";

const batchMax = 200;
const openAttemptsMax = 5;

// `newId(at)`: a case id carries the time at which the case was created.
export type Clock = { now: () => string; newId: (at?: string) => string };
export type Pass = { scored: number; opened: number; joined: number };

type Found = { activity: Activity; finding: Finding; subject: string };
type Batch = { tx: Queryable; tenantId: string; clock: Clock; now: string };

// One batch of one tenant in one transaction: a crash anywhere runs it again, and it comes out the same.
export async function detectBatch(database: Database, tenantId: string, clock: Clock): Promise<Pass> {
  return database.transaction(async (tx) => {
    const activities = await claimActivities(tx, tenantId, batchMax);
    const pass = { scored: activities.length, opened: 0, joined: 0 };
    if (activities.length === 0) return pass;
    const now = clock.now();
    const batch = { tx, tenantId, clock, now };
    const { events, blocked } = await seeAccounts(batch, activities);
    const joined: LockedCase[] = [];
    for (const group of Map.groupBy(findSuspicion(activities, Date.parse(now)), ({ subject }) => subject).values()) {
      const done = await openOrJoin(batch, group, blocked);
      if (done.joined) joined.push(done.joined);
      events.push(...done.events);
      pass.opened += done.joined ? 0 : 1;
      pass.joined += group.length - (done.joined ? 0 : 1);
    }
    await saveCases(tx, tenantId, joined);
    await saveScored(tx, tenantId, { ids: activities.map((each) => each.activity_id), now });
    await appendEvents(tx, tenantId, events);
    return pass;
  });
}

// The first activity that names an account creates it.
async function seeAccounts(
  { tx, tenantId, now }: Batch,
  activities: Activity[],
): Promise<{ events: DomainEvent[]; blocked: Map<string, boolean> }> {
  const times = new Map<string, string | null>();
  for (const { website_account_id: id, session_id: session, occurred_at: at } of activities) {
    if (id === undefined) continue;
    const known = times.get(id) ?? null;
    times.set(id, session !== undefined && (known === null || at > known) ? at : known);
  }
  if (times.size === 0) return { events: [], blocked: new Map() };
  const created: string[] = [];
  const blocked = new Map<string, boolean>();
  // An erasure that commits while we wait for its row takes the account away: then it is made again.
  for (let missing = [...times].map(([id, session_at]) => ({ id, session_at })); missing.length > 0;) {
    created.push(...(await insertSeenAccounts(tx, tenantId, { ids: missing.map(({ id }) => id), now })));
    for (const [id, isBlocked] of await saveSessionTimes(tx, tenantId, missing)) blocked.set(id, isBlocked);
    missing = missing.filter(({ id }) => !blocked.has(id));
  }
  const events = created.map((id): DomainEvent => ({
    type: "account.created",
    occurred_at: now,
    actor: "system",
    resource: { type: "end_user_account", id },
  }));
  return { events, blocked };
}

// In order of the subject, so that two engines lock cases in one order.
function findSuspicion(activities: Activity[], nowMs: number): Found[] {
  const found = activities.flatMap((activity): Found[] => {
    const finding = scoreReport(activity, nowMs);
    return finding ? [{ activity, finding, subject: subjectOf(activity) }] : [];
  });
  return found.toSorted((a, b) => (a.subject === b.subject ? 0 : a.subject < b.subject ? -1 : 1));
}

type Done = { joined: LockedCase | null; events: DomainEvent[] };

// All findings of one subject, folded into its case before it is written: an attack on one account is one write a batch.
async function openOrJoin({ tx, tenantId, clock, now }: Batch, group: Found[], blocked: Map<string, boolean>): Promise<Done> {
  const [first, ...others] = group;
  if (!first) throw new Error("a group without findings");
  const { activity, subject } = first;
  const newIds = (): FindingIds => ({
    case_id: clock.newId(now),
    state_id: clock.newId(),
    occurrence_id: clock.newId(),
    prediction_id: clock.newId(),
  });
  const fold = (start: Changed, findings: Found[]): Changed =>
    findings.reduce(({ document, events }, { finding }) => {
      const next = joinCase(document, finding, newIds(), now);
      return { document: next.document, events: [...events, ...next.events] };
    }, start);
  // One that closes between our look and our lock is gone: then there is none to join, and a new one is opened.
  for (let attempt = 1; attempt <= openAttemptsMax; attempt++) {
    const open = await lockOpenCase(tx, tenantId, subject);
    if (open) {
      const { document, events } = fold({ document: open.document, events: [] }, group);
      return { joined: { ...open, document }, events };
    }
    const account = { tenant_id: tenantId, website_account_id: activity.website_account_id ?? unknownAccount };
    const { document, events } = fold(openCase(account, first.finding, newIds(), now), others);
    const isBlocked = blocked.get(activity.website_account_id ?? "") ?? false;
    if (await insertCase(tx, { document, subject, end_user_is_blocked: isBlocked })) return { joined: null, events };
  }
  throw new Error(`no case could be opened or joined in ${openAttemptsMax} attempts`);
}
