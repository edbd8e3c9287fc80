import type { ScoredActivity, Session } from "@casehound/client";

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

export function inOrder(activities: readonly ScoredActivity[]): ScoredActivity[] {
  const once = new Map(activities.map((each) => [each.activity_id, each]));
  return [...once.values()].toSorted((a, b) => Date.parse(a.occurred_at) - Date.parse(b.occurred_at));
}

// Whether the activity produced evidence. For a case, evidence of another case in the same session does not count.
export function isOccurrence(activity: ScoredActivity, caseId: string | undefined): boolean {
  if (activity.prediction_id === undefined) return false;
  return caseId === undefined || activity.case_id === undefined || activity.case_id === caseId;
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
