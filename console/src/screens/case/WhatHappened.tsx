import { unknownAccount, type Case, type ScoredActivity } from "@casehound/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronDown, ChevronUp } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { useNotes } from "../../notes/notes.ts";
import { Button, IconButton } from "../../parts/Button.tsx";
import { zoneName } from "../../parts/clock.ts";
import { wordsOf } from "../../parts/States.tsx";
import { ScoreLine } from "../../timeline/ScoreLine.tsx";
import { Timeline } from "../../timeline/Timeline.tsx";
import { groupsOf, inOrder, isHarmless, isOccurrence, type CaseEvidence } from "../../timeline/grouping.ts";
import { useHistories, type Whose } from "../../timeline/histories.ts";
import { evidenceOf } from "./parts.ts";
import { Section } from "./Section.tsx";

// The sessions of a case, event by event, below the line of their scores.
export function WhatHappened({ found }: { found: Case }) {
  const { case_id: caseId, website_account_id: websiteAccountId } = found;
  const { sessions, activities, telling, own } = useCaseActivities(caseId);
  const { notes: newestFirst } = useNotes(caseId);
  const notes = useMemo(() => newestFirst.toReversed(), [newestFirst]);
  const [read, setRead] = useState<ReadonlyMap<string, ScoredActivity[]>>(new Map());
  const onRead = useCallback(
    (groupId: string, found: ScoredActivity[]) => setRead((known) => new Map(known).set(groupId, found)),
    [],
  );
  const groups = useMemo(
    () =>
      groupsOf(
        (sessions.data?.pages ?? []).flatMap((page) => page.sessions),
        own,
      ),
    [sessions.data, own],
  );
  // Without an account, the events cannot be limited to one, so all of them make up the line.
  const isUnknown = websiteAccountId === unknownAccount;
  const line = useMemo(() => inOrder(isUnknown ? [...own, ...[...read.values()].flat()] : own), [isUnknown, own, read]);
  const evidence = useMemo(() => evidenceIn(found), [found]);
  const whose: Whose = { key: ["case", caseId], websiteAccountId, evidence };
  const { chosen, choose, step, count } = useEvidence(line, evidence);

  const isPending = sessions.isPending || activities.isPending || telling.isPending;
  const error = activities.error ?? sessions.error ?? telling.error;
  const lists = [sessions, activities].filter((list) => list.hasNextPage);
  const isEmpty = !isPending && !error && groups.length === 0;
  return (
    <Section title="What happened" isFlush aside={count > 0 && <Steps step={step} count={count} />}>
      {isPending && <div role="status" aria-label="Loading what happened" className="m-4 h-40 animate-pulse rounded bg-sunken" />}
      {error && (
        <div className="p-4">
          <p role="alert" className="mb-2 text-soft">
            The activity could not be loaded: {wordsOf(error)}
          </p>
          <Button onClick={() => void Promise.all([sessions, activities, telling].map((each) => each.refetch()))}>
            Try again
          </Button>
        </div>
      )}
      {isEmpty && <p className="p-4 text-soft">The activity has expired. Raw activity is kept for a shorter time than cases.</p>}
      {!isPending && line.length > 1 && (
        <div className="px-4 pt-5">
          <ScoreLine activities={line} evidence={evidence} chosen={chosen} onChoose={choose} />
        </div>
      )}
      {lists.length > 0 && (
        <div className="border-y border-line px-4 py-2">
          <p className="hidden print:block">Earlier activity is not printed.</p>
          <Button
            className="no-print"
            disabled={lists.some((list) => list.isFetching)}
            onClick={() => void Promise.all(lists.map((list) => list.fetchNextPage()))}
          >
            Show earlier activity
          </Button>
        </div>
      )}
      {!isPending && groups.length > 0 && (
        <div className="border-t border-line">
          <p className="px-4 pt-2 text-xs text-faint">Times are in {zoneName()}.</p>
          <Timeline groups={groups} whose={whose} chosen={chosen} onRead={onRead} notes={notes} />
        </div>
      )}
    </Section>
  );
}

function useCaseActivities(caseId: string) {
  const histories = useHistories();
  const sessions = useInfiniteQuery(histories.caseSessions(caseId));
  const activities = useInfiniteQuery(histories.caseActivities(caseId));
  const telling = useQuery(histories.caseEvidence(caseId));
  const own = useMemo(() => {
    const read = (activities.data?.pages ?? []).flatMap((page) => page.activities);
    const known = new Set(read.map(({ activity_id }) => activity_id));
    const earlier = (telling.data?.activities ?? []).filter(({ activity_id }) => !known.has(activity_id));
    return [...read, ...earlier].toReversed();
  }, [activities.data, telling.data]);
  return { sessions, activities, telling, own };
}

function evidenceIn(found: Case): CaseEvidence {
  const all = evidenceOf(found);
  const rulesIn = ({ explanation }: (typeof all)[number]) =>
    new Set((explanation.model_behaviour ?? []).map(({ model_name }) => model_name));
  return {
    caseId: found.case_id,
    strongest: all[0]?.prediction_id,
    scores: new Map(all.map(({ prediction_id, risk_score }) => [prediction_id, risk_score])),
    rules: new Map(all.map((each) => [each.prediction_id, rulesIn(each)])),
  };
}

// The event in the address, and the steps from one piece of evidence to the next.
function useEvidence(line: readonly ScoredActivity[], evidence: CaseEvidence) {
  const navigate = useNavigate();
  const { event: chosen } = useSearch({ from: "/inside/cases/$caseId" });
  const choose = useCallback(
    (event: string) => void navigate({ to: ".", search: { event }, replace: true, resetScroll: false }),
    [navigate],
  );
  const marked = useMemo(
    () => line.filter((each) => isOccurrence(each, evidence) && !isHarmless(each, evidence)).map((each) => each.activity_id),
    [line, evidence],
  );
  const step = useCallback(
    (by: 1 | -1) => {
      const at = marked.indexOf(chosen ?? "");
      const next = marked[at === -1 ? (by === 1 ? 0 : marked.length - 1) : (at + by + marked.length) % marked.length];
      if (next !== undefined) choose(next);
    },
    [marked, chosen, choose],
  );
  useKeys(
    useMemo<Binding[]>(
      () => [
        { key: "n", name: "Next evidence", group: "This screen", run: () => step(1), isOff: marked.length === 0 },
        { key: "p", name: "Previous evidence", group: "This screen", run: () => step(-1), isOff: marked.length === 0 },
      ],
      [step, marked.length],
    ),
  );
  return { chosen, choose, step, count: marked.length };
}

function Steps({ step, count }: { step: (by: 1 | -1) => void; count: number }) {
  return (
    <span className="no-print flex items-center gap-1 text-soft">
      {count === 1 ? "1 piece of evidence" : `${count} pieces of evidence`}
      <IconButton name="Previous evidence (P)" onClick={() => step(-1)}>
        <ChevronUp size={16} aria-hidden />
      </IconButton>
      <IconButton name="Next evidence (N)" onClick={() => step(1)}>
        <ChevronDown size={16} aria-hidden />
      </IconButton>
    </span>
  );
}
