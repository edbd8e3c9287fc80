import type { QuarantineCount, QuarantineEntry } from "@casehound/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CircleCheck } from "lucide-react";
import { Button } from "../../parts/Button.tsx";
import { ListFoot } from "../../parts/ListFoot.tsx";
import { Empty, Loading, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { Section } from "../case/Section.tsx";
import { figure } from "./Outcomes.tsx";
import { useDetection, type Reason } from "./queries.ts";
import { keptReasons, reasonNames } from "./reasons.ts";

const daysShown = 14;
const dayMs = 24 * 3_600_000;

// What browsers sent that was not accepted as it was. This distinguishes "nothing happens" from "nothing arrives".
export function NotAccepted() {
  const { reason } = useSearch({ from: "/inside/detection" });
  const navigate = useNavigate();
  const read = useInfiniteQuery(useDetection().quarantine(reason));
  if (read.isPending) return <Loading lines={8} name="Loading what was not accepted" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  const counts = read.data.pages[0]?.counts ?? [];
  if (counts.length === 0)
    return (
      <Empty title="Everything was accepted" icon={<CircleCheck size={20} aria-hidden />}>
        No browser events were rejected in the last {daysShown} days.
      </Empty>
    );
  const entries = read.data.pages.flatMap((page) => page.quarantine);
  const onReason = (next: Reason | undefined) =>
    void navigate({ to: "/detection", search: { tab: "not-accepted", ...(next && { reason: next }) }, replace: true });
  return (
    <div className="mx-auto grid max-w-[88rem] gap-4 p-5">
      <Counts counts={counts} reason={reason} onReason={onReason} />
      <Entries entries={entries} reason={reason} onReason={onReason} />
      <ListFoot list={read} what="The remaining entries" more="Show more" />
    </div>
  );
}

type CountsProps = { counts: QuarantineCount[]; reason: Reason | undefined; onReason: (next: Reason | undefined) => void };

function Counts({ counts, reason, onReason }: CountsProps) {
  const today = Date.parse(new Date().toISOString().slice(0, 10));
  const days = Array.from({ length: daysShown }, (_, index) =>
    new Date(today - (daysShown - 1 - index) * dayMs).toISOString().slice(0, 10),
  );
  const byReason = [...Map.groupBy(counts, (each) => each.reason)]
    .map(([name, of]) => ({
      name,
      total: of.reduce((sum, each) => sum + each.count, 0),
      on: new Map(of.map((each) => [each.day, each.count])),
    }))
    .toSorted((a, b) => b.total - a.total);
  return (
    <Section title={`Not accepted in the last ${daysShown} days`} aside={<span className="text-xs text-faint">days in UTC</span>}>
      <div className="overflow-x-auto" role="region" aria-label="Counts by reason and day" tabIndex={0}>
        <table className="w-full text-left">
          <thead>
            <tr className="text-xs text-faint">
              <th scope="col" className="pr-3 pb-1.5 font-medium">
                Why
              </th>
              {days.map((day) => (
                <th key={day} scope="col" className="pb-1.5 pl-2 text-right font-medium whitespace-nowrap" title={day}>
                  {Number(day.slice(8))}.
                </th>
              ))}
              <th scope="col" className="pb-1.5 pl-4 text-right font-medium">
                Total
              </th>
            </tr>
          </thead>
          <tbody>
            {byReason.map(({ name, total, on }) => (
              <tr key={name} className={`border-t border-line ${name === reason ? "bg-chosen" : ""}`}>
                <th scope="row" className="py-1.5 pr-3 font-normal">
                  <button
                    type="button"
                    aria-pressed={name === reason}
                    className="text-left font-medium hover:text-accent hover:underline"
                    onClick={() => onReason(name === reason ? undefined : name)}
                  >
                    {reasonNames[name]}
                  </button>
                  {keptReasons.has(name) && <span className="block text-xs text-soft">accepted anyway, and marked</span>}
                </th>
                {days.map((day) => (
                  <td key={day} className={`py-1.5 pl-2 text-right ${on.has(day) ? "" : "text-faint"}`}>
                    {figure.format(on.get(day) ?? 0)}
                  </td>
                ))}
                <td className="py-1.5 pl-4 text-right font-semibold">{figure.format(total)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

type EntriesProps = { entries: QuarantineEntry[]; reason: Reason | undefined; onReason: CountsProps["onReason"] };

function Entries({ entries, reason, onReason }: EntriesProps) {
  const aside = reason && (
    <Button look="quiet" onClick={() => onReason(undefined)}>
      Only: {reasonNames[reason]}. Show all
    </Button>
  );
  return (
    <Section title="Latest" aside={aside}>
      {entries.length === 0 && <p className="text-soft">Events rejected for this reason are counted but not stored.</p>}
      <ul className="grid gap-3">
        {entries.map((entry, index) => (
          <li key={entry.quarantine_id} className={index > 0 ? "border-t border-line pt-3" : ""}>
            <p className="mb-1 flex flex-wrap gap-x-3">
              <span className="text-soft">
                <Age at={entry.received_at} suffix=" ago" />
              </span>
              <span className="[overflow-wrap:anywhere]">{entry.detail}</span>
            </p>
            <code className="block rounded bg-sunken px-2.5 py-1.5 font-mono text-xs [overflow-wrap:anywhere]">
              {entry.excerpt}
            </code>
          </li>
        ))}
      </ul>
    </Section>
  );
}
