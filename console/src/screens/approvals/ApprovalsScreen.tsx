import type { ApprovalListItem } from "@casehound/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useRef, type RefObject } from "react";
import { CaseLabel } from "../../parts/RandomCheck.tsx";
import { Score } from "../../parts/Score.tsx";
import { subjectName } from "../../parts/subject.ts";
import { visible } from "../../parts/visible.ts";
import { approvalsQuery } from "../../approving/queries.ts";
import { becauseWords, statusWords, titleOf } from "../../approving/words.ts";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { nameOfActor } from "../../parts/Actor.tsx";
import { Kbd } from "../../parts/Button.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { Empty, Loading, Stale, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { ApprovalDialog } from "./ApprovalDialog.tsx";

const tabLook = "rounded-md px-2.5 py-1 text-sm text-soft hover:bg-hover hover:text-ink";

// An open request is in the address too, so the address alone does not say which tab is current.
function lookOf(isCurrent: boolean) {
  return isCurrent
    ? { className: `${tabLook} bg-accent-soft !text-accent font-medium`, "aria-current": "page" as const }
    : { className: tabLook, "aria-current": undefined };
}

// Approval requests, newest first: the pending ones, or all.
export function ApprovalsScreen() {
  const { client } = useWorkspace();
  const { show, open } = useSearch({ from: "/inside/approvals" });
  const navigate = useNavigate();
  const list = useInfiniteQuery(approvalsQuery(client, show === "all" ? undefined : "PENDING"));
  const approvals = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.approvals), [list.data]);
  const rows = useRef<HTMLOListElement>(null);
  useKeys(useListKeys(rows));
  const kept = show === "all" ? { show } : {};
  return (
    <div className="h-full overflow-y-auto">
      <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3">
        <div className="mx-auto flex max-w-[59.5rem] flex-wrap items-center gap-3">
          <h1 className="mr-auto text-lg font-semibold">Approvals</h1>
          <nav aria-label="Filter requests" className="flex gap-1">
            <Link to="/approvals" search={{}} {...lookOf(show !== "all")}>
              Pending
            </Link>
            <Link to="/approvals" search={{ show: "all" }} {...lookOf(show === "all")}>
              All
            </Link>
          </nav>
          <GuideLink page="investigators#a-second-person" about="approvals" className="text-xs" />
        </div>
      </header>
      <Stale read={list} />
      <div className="mx-auto max-w-[62rem] p-5">
        {list.isPending && <Loading lines={6} name="Loading the requests" />}
        {list.isLoadingError && <Trouble error={list.error} onRetry={() => void list.refetch()} />}
        {list.isSuccess && approvals.length === 0 && (
          <Empty title={show === "all" ? "No approval requests yet" : "No pending approval requests"}>
            Requests from you and your colleagues appear here. Admins choose which changes need a second person in Detection,
            under Closing.
          </Empty>
        )}
        {approvals.length > 0 && (
          <>
            <div className="overflow-hidden rounded-lg border border-line bg-surface">
              <ol ref={rows} aria-label="Approval requests" className="divide-y divide-line">
                {approvals.map((approval) => (
                  <Row key={approval.approval_id} approval={approval} kept={kept} />
                ))}
              </ol>
              <ListFoot list={list} what="The list" more="Show older requests" />
            </div>
            <p className="mt-3 flex flex-wrap items-center gap-1.5 text-xs text-faint">
              <Kbd>J</Kbd> <Kbd>K</Kbd> move, <Kbd>Enter</Kbd> opens the request
            </p>
          </>
        )}
      </div>
      {open !== undefined && (
        <ApprovalDialog key={open} approvalId={open} onClose={() => void navigate({ to: "/approvals", search: kept })} />
      )}
    </div>
  );
}

type RowProps = { approval: ApprovalListItem; kept: { show?: "all" } };

function Row({ approval, kept }: RowProps) {
  const { approval_id: id, case_id, status, requested_by, requested_at, because, closing, note, decided_by } = approval;
  return (
    <li className="grid gap-1 px-4 py-3">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <Link
          to="/approvals"
          search={{ ...kept, open: id }}
          data-approval
          className="font-medium [overflow-wrap:anywhere] hover:underline"
        >
          {nameOfActor(requested_by)}: <bdi>{titleOf(approval)}</bdi>
        </Link>
        <span className="text-xs text-soft">
          {statusWords[status]}
          {decided_by !== undefined && ` by ${nameOfActor(decided_by)}`}
        </span>
        <span className="ml-auto text-xs text-faint">
          <Age at={requested_at} suffix=" ago" />
        </span>
      </p>
      {case_id !== undefined && <CaseWords caseId={case_id} others={approval.case_count - 1} />}
      {closing.reason !== undefined && <p className="line-clamp-2 text-sm [overflow-wrap:anywhere]">{visible(closing.reason)}</p>}
      {because.length > 0 && <p className="text-sm text-soft">Needs a second person because {becauseWords(because)}.</p>}
      {note !== undefined && <p className="line-clamp-2 text-sm text-soft [overflow-wrap:anywhere]">“{note}”</p>}
    </li>
  );
}

// The first case that the request is about, because many requests differ only in it.
function CaseWords({ caseId, others }: { caseId: string; others: number }) {
  const { queries, may } = useWorkspace();
  const { data: found } = useQuery({ ...queries.case(caseId), enabled: may("read:case") });
  if (!found) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-3 text-sm">
      <bdi className="font-medium">{subjectName(found.website_account_id, found.details.subject)}</bdi>
      <Score score={found.details.overall_risk_score} />
      <CaseLabel row={{ ...found, ...found.details }} />
      {others > 0 && <span className="text-soft">and {others} more</span>}
    </p>
  );
}

function useListKeys(rows: RefObject<HTMLOListElement | null>): Binding[] {
  const navigate = useNavigate();
  return useMemo(() => {
    const step = (by: number) => () => {
      const all = [...(rows.current?.querySelectorAll<HTMLElement>("[data-approval]") ?? [])];
      const at = all.findIndex((each) => each === document.activeElement);
      all[at === -1 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
    };
    const group = "Approvals";
    return [
      { key: "j", name: "Next request", group, run: step(1) },
      { key: "k", name: "Previous request", group, run: step(-1) },
      { key: "Escape", shown: "Esc", name: "Back to the queue", group, run: () => void navigate({ to: "/" }) },
    ];
  }, [rows, navigate]);
}
