import type { ScoredActivity, Session } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Bot, ChevronRight } from "lucide-react";
import { useEffect, useId, useMemo } from "react";
import { Button } from "../parts/Button.tsx";
import { dayAndTime, fullTime } from "../parts/clock.ts";
import { Id } from "../parts/Id.tsx";
import { wordsOf } from "../parts/States.tsx";
import { Rows } from "./Rows.tsx";
import { inOrder, isHarmless, isOccurrence, noSession, rowsOf, type Group } from "./grouping.ts";
import { useHistories, type Whose } from "./histories.ts";
import { agentWords, countWords, durationWords } from "./words.ts";

type Props = {
  group: Group;
  whose: Whose;
  isOpen: boolean;
  // Whether to show the evidence even if the session is not open.
  hasEvidence: boolean;
  onToggle: () => void;
  chosen: string | undefined;
  // Receives the activities read for the session, for example to draw them.
  onRead?: (groupId: string, activities: ScoredActivity[]) => void;
};

export function SessionGroup({ group, whose, isOpen, hasEvidence, onToggle, chosen, onRead }: Props) {
  const id = useId();
  const marked = group.own.filter((each) => isOccurrence(each, whose.evidence));
  const evidence = marked.filter((each) => !isHarmless(each, whose.evidence));
  return (
    <li className="border-t border-line first:border-t-0">
      <h3>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={onToggle}
          className="flex w-full items-start gap-x-2 px-4 py-2 text-left hover:bg-hover"
        >
          <ChevronRight
            size={15}
            aria-hidden
            className={`no-print mt-0.5 shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <Heading group={group} />
          {evidence.length > 0 && (
            <span className="rounded bg-bad-soft px-1.5 text-xs font-semibold whitespace-nowrap text-bad">
              {countWords(evidence.length, "piece", "pieces")} of evidence
            </span>
          )}
        </button>
      </h3>
      <div id={id} className={isOpen ? "pb-2" : ""}>
        {isOpen && group.session && <Facts session={group.session} />}
        {isOpen && group.session && <SessionEvents group={group} whose={whose} chosen={chosen} onRead={onRead} />}
        {isOpen && !group.session && <Rows rows={group.own} whose={whose} chosen={chosen} />}
        {!isOpen && marked.length > 0 && (
          // Nothing can be opened on paper, so print the evidence in any case.
          <div className={hasEvidence ? "pb-2" : "hidden print:block"}>
            <Rows rows={marked} whose={whose} chosen={chosen} />
          </div>
        )}
      </div>
    </li>
  );
}

function Heading({ group: { id, session, own, startedAt, lastAt } }: { group: Group }) {
  const lasted = durationWords(Date.parse(lastAt) - Date.parse(startedAt));
  const count = session?.activities ?? own.length;
  return (
    <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <time dateTime={startedAt} title={fullTime.format(new Date(startedAt))} className="font-medium">
        {dayAndTime.format(new Date(startedAt))}
      </time>
      <span className="text-soft">
        {countWords(count, "event")}
        {count > 1 && ` in ${lasted}`}
      </span>
      {id === noSession && <span className="text-soft">outside any session</span>}
      {session?.session_status === "ACTIVE" && <span className="text-xs font-medium text-good">active</span>}
      {session && session.accounts > 1 && (
        <span className="text-xs font-medium text-warn">{countWords(session.accounts, "account")} in it</span>
      )}
      {session?.is_webdriver === true && (
        <span className="inline-flex items-center gap-1 self-center text-xs font-medium text-warn">
          <Bot size={13} aria-hidden /> automated
        </span>
      )}
      {session?.user_agent !== undefined && (
        <span className="truncate text-xs text-faint" title={session.user_agent}>
          {agentWords(session.user_agent)}
        </span>
      )}
    </span>
  );
}

// What the browser reported about itself, and where it connected from.
function Facts({ session }: { session: Session }) {
  const { device_id, ips, client, session_id, page_views } = session;
  const zone = client?.zone_offset_minutes;
  const facts: [string, string | undefined][] = [
    ["Session", session_id],
    ["Device", device_id],
    ["Addresses", ips.length > 0 ? ips.join(", ") : undefined],
    ["Pages", page_views > 0 ? String(page_views) : undefined],
    ["Language", client?.locale],
    ["Time zone", zone === undefined ? undefined : `UTC${zone < 0 ? "−" : "+"}${Math.abs(zone) / 60}`],
    ["Screen", client?.screen],
    ["Came from", client?.referrer],
  ];
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-0.5 pr-4 pb-1.5 pl-10 text-xs">
      {facts
        .filter(([, value]) => value !== undefined && value !== "")
        .map(([name, value]) => (
          <div key={name} className="flex gap-1.5">
            <dt className="text-faint">{name}</dt>
            <dd className="[overflow-wrap:anywhere] text-soft">
              <Id id={value ?? ""} />
            </dd>
          </div>
        ))}
    </dl>
  );
}

type EventsProps = Pick<Props, "group" | "whose" | "chosen"> & { onRead: Props["onRead"] };

function SessionEvents({ group, whose, chosen, onRead }: EventsProps) {
  const histories = useHistories();
  const list = useInfiniteQuery(histories.sessionActivities(group.id, whose.key));
  const read = useMemo(() => inOrder((list.data?.pages ?? []).flatMap((page) => page.activities)), [list.data]);
  useEffect(() => onRead?.(group.id, read), [onRead, group.id, read]);
  if (list.isPending)
    return <div role="status" aria-label="Loading events" className="mx-4 h-16 animate-pulse rounded bg-sunken" />;
  const { first, later } = rowsOf(read, group.own, list.hasNextPage || list.isError);
  const left = Math.max(0, (group.session?.activities ?? 0) - first.length - later.length);
  return (
    <>
      <Rows rows={first} whose={whose} chosen={chosen} />
      {list.isError && (
        <p role="alert" className="px-10 py-1 text-soft">
          The session's other events could not be loaded: {wordsOf(list.error)}
        </p>
      )}
      {(list.hasNextPage || list.isError) && (
        <div className="flex items-center gap-3 px-10 py-1.5">
          <Button
            className="no-print"
            disabled={list.isFetching}
            onClick={() => void (list.isError ? list.refetch() : list.fetchNextPage())}
          >
            {list.isError ? "Try again" : "Show more"}
          </Button>
          {left > 0 && <span className="text-xs text-faint">{countWords(left, "event")} of the session not shown</span>}
        </div>
      )}
      {later.length > 0 && <Rows rows={later} whose={whose} chosen={chosen} />}
    </>
  );
}
