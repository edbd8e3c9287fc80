import { Link } from "@tanstack/react-router";
import { ChartColumn, Table2 } from "lucide-react";
import { useId, type ReactNode } from "react";
import { Button } from "../../parts/Button.tsx";
import type { Chart } from "./chart.ts";

type Props = {
  title: string;
  isTable: boolean;
  onTable: (isTable: boolean) => void;
  // Null if there is nothing to draw. Then `children` say why.
  chart: Chart | null;
  hint?: string;
  className?: string;
  children: ReactNode;
};

// A chart, or a table of the same numbers.
export function ChartPanel({ title, isTable, onTable, chart, hint, className = "", children }: Props) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={`flex min-w-0 flex-col rounded-lg border border-line bg-surface ${className}`}>
      <header className="flex min-h-11 items-center justify-between gap-3 border-b border-line py-1.5 pr-2 pl-4">
        <h2 id={id} className="text-base font-semibold">
          {title}
        </h2>
        {chart !== null && (
          <Button look="quiet" className="no-print h-7 px-2 text-xs" onClick={() => onTable(!isTable)}>
            {isTable ? <ChartColumn size={14} aria-hidden /> : <Table2 size={14} aria-hidden />}
            {isTable ? "As a chart" : "As a table"}
          </Button>
        )}
      </header>
      <div className="flex-1 p-4">{chart !== null && isTable ? <ChartTable chart={chart} name={title} /> : children}</div>
      {hint !== undefined && <p className="border-t border-line px-4 py-2 text-xs text-faint">{hint}</p>}
    </section>
  );
}

function ChartTable({ chart, name }: { chart: Chart; name: string }) {
  const { rowTitle, series, noteTitle } = chart;
  const rows = chart.isOverTime ? chart.rows.toReversed() : chart.rows;
  const right = "py-1 pl-4 text-right font-medium";
  return (
    <div className="max-h-80 overflow-y-auto" tabIndex={0} role="region" aria-label={`${name}, as a table`}>
      <table className="w-full border-collapse text-sm">
        <thead className="sticky top-0 bg-surface text-xs text-faint">
          <tr>
            <th scope="col" className="py-1 text-left font-medium">
              {rowTitle}
            </th>
            {series.map((each) => (
              <th key={each.name} scope="col" className={right}>
                {each.name}
              </th>
            ))}
            {noteTitle !== undefined && (
              <th scope="col" className={right}>
                {noteTitle}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} className="border-t border-line">
              <th scope="row" className="py-1 text-left font-normal [overflow-wrap:anywhere]">
                {row.name}
              </th>
              {row.cells.map((cell) => (
                <td key={cell.words} className={right}>
                  <Link to="/" search={cell.leadsTo} className="text-accent hover:underline" aria-label={cell.words}>
                    {cell.shown}
                  </Link>
                </td>
              ))}
              {noteTitle !== undefined && <td className={`${right} text-soft`}>{row.note}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
