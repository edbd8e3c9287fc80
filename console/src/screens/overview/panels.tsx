import { useQuery } from "@tanstack/react-query";
import type { overviewQueriesOf } from "../../data/overview-queries.ts";
import { Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { ChartPanel } from "./ChartPanel.tsx";
import { ColumnChart } from "./ColumnChart.tsx";
import { RowChart } from "./RowChart.tsx";
import { rulesChart, trafficChart } from "./figures.ts";

type View = {
  isTable: boolean;
  onTable: (isTable: boolean) => void;
  queries: ReturnType<typeof overviewQueriesOf>;
  className: string;
};

const waiting = <div role="status" aria-label="Loading" className="h-32 animate-pulse rounded bg-sunken" />;

export function TrafficPanel({ startDate, queries, ...view }: View & { startDate: string }) {
  const read = useQuery(queries.traffic(startDate));
  const chart = read.data ? trafficChart(read.data) : null;
  return (
    <ChartPanel {...view} title={chart?.title ?? "Site events per day"} chart={chart}>
      {read.isPending && waiting}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {chart && <ColumnChart key={chart.rows.length} chart={chart} height="h-28" />}
    </ChartPanel>
  );
}

export function RulesPanel({ queries, ...view }: View) {
  const { may } = useWorkspace();
  const isAllowed = may("read:rules");
  const read = useQuery({ ...queries.rules(), enabled: isAllowed });
  const chart = read.data ? rulesChart(read.data) : null;
  const isEmpty = chart?.rows.length === 0;
  return (
    <ChartPanel
      {...view}
      title="False positives per rule"
      chart={isEmpty ? null : chart}
      hint="The share of false positives among a rule's decided subjects, over all time. A bar opens the closed cases with the rule's label."
    >
      {!isAllowed && <p className="text-soft">Your role does not include the rules.</p>}
      {isAllowed && read.isPending && waiting}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {isEmpty && <p className="text-soft">No case from a rule has been closed as fraud or as a false positive yet.</p>}
      {chart && !isEmpty && <RowChart chart={chart} />}
    </ChartPanel>
  );
}
