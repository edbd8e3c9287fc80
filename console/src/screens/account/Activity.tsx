import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { zoneName } from "../../parts/clock.ts";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { ScoreLine } from "../../timeline/ScoreLine.tsx";
import { Rows } from "../../timeline/Rows.tsx";
import { Timeline, useShown } from "../../timeline/Timeline.tsx";
import { groupsOf, inOrder } from "../../timeline/grouping.ts";
import { useHistories, type Whose } from "../../timeline/histories.ts";
import { countWords } from "../../timeline/words.ts";
import { Section } from "../case/Section.tsx";

// All of the account's activity in every session, latest first, below the line of its scores.
export function Activity({ accountId }: { accountId: string }) {
  const navigate = useNavigate();
  const { event: chosen } = useSearch({ from: "/inside/accounts/$accountId" });
  const list = useInfiniteQuery(useHistories().accountActivities(accountId));
  const read = useMemo(() => inOrder((list.data?.pages ?? []).flatMap((page) => page.activities).toReversed()), [list.data]);
  const choose = useCallback(
    (event: string) => void navigate({ to: ".", search: { event }, replace: true, resetScroll: false }),
    [navigate],
  );
  useShown(chosen, list.isSuccess);
  const whose: Whose = { key: ["account", accountId], websiteAccountId: accountId };
  return (
    <Section
      title="Activity"
      isFlush
      aside={
        read.length > 0 && (
          <span className="text-faint">
            the latest {countWords(read.length, "event")}, times in {zoneName()}
          </span>
        )
      }
    >
      {list.isPending && <div role="status" aria-label="Loading activity" className="m-4 h-40 animate-pulse rounded bg-sunken" />}
      {list.isSuccess && read.length === 0 && (
        <p className="p-4 text-soft">No activity is stored. There was none, or it has expired.</p>
      )}
      {read.length > 1 && (
        <div className="px-4 pt-5">
          <ScoreLine activities={read} chosen={chosen} onChoose={choose} />
        </div>
      )}
      {read.length > 0 && (
        <div className="border-t border-line py-1">
          <Rows rows={read.toReversed()} whose={whose} chosen={chosen} hasDay />
        </div>
      )}
      <ListFoot list={list} what="The activity" more="Show earlier activity" />
    </Section>
  );
}

export function Sessions({ accountId }: { accountId: string }) {
  const { may } = useWorkspace();
  const list = useInfiniteQuery(useHistories().accountSessions(accountId));
  const sessions = list.data?.pages.flatMap((page) => page.sessions) ?? [];
  const whose: Whose = { key: ["account", accountId], websiteAccountId: accountId };
  return (
    <Section title="Sessions" isFlush>
      {list.isPending && <div role="status" aria-label="Loading sessions" className="m-4 h-16 animate-pulse rounded bg-sunken" />}
      {list.isSuccess && sessions.length === 0 && (
        <p className="p-4 text-soft">No sessions. All of its activity came without one.</p>
      )}
      {!may("read:case") && (
        <p className="px-4 pt-3 text-xs text-faint">Your role does not include the events of these sessions.</p>
      )}
      <Timeline groups={groupsOf(sessions, []).toReversed()} whose={whose} chosen={undefined} isQuiet />
      <ListFoot list={list} what="The sessions" more="Show earlier sessions" />
    </Section>
  );
}
