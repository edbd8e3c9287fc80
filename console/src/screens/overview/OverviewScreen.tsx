import type { Overview } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, type ReactNode } from "react";
import { NotAvailable } from "../../parts/NotAvailable.tsx";
import { Loading, Stale, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { overviewQueriesOf } from "../../data/overview-queries.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import type { QueueFilter } from "../queue/search.ts";
import { ChartPanel } from "./ChartPanel.tsx";
import { ColumnChart } from "./ColumnChart.tsx";
import { RowChart } from "./RowChart.tsx";
import { RulesPanel, TrafficPanel } from "./panels.tsx";
import { count, percent } from "./chart.ts";
import {
  backlogChart,
  closedIn,
  daysChart,
  durationWords,
  openedIn,
  outcomesChart,
  scoresChart,
  toAllClosed,
} from "./figures.ts";
import { rangeDefault, ranges, tablesOf, type ChartId } from "./search.ts";

export function OverviewScreen() {
  const { may } = useWorkspace();
  const search = useSearch({ from: "/inside/overview" });
  const days = search.days ?? rangeDefault;
  return (
    <div className="on-paper h-full overflow-y-auto" tabIndex={-1}>
      <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-1.5 max-sm:px-3">
        <div className="mx-auto flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 max-w-[85.5rem]">
          <h1 className="text-lg font-semibold">Overview</h1>
          <nav aria-label="Range" className="no-print ml-auto flex rounded-md border border-line bg-sunken p-0.5">
            {ranges.map((range) => (
              <Link
                key={range}
                to="/overview"
                search={({ days: _days, ...rest }) => ({ ...rest, ...(range !== rangeDefault && { days: range }) })}
                aria-current={days === range ? "true" : undefined}
                activeOptions={{ exact: true }}
                className={`grid h-7 place-items-center rounded px-3 text-xs whitespace-nowrap max-sm:px-2 font-medium ${days === range ? "bg-raised text-ink shadow-sm" : "text-soft hover:text-ink"}`}
              >
                {range} days
              </Link>
            ))}
          </nav>
        </div>
      </header>
      {may("read:metrics") ? <Figures days={days} /> : <NotAvailable what="The overview" />}
    </div>
  );
}

function Figures({ days }: { days: number }) {
  const { client } = useWorkspace();
  const queries = useMemo(() => overviewQueriesOf(client), [client]);
  const read = useQuery({ ...queries.overview(days), placeholderData: (before) => before });
  if (read.isPending) return <Loading lines={12} name="Loading the figures" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <Panels found={read.data} queries={queries} />
    </>
  );
}

function useTables(): { isTable: (id: ChartId) => boolean; put: (id: ChartId) => (isTable: boolean) => void } {
  const search = useSearch({ from: "/inside/overview" });
  const navigate = useNavigate({ from: "/overview" });
  const shown = tablesOf(search);
  const put = (id: ChartId) => (isTable: boolean) => {
    const next = isTable ? [...shown, id] : shown.filter((each) => each !== id);
    const { tables: _tables, ...rest } = search;
    void navigate({ search: { ...rest, ...(next.length > 0 && { tables: next.join(",") }) }, replace: true });
  };
  return { isTable: (id) => shown.includes(id), put };
}

function Panels({ found, queries }: { found: Overview; queries: ReturnType<typeof overviewQueriesOf> }) {
  const { isTable, put } = useTables();
  const perDay = daysChart(found);
  const backlog = backlogChart(found);
  const scores = scoresChart(found);
  const outcomes = outcomesChart(found);
  const view = (id: ChartId) => ({ isTable: isTable(id), onTable: put(id) });
  return (
    <div className="mx-auto grid max-w-[88rem] grid-cols-1 gap-4 p-5 max-sm:p-3">
      <Tiles found={found} />
      <div className="grid grid-cols-12 gap-4">
        <ChartPanel {...view("days")} title={perDay.title} chart={perDay} className="col-span-8 max-[70rem]:col-span-12">
          <ColumnChart key={found.days.length} chart={perDay} />
        </ChartPanel>
        <ChartPanel
          {...view("scores")}
          title={scores.title}
          chart={scores}
          className="col-span-4 max-[70rem]:col-span-6 max-md:col-span-12"
        >
          <RowChart chart={scores} looks={scores.looks} />
        </ChartPanel>
        <ChartPanel
          {...view("backlog")}
          title={backlog.title}
          chart={backlog}
          className="col-span-4 max-[70rem]:col-span-6 max-md:col-span-12"
        >
          <RowChart chart={backlog} />
        </ChartPanel>
        <ChartPanel {...view("outcomes")} title={outcomes.title} chart={outcomes} className="col-span-4 max-[70rem]:col-span-12">
          <RowChart chart={outcomes} />
        </ChartPanel>
        <TrafficPanel
          {...view("traffic")}
          startDate={found.start_date}
          queries={queries}
          className="col-span-4 max-[70rem]:col-span-12"
        />
        <RulesPanel {...view("rules")} queries={queries} className="col-span-12" />
      </div>
      <p className="text-xs text-faint">
        Days are in UTC.{" "}
        {found.last_activity_at === null ? (
          "No events received yet. Is the site connected?"
        ) : (
          <>
            The last event arrived <Age at={found.last_activity_at} suffix=" ago" />.
          </>
        )}
      </p>
    </div>
  );
}

function Tiles({ found }: { found: Overview }) {
  const { opened, closed, open_cases, outcomes, median_seconds_to_close: median, start_date, end_date } = found;
  const range = { from: start_date, to: end_date };
  const decided = outcomes.confirmed + outcomes.false_positives;
  const oldest = found.backlog.slice(3).reduce((sum, { cases }) => sum + cases, 0);
  return (
    <div className="grid grid-cols-5 gap-4 max-[70rem]:gap-3 max-md:grid-cols-2">
      <Tile name="Open now" value={count.format(open_cases)} leadsTo={{}}>
        {oldest === 0 ? "none older than 3 days" : `${count.format(oldest)} older than 3 days`}
      </Tile>
      <Tile name="Opened" value={count.format(opened)} leadsTo={openedIn(range)}>
        in {found.days.length} days
      </Tile>
      <Tile name="Closed" value={count.format(closed)} leadsTo={closedIn(range)}>
        {found.reopened === 0 ? "none reopened" : `${count.format(found.reopened)} reopened`}
      </Tile>
      <Tile name="Median time to close" value={durationWords(median)} leadsTo={closedIn(range)}>
        after opening
      </Tile>
      <Tile
        name="False positives"
        value={decided === 0 ? "none yet" : percent.format(outcomes.false_positives / decided)}
        leadsTo={closedIn(range)}
        hint={toAllClosed}
      >
        {decided === 0 ? "nothing decided" : `${count.format(outcomes.false_positives)} of ${count.format(decided)} decided`}
      </Tile>
    </div>
  );
}

type TileProps = { name: string; value: string; leadsTo: QueueFilter; hint?: string; children: ReactNode };

function Tile({ name, value, leadsTo, hint, children }: TileProps) {
  return (
    <Link to="/" search={leadsTo} title={hint} className="rounded-lg border border-line bg-surface px-4 py-3 hover:border-edge">
      <span className="block text-xs text-soft">{name}</span>
      <span className="block text-xl font-semibold">{value}</span>
      <span className="block text-xs text-faint">{children}</span>
    </Link>
  );
}
