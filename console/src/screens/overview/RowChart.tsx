import { Link } from "@tanstack/react-router";
import type { Chart } from "./chart.ts";

// Horizontal bars: a name, a bar and a number. The whole row is the link.
export function RowChart({ chart, looks }: { chart: Chart; looks?: string[] }) {
  const { rows, series } = chart;
  const highest = chart.highest ?? Math.max(1, ...rows.map((row) => row.cells[0]?.value ?? 0));
  const hasNotes = chart.noteTitle !== undefined;
  const columns = hasNotes
    ? "grid-cols-[minmax(0,8.5rem)_minmax(0,1fr)_2.75rem_3rem] @2xl:grid-cols-[minmax(0,24rem)_minmax(0,1fr)_3.25rem_4rem]"
    : "grid-cols-[minmax(0,8.5rem)_minmax(0,1fr)_3.25rem]";
  return (
    <ul className="@container grid gap-0.5">
      {rows.map(({ key, name, note, cells: [cell] }, index) => (
        <li key={key}>
          {cell && (
            <Link
              to="/"
              search={cell.leadsTo}
              title={cell.words}
              className={`grid min-h-7 ${columns} -mx-2 items-center gap-x-3 rounded px-2 hover:bg-hover`}
            >
              <span className="truncate">{name}</span>
              <span className="h-3.5 rounded-sm bg-sunken">
                <span
                  className={`block h-full rounded-sm ${looks?.[index] ?? series[0]?.look ?? ""} ${cell.value > 0 ? "min-w-0.5" : ""}`}
                  style={{ width: `${(cell.value / highest) * 100}%` }}
                />
              </span>
              <span className="text-right font-medium">{cell.shown}</span>
              {hasNotes && <span className="text-right text-xs text-soft">{note}</span>}
            </Link>
          )}
        </li>
      ))}
    </ul>
  );
}
