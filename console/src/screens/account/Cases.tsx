import type { CaseListItem } from "@casehound/client";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { Actor } from "../../parts/Actor.tsx";
import { StatusBadge, hasOwnReason, outcomeName } from "../../parts/Badges.tsx";
import { ColumnNames } from "../../parts/ColumnNames.tsx";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { CaseLabel } from "../../parts/RandomCheck.tsx";
import { Score } from "../../parts/Score.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { Moment } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { useHistories } from "../../timeline/histories.ts";
import { Section } from "../case/Section.tsx";

// Every case of the account, latest first, with its outcome.
export function Cases({ accountId }: { accountId: string }) {
  const { may, live } = useWorkspace();
  const cache = useQueryClient();
  const isAllowed = may("read:cases");
  const options = useHistories().accountCases(accountId);
  const list = useInfiniteQuery({ ...options, enabled: isAllowed });
  useEffect(
    () =>
      live.onEvent(({ resource }) => {
        if (resource.type === "case") void cache.invalidateQueries({ queryKey: ["account", accountId, "cases"] });
      }),
    [live, cache, accountId],
  );
  const cases = list.data?.pages.flatMap((page) => page.cases) ?? [];
  return (
    <Section title="Cases" isFlush aside={isAllowed && <AllCases accountId={accountId} />}>
      {!isAllowed && <p className="p-4 text-soft">Not available: your role does not allow listing cases.</p>}
      {isAllowed && list.isPending && (
        <div role="status" aria-label="Loading cases" className="m-4 h-16 animate-pulse rounded bg-sunken" />
      )}
      {list.isSuccess && cases.length === 0 && <p className="p-4 text-soft">This account has never had a case.</p>}
      {cases.length > 0 && <Table cases={cases} />}
      <ListFoot list={list} what="The cases" more="Show earlier cases" />
    </Section>
  );
}

function AllCases({ accountId }: { accountId: string }) {
  return (
    <Link to="/" search={{ account: accountId, status: "all" }} className="no-print font-medium text-accent underline">
      Show in the queue
    </Link>
  );
}

function Table({ cases }: { cases: readonly CaseListItem[] }) {
  return (
    <div className="overflow-x-auto px-4 py-2">
      <table className="w-full text-left" aria-label="Cases">
        <ColumnNames names={["Opened", "Score", "Label", "Status", "Outcome"]} />
        <tbody>
          {cases.map((each) => (
            <tr key={each.case_id} className="border-t border-line align-top">
              <td className="py-1.5 pr-4 whitespace-nowrap">
                <Link to="/cases/$caseId" params={{ caseId: each.case_id }} className="font-medium text-accent underline">
                  <Moment at={each.created_at} />
                </Link>
              </td>
              <td className="py-1.5 pr-4">
                <Score score={each.overall_risk_score} />
              </td>
              <td className="py-1.5 pr-4">
                <CaseLabel row={each} />
              </td>
              <td className="py-1.5 pr-4">
                <StatusBadge status={each.status} />
              </td>
              <td className="py-1.5 [overflow-wrap:anywhere]">
                <Outcome row={each} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// The list does not include the outcome, so read the case.
function Outcome({ row }: { row: CaseListItem }) {
  const { queries, may } = useWorkspace();
  const isClosed = row.status === "CLOSED";
  const read = useQuery({ ...queries.case(row.case_id), enabled: isClosed && may("read:case") });
  if (!isClosed) return <span className="text-faint">not decided yet</span>;
  if (!may("read:case")) return <span className="text-faint">not available</span>;
  if (read.isPending) return <span className="inline-block h-3.5 w-24 animate-pulse rounded bg-sunken" />;
  if (read.isError) return <span className="text-faint">{wordsOf(read.error)}</span>;
  const { changed_by, reason } = read.data.current_state;
  return (
    <>
      <strong className="font-semibold">{outcomeName(read.data.current_state) ?? "No outcome given"}</strong>{" "}
      <span className="text-soft">
        by <Actor actor={changed_by} />
      </span>
      {hasOwnReason(read.data.current_state) && <p className="text-xs text-soft">{reason}</p>}
    </>
  );
}
