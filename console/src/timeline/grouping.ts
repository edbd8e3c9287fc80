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

// The evidence of a case, with the score that each decision has in this case. One activity can be evidence in several cases, with
// different scores, but it names only one of them.
export type CaseEvidence = { caseId: string; scores: ReadonlyMap<string, number> };

// Whether the activity produced evidence. For a case, evidence of another case in the same session does not count.
export function isOccurrence({ prediction_id, case_id }: ScoredActivity, evidence: CaseEvidence | undefined): boolean {
  if (prediction_id === undefined) return false;
  if (!evidence || case_id === undefined) return true;
  return case_id === evidence.caseId || evidence.scores.has(prediction_id);
}

export function scoreIn(evidence: CaseEvidence | undefined, { prediction_id = "", score }: ScoredActivity): number {
  return evidence?.scores.get(prediction_id) ?? score;
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
