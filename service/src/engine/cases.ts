import type { Flags } from "../db/accounts.ts";
import type { CaseClaim } from "../db/case-claims.ts";
import { findMembers } from "../db/case-members.ts";
import { insertCase, lockOpenCase, type LockedCase } from "../db/cases.ts";
import type { Queryable } from "../db/postgres/database.ts";
import type { Found } from "../detection/finding.ts";
import { unknownAccount } from "../domain/account.ts";
import { isAccountSubject, timeOf, type RecordedActivity } from "../domain/activity.ts";
import { joinCase, listMembers, openCase, type CaseDocument, type Changed, type Subject } from "../domain/case.ts";
import { isReweighed, withDue, type Due } from "../domain/due.ts";
import type { DomainEvent } from "../domain/event.ts";
import { countRepeat, isRepeat } from "../domain/evidence.ts";
import type { FindingIds } from "../domain/finding.ts";
import { changesOf, membersMax, type Member, type MemberChange } from "../domain/member.ts";
import { shownSubject } from "../domain/subject.ts";
import { MemberList } from "./member-list.ts";

const openAttemptsMax = 5;

// `newId(at)` embeds `at` in the id. A case id carries the time at which the case was created.
export type Clock = { now: () => string; newId: (at?: string) => string };
export type Batch = { tx: Queryable; tenantId: string; clock: Clock; now: string; due?: Due };
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
  members: MemberList;
  // The open case of each subject that the batch found something about.
  caseOf: Map<string, string>;
};

// The findings about one subject, and the accounts that its case lists. They include entered accounts, whose findings are about
// the account itself.
type Group = { subject: string; found: Found[]; members: Member[] };
type Done = Pick<CaseWork, "events" | "made" | "claims"> & {
  document: CaseDocument;
  isOpened: boolean;
  joined: LockedCase | null;
  listed: MemberChange[];
};
type Opening = Batch & { predictions: Predictions; flags: Map<string, Flags>; caseOf: ReadonlyMap<string, string> };

// Processes subjects in a fixed order, so that two engines lock cases in the same order. Sources come before accounts, because an
// account's case names the case of the attack that it belongs to.
export async function openOrJoin(batch: Batch, found: Found[], flags: Map<string, Flags>): Promise<CaseWork> {
  const members = new MemberList(batch.now);
  const caseOf = new Map<string, string>();
  const work: CaseWork = { opened: 0, joinedFindings: 0, joined: [], events: [], made: new Map(), claims: [], members, caseOf };
  const opening: Opening = { ...batch, predictions: new Map(), flags, caseOf };
  for (const group of groupsOf(found)) {
    const done = await openOrJoinOne(opening, group);
    if (!done) continue;
    caseOf.set(group.subject, done.document.case_id);
    members.add(done.document.case_id, done.listed);
    members.link(done.document);
    if (done.joined) work.joined.push(done.joined);
    work.opened += done.isOpened ? 1 : 0;
    work.joinedFindings += done.made.size - (done.isOpened ? 1 : 0);
    work.events.push(...done.events);
    work.claims.push(...done.claims);
    for (const [each, ids] of done.made) work.made.set(each, ids);
  }
  return work;
}

function groupsOf(found: Found[]): Group[] {
  const groups = new Map<string, Group>();
  const group = (subject: string) => {
    const known = groups.get(subject) ?? { subject, found: [], members: [] };
    groups.set(subject, known);
    return known;
  };
  for (const each of found) {
    const { found: findings, members } = group(each.subject);
    findings.push(each);
    if (each.member) members.push(each.member);
    if (each.partOf !== undefined && each.account !== null)
      group(each.partOf).members.push({ account: each.account, state: "entered" });
  }
  const placeOf = ({ subject }: Group) => `${isAccountSubject(subject) ? 1 : 0}${subject}`;
  return [...groups.values()].toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

// Folds all findings about one subject into its case before writing it, so an attack on one account costs one write per batch.
// Returns null if there is nothing to open a case for: entered accounts alone join an open case about their source, but open
// none.
async function openOrJoinOne(batch: Opening, group: Group): Promise<Done | null> {
  const { tx, tenantId, now } = batch;
  const { subject, found } = group;
  const [first, ...others] = found;
  // A case may close between finding it and locking it. Then there is none to join, and a new one is opened.
  for (let attempt = 1; attempt <= openAttemptsMax; attempt++) {
    const open = await lockOpenCase(tx, tenantId, subject);
    if (open) {
      const { changed, made } = fold(batch, { document: open.document, events: [] }, found);
      const listed = await findChanges(batch, open.document, group.members);
      const weighed = isReweighed(open.document, changed.document) ? withDue(changed.document, batch.due) : changed.document;
      const document = listMembers(weighed, listed);
      const joined = document === open.document ? null : { ...open, document };
      return { document, isOpened: false, joined, events: changed.events, made, claims: claimsIn(document, found), listed };
    }
    if (!first) return null;
    const ids = newIds(batch, first.activity);
    const opened = openCase(ownerOf(batch, first), first.finding, ids, now);
    const { changed, made } = fold(batch, opened, others);
    const listed = changesOf(new Map(), group.members);
    const document = withDue(listMembers(changed.document, listed), batch.due);
    const isBlocked = batch.flags.get(first.account ?? "")?.is_blocked ?? false;
    if (!(await insertCase(tx, { document, subject, end_user_is_blocked: isBlocked }))) continue;
    made.set(first, { case_id: ids.case_id, prediction_id: ids.prediction_id });
    return { document, isOpened: true, joined: null, events: changed.events, made, claims: claimsIn(document, found), listed };
  }
  throw new Error(`no case could be opened or joined in ${openAttemptsMax} attempts`);
}

function ownerOf({ tenantId, caseOf }: Opening, { subject, account, partOf }: Found): Subject {
  const about = account === null ? shownSubject(subject) : undefined;
  const campaign = partOf === undefined ? undefined : caseOf.get(partOf);
  return {
    tenant_id: tenantId,
    website_account_id: account ?? unknownAccount,
    ...(about && { about }),
    ...(campaign !== undefined && { campaign_case_id: campaign }),
  };
}

async function findChanges({ tx, tenantId }: Batch, open: CaseDocument, members: Member[]): Promise<MemberChange[]> {
  if (members.length === 0) return [];
  const accounts = [...new Set(members.map(({ account }) => account))];
  const known = await findMembers(tx, tenantId, { case_id: open.case_id, accounts });
  const count = open.details.members?.count ?? 0;
  const changes = changesOf(known, members);
  const added = changes.filter(({ before }) => before === undefined);
  // Anybody can try invented accounts until the list is full. Those that were entered are still listed.
  const tried = added.filter(({ state }) => state !== "entered").slice(0, Math.max(membersMax - count, 0));
  const entered = added.filter(({ state }) => state === "entered").slice(0, Math.max(2 * membersMax - count, 0));
  return [...changes.filter(({ before }) => before !== undefined), ...entered, ...tried];
}

function claimsIn({ case_id, details }: CaseDocument, group: Found[]): CaseClaim[] {
  const named = new Set(group.flatMap(({ finding }) => finding.claimed ?? []));
  return (details.claimed_accounts ?? []).flatMap((account) => (named.has(account) ? [{ case_id, account }] : []));
}

function fold(
  batch: Batch & { predictions: Predictions },
  start: Changed,
  found: Found[],
): { changed: Changed; made: CaseWork["made"] } {
  const made: CaseWork["made"] = new Map();
  let document: CaseDocument = start.document;
  const events = [...start.events];
  for (const each of found) {
    if (isRepeat(document, each.finding)) {
      document = countRepeat(document, each.finding, seenAtOf(each.activity));
      continue;
    }
    const ids = newIds(batch, each.activity);
    const next = joinCase(document, each.finding, ids, batch.now);
    document = next.document;
    events.push(...next.events);
    made.set(each, { case_id: document.case_id, prediction_id: ids.prediction_id });
  }
  return { changed: { document, events }, made };
}

function newIds({ clock, now, predictions }: Batch & { predictions: Predictions }, activity: RecordedActivity): FindingIds {
  const prediction_id = activity.prediction_id ?? predictions.get(activity) ?? clock.newId();
  predictions.set(activity, prediction_id);
  const seen_at = seenAtOf(activity);
  return { case_id: clock.newId(now), state_id: clock.newId(), occurrence_id: clock.newId(), prediction_id, seen_at };
}

// For a server, the event's own time. A page can send any time, so for a page the time of receipt is used.
function seenAtOf(activity: RecordedActivity): string {
  return activity.origin === "server" ? new Date(timeOf(activity)).toISOString() : activity.received_at;
}
