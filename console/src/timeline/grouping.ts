import type { ScoredActivity, Session } from "@casehound/client";
import { suspiciousScore } from "../parts/RandomCheck.tsx";

// One session with its activities. If `session` is null, these are an account's activities outside any session.
export type Group = {
  id: string;
  session: Session | null;
  // The activities of the account or the case itself, in chronological order. The session may contain more.
  own: ScoredActivity[];
  startedAt: string;
  lastAt: string;
};

export const noSession = "none";

// Groups in chronological order.
export function groupsOf(sessions: readonly Session[], activities: readonly ScoredActivity[]): Group[] {
  const bySession = Map.groupBy(activities, ({ session_id }) => session_id ?? noSession);
  const known = sessions.map((session): Group => {
    const own = inOrder(bySession.get(session.session_id) ?? []);
    return { id: session.session_id, session, own, startedAt: session.started_at, lastAt: session.last_activity_at };
  });
  const named = new Set(sessions.map(({ session_id }) => session_id));
  const others = [...bySession].flatMap(([id, found]): Group[] => {
    if (named.has(id)) return [];
    const own = inOrder(found);
    const [first, last] = [own[0], own.at(-1)];
    return first && last ? [{ id, session: null, own, startedAt: first.occurred_at, lastAt: last.occurred_at }] : [];
  });
  return [...known, ...others].toSorted((a, b) => Date.parse(a.lastAt) - Date.parse(b.lastAt));
}

// Activities with the same time keep the given order. So the caller must reverse pages of the API, which are newest first.
export function inOrder(activities: readonly ScoredActivity[]): ScoredActivity[] {
  const once = new Map(activities.map((each) => [each.activity_id, each]));
  return [...once.values()].toSorted((a, b) => Date.parse(a.occurred_at) - Date.parse(b.occurred_at));
}

// The evidence of a case, by decision: the score in this case, and the rules that count in it. One activity can be evidence in
// several cases, with different scores.
export type CaseEvidence = {
  caseId: string;
  // The decision whose story leads.
  strongest: string | undefined;
  scores: ReadonlyMap<string, number>;
  rules: ReadonlyMap<string, ReadonlySet<string>>;
};

// Whether the activity produced evidence. For a case, evidence of another case in the same session does not count.
export function isOccurrence({ prediction_id, case_id }: ScoredActivity, evidence: CaseEvidence | undefined): boolean {
  if (prediction_id === undefined) return false;
  if (!evidence || case_id === undefined) return true;
  return case_id === evidence.caseId || evidence.scores.has(prediction_id);
}

// The activity's score in the case. If it counts only in other cases, nothing of it counts here.
export function scoreIn(evidence: CaseEvidence | undefined, activity: ScoredActivity): number {
  const { prediction_id = "", score, cases = [] } = activity;
  if (!evidence) return score;
  const here = cases.find(({ case_id }) => case_id === evidence.caseId)?.score;
  return evidence.scores.get(prediction_id) ?? here ?? (cases.length > 0 ? 1 : score);
}

// The other cases that the activity counts in.
export function casesElsewhere({ cases = [] }: ScoredActivity, evidence: CaseEvidence | undefined) {
  return evidence ? cases.filter(({ case_id }) => case_id !== evidence.caseId) : [];
}

// Whether the rule counts in this case. If the activity is not evidence here, its rules count wherever it counts.
export function isCounted(rule: string, { prediction_id = "" }: ScoredActivity, evidence: CaseEvidence | undefined): boolean {
  return evidence?.rules.get(prediction_id)?.has(rule) ?? true;
}

// Whether the activity is in a case although it is not suspicious, as in a random check.
export function isHarmless(activity: ScoredActivity, evidence: CaseEvidence | undefined): boolean {
  return scoreIn(evidence, activity) < suspiciousScore;
}

// The session's events read so far, followed by the account's own later events. So the important ones show before everything is
// read.
export function rowsOf(read: readonly ScoredActivity[], own: readonly ScoredActivity[], hasMore: boolean) {
  if (!hasMore) return { first: inOrder([...read, ...own]), later: [] };
  const end = Date.parse(read.at(-1)?.occurred_at ?? "");
  const seen = new Set(read.map(({ activity_id }) => activity_id));
  const later = own.filter((each) => !seen.has(each.activity_id) && !(Date.parse(each.occurred_at) < end));
  const earlier = own.filter((each) => Date.parse(each.occurred_at) < end);
  return { first: inOrder([...read, ...earlier]), later };
}

const runMin = 3;

// Splits events into runs of events that say the same. Evidence and labelled events are never part of a run.
export function runsOf(rows: readonly ScoredActivity[], evidence: CaseEvidence | undefined): ScoredActivity[][] {
  const runs: ScoredActivity[][] = [];
  let before: string | null = null;
  for (const row of rows) {
    const words = isOccurrence(row, evidence) || row.label ? null : meaningOf(row);
    if (words !== null && words === before) runs.at(-1)?.push(row);
    else runs.push([row]);
    before = words;
  }
  return runs.flatMap((run) => (run.length < runMin ? run.map((row) => [row]) : [run]));
}

function meaningOf(row: ScoredActivity): string {
  const { type, source, website_account_id, claimed_account_id, page_url, page_title, signs, attributes, rules, lists, cases } =
    row;
  return JSON.stringify([
    type,
    source,
    website_account_id,
    claimed_account_id,
    page_url,
    page_title,
    signs,
    attributes,
    rules,
    lists,
    cases,
  ]);
}
