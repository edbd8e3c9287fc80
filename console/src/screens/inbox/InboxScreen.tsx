import type { Notice } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Check, CheckCheck } from "lucide-react";
import { useMemo, useRef, type RefObject } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { NoteText } from "../../notes/NoteText.tsx";
import { Button, IconButton, Kbd } from "../../parts/Button.tsx";
import { Empty, Loading, Stale, Trouble } from "../../parts/States.tsx";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { Age } from "../../parts/Time.tsx";
import { StatusBadge } from "../../parts/Badges.tsx";
import { subjectName } from "../../parts/subject.ts";
import { nameOfActor } from "../../parts/Actor.tsx";
import { useRecipientName } from "../../handing/recipients.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { useMarkRead } from "./reading.ts";

// What colleagues want the person to know: mentions and handovers, newest first.
export function InboxScreen() {
  const { queries } = useWorkspace();
  const list = useInfiniteQuery(queries.inbox());
  const notices = useMemo(() => (list.data?.pages ?? []).flatMap((page) => page.notices), [list.data]);
  const markRead = useMarkRead();
  const unread = notices.filter(({ is_read }) => !is_read).map(({ notice_id }) => notice_id);
  const rows = useRef<HTMLOListElement>(null);
  useKeys(useInboxKeys(rows, markRead));
  return (
    <div className="h-full overflow-y-auto">
      <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3">
        <div className="mx-auto flex max-w-[59.5rem] flex-wrap items-center gap-3">
          <h1 className="mr-auto text-lg font-semibold">Inbox</h1>
          <Button disabled={unread.length === 0} onClick={() => markRead(unread)}>
            <CheckCheck size={15} aria-hidden /> Mark all as read
          </Button>
        </div>
      </header>
      <Stale read={list} />
      <div className="mx-auto max-w-[62rem] p-5">
        {list.isPending && <Loading lines={6} name="Loading the inbox" />}
        {list.isLoadingError && <Trouble error={list.error} onRetry={() => void list.refetch()} />}
        {list.isSuccess && notices.length === 0 && (
          <Empty title="Your inbox is empty">
            When a colleague mentions you in a note, hands a case over to you or your role, or decides your approval request, it
            appears here.
          </Empty>
        )}
        {notices.length > 0 && (
          <div className="overflow-hidden rounded-lg border border-line bg-surface">
            <ol ref={rows} aria-label="Inbox" className="divide-y divide-line">
              {notices.map((notice) => (
                <Row key={notice.notice_id} notice={notice} onRead={markRead} />
              ))}
            </ol>
            <ListFoot list={list} what="The inbox" more="Show older entries" />
          </div>
        )}
        {notices.length > 0 && (
          <p className="mt-3 flex flex-wrap items-center gap-1.5 text-xs text-faint">
            <Kbd>J</Kbd> <Kbd>K</Kbd> move, <Kbd>Enter</Kbd> opens the case or the request, <Kbd>R</Kbd> marks as read
          </p>
        )}
      </div>
    </div>
  );
}

type RowProps = { notice: Notice; onRead: (ids: string[]) => void };

// Opening the case marks the entry as read.
function Row({ notice, onRead }: RowProps) {
  const { notice_id: id, case_id, approval_id, status, website_account_id: account, subject } = notice;
  const { created_by, created_at, is_read } = notice;
  const nameOf = useRecipientName();
  const recipient = notice.kind === "handover" && notice.handed_to !== undefined ? nameOf(notice.handed_to) : null;
  const read = () => {
    if (!is_read) onRead([id]);
  };
  return (
    <li className={`flex gap-3 px-4 py-3 ${is_read ? "text-soft" : ""}`}>
      <span aria-hidden className={`mt-1.5 size-2 shrink-0 rounded-full ${is_read ? "" : "bg-accent"}`} />
      <div className="grid min-w-0 flex-1 gap-1">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <Link
            {...(approval_id === undefined
              ? { to: "/cases/$caseId", params: { caseId: case_id ?? "" } }
              : { to: "/approvals", search: { show: "all" as const, open: approval_id } })}
            data-notice={id}
            data-read={is_read}
            className={`[overflow-wrap:anywhere] hover:underline ${is_read ? "" : "font-semibold"}`}
            onClick={read}
          >
            {!is_read && <span className="sr-only">Unread: </span>}
            {nameOfActor(created_by)}
            {deedOf(notice, recipient)}: <bdi>{subjectName(account, subject)}</bdi>
          </Link>
          {status === "CLOSED" && <StatusBadge status={status} />}
          <span className="ml-auto text-xs text-faint">
            <Age at={created_at} suffix=" ago" />
          </span>
        </p>
        <div className="line-clamp-3 text-sm text-soft">
          <NoteText note={notice} />
        </div>
      </div>
      <IconButton name="Mark as read" className={`self-center ${is_read ? "invisible" : ""}`} tabIndex={-1} onClick={read}>
        <Check size={16} aria-hidden />
      </IconButton>
    </li>
  );
}

function deedOf({ decision }: Notice, recipient: string | null): string {
  if (decision !== undefined) return ` ${decision === "APPROVED" ? "approved" : "rejected"} your request`;
  return recipient === null ? " mentioned you" : ` handed a case over to ${recipient}`;
}

function useInboxKeys(rows: RefObject<HTMLOListElement | null>, markRead: (ids: string[]) => void): Binding[] {
  const navigate = useNavigate();
  return useMemo(() => {
    const links = () => [...(rows.current?.querySelectorAll<HTMLElement>("[data-notice]") ?? [])];
    const step = (by: number) => () => {
      const all = links();
      const at = all.findIndex((each) => each === document.activeElement);
      all[at === -1 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
    };
    const read = () => {
      const at = links().find((each) => each === document.activeElement);
      if (at?.dataset["read"] === "false") markRead([at.dataset["notice"] ?? ""]);
    };
    const group = "The inbox";
    return [
      { key: "j", name: "Next entry", group, run: step(1) },
      { key: "k", name: "Previous entry", group, run: step(-1) },
      { key: "r", name: "Mark the entry as read", group, run: read },
      { key: "Escape", shown: "Esc", name: "Back to the queue", group, run: () => void navigate({ to: "/" }) },
    ];
  }, [rows, markRead, navigate]);
}
