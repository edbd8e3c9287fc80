import type { Snooze } from "@casehound/client";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BellOff } from "lucide-react";
import { useState } from "react";
import { Actor } from "../../parts/Actor.tsx";
import { Button } from "../../parts/Button.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { Empty, Loading, Trouble } from "../../parts/States.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { Moment } from "../../parts/Time.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { endingWords, subjectWords } from "./words.ts";

const page = 100;
const staleMs = 10_000;

// Lists which rules are quiet, until when, and how many activities that kept from the queue.
export function QuietTab() {
  const { client, may } = useWorkspace();
  const [ending, setEnding] = useState<Snooze | null>(null);
  const list = useInfiniteQuery({
    queryKey: ["snoozes"],
    queryFn: ({ pageParam, signal }) =>
      client.call("listSnoozes", { query: { limit: page, ...(pageParam && { cursor: pageParam }) }, signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    staleTime: staleMs,
  });
  const snoozes = list.data?.pages.flatMap((each) => each.snoozes) ?? [];
  const aside = <GuideLink page="snooze" about="quiet rules" />;
  return (
    <div className="mx-auto max-w-[88rem] p-5">
      <Section title="Quiet after a false positive" aside={aside} isFlush={snoozes.length > 0}>
        {list.isPending && <Loading lines={4} name="Loading the quiet rules" />}
        {list.isLoadingError && <Trouble error={list.error} onRetry={() => void list.refetch()} />}
        {list.isSuccess && snoozes.length === 0 && (
          <Empty title="No rule is quiet" icon={<BellOff size={20} aria-hidden />}>
            When you close a case as a false positive, you can make its rules quiet about the same account for some days.
          </Empty>
        )}
        {snoozes.length > 0 && <QuietTable snoozes={snoozes} onEnd={may("update:case") ? setEnding : undefined} />}
        <ListFoot list={list} what="The quiet rules" more="Show more" />
      </Section>
      {ending && <EndDialog snooze={ending} onClose={() => setEnding(null)} />}
    </div>
  );
}

type TableProps = { snoozes: Snooze[]; onEnd: ((snooze: Snooze) => void) | undefined };

function QuietTable({ snoozes, onEnd }: TableProps) {
  return (
    <div className="relative overflow-x-auto">
      <table className="w-full text-left text-sm">
        <caption className="sr-only">Quiet rules, newest first</caption>
        <thead className="border-b border-line text-xs text-faint">
          <tr>
            <th className="py-2 pr-3 pl-4 font-medium">About</th>
            <th className="py-2 pr-3 font-medium whitespace-nowrap">Quiet rules</th>
            <th className="py-2 pr-3 font-medium">Until</th>
            <th className="py-2 pr-3 text-right font-medium">Hits</th>
            <th className="py-2 pr-3 text-right font-medium whitespace-nowrap">Kept from the queue</th>
            <th className="py-2 pr-3 pl-4 font-medium">Closed by</th>
            <th className="py-2 pr-4">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {snoozes.map((snooze) => (
            <Row key={snooze.snooze_id} snooze={snooze} onEnd={onEnd} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ snooze, onEnd }: { snooze: Snooze; onEnd: TableProps["onEnd"] }) {
  const { case_id, rules, until, hits, kept, last_kept_at, is_active, created_by, ended_at } = snooze;
  return (
    <tr className={`border-b border-line align-top last:border-0 ${is_active ? "" : "text-soft"}`}>
      <td className="max-w-64 min-w-40 py-2 pr-3 pl-4 [overflow-wrap:anywhere]">{subjectWords(snooze)}</td>
      <td className="max-w-56 min-w-36 py-2 pr-3 font-mono text-xs [overflow-wrap:anywhere]">{rules.join(", ")}</td>
      <td className="py-2 pr-3 whitespace-nowrap">
        <Moment at={ended_at ?? until} />
        {!is_active && <span className="block text-xs text-faint">{endingWords(snooze)}</span>}
      </td>
      <td className="py-2 pr-3 text-right">{hits.toLocaleString()}</td>
      <td className="py-2 pr-3 text-right">
        {kept.toLocaleString()}
        {last_kept_at !== undefined && (
          <span className="block text-xs whitespace-nowrap text-faint">
            last <Moment at={last_kept_at} />
          </span>
        )}
      </td>
      <td className="max-w-56 py-2 pr-3 pl-4">
        <Actor actor={created_by} />
        <Link to="/cases/$caseId" params={{ caseId: case_id }} className="block text-xs text-accent underline">
          View the case
        </Link>
      </td>
      <td className="py-2 pr-4 text-right">
        {is_active && onEnd && (
          <Button onClick={() => onEnd(snooze)}>
            End now<span className="sr-only">: {subjectWords(snooze)}</span>
          </Button>
        )}
      </td>
    </tr>
  );
}

function EndDialog({ snooze, onClose }: { snooze: Snooze; onClose: () => void }) {
  const { client, desk } = useWorkspace();
  const cache = useQueryClient();
  const params = { snooze_id: snooze.snooze_id };
  const run = async () => {
    await desk.outbox.deliver("Ending a quiet period", () => client.call("endSnooze", { params }));
    await cache.invalidateQueries({ queryKey: ["snoozes"] });
    onClose();
    toast({ kind: "done", words: "The rules count again." });
  };
  return (
    <SureDialog title="End the quiet period?" act="End now" onClose={onClose} run={run}>
      <p>{subjectWords(snooze)}: the rules will count again. Activity that was kept from the queue so far stays out of it.</p>
    </SureDialog>
  );
}
