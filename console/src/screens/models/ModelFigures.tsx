import type { Model, ModelComparison } from "@casehound/client";
import { ColumnNames } from "../../parts/ColumnNames.tsx";
import { figure } from "../detection/Outcomes.tsx";

type Measured = ModelComparison["model"];
type Row = {
  name: string;
  title: string;
  of: (measured: Measured) => number | null;
  words: (value: number) => string;
  change?: (value: number) => string;
  isGood: boolean;
};

const thousandths = new Intl.NumberFormat(undefined, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
const cases = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
const shareWords = (value: number) => thousandths.format(value);
const percentWords = (value: number) => percent.format(value);
const caseWords = (value: number) => cases.format(value);
const points = (value: number) => `${cases.format(100 * value)} pts`;
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

const rows: Row[] = [
  {
    name: "AUC",
    title: "The probability that a fraud scores higher than an honest activity",
    of: ({ auc }) => auc,
    words: shareWords,
    isGood: true,
  },
  {
    name: "Average precision",
    title: "The precision at the rank of each fraud, averaged",
    of: ({ average_precision: found }) => found,
    words: shareWords,
    isGood: true,
  },
  {
    name: "Frauds found (recall)",
    title: "The share of all frauds that get an alert, with the same number of alerts a day for both",
    of: ({ recall }) => recall,
    words: percentWords,
    change: points,
    isGood: true,
  },
  {
    name: "Alerts that are fraud (precision)",
    title: "The share of the alerts that are frauds, with the same number of alerts a day for both",
    of: ({ precision }) => precision,
    words: percentWords,
    change: points,
    isGood: true,
  },
  {
    name: "Cases a day",
    title: "How many accounts a day reach score 3",
    of: ({ cases_per_day: found }) => found,
    words: caseWords,
    isGood: false,
  },
];

// Compares the model with what was served when it was measured, on the same activity.
export function ModelFigures({ model: { state, figures } }: { model: Model }) {
  const measured = figures.shadow ?? figures.held_out;
  if (!measured)
    return <p className="text-soft">There are no figures yet, because the held-out days had too few known frauds.</p>;
  const name = state === "CHALLENGER" ? "Challenger" : "Model";
  return (
    <div className="grid grid-cols-1 gap-2">
      <table className="w-full text-left">
        <ColumnNames names={["Figure", name, "Before", "Change"]} figures={[name, "Before", "Change"]} />
        <tbody>
          {rows.map((row) => (
            <FigureRow key={row.name} row={row} measured={measured} />
          ))}
        </tbody>
      </table>
      <p className="text-xs text-faint">
        {figures.shadow ? "On live activity" : "On held-out days"}, {date.format(new Date(measured.from))} to{" "}
        {date.format(new Date(measured.until))}: {figure.format(measured.rows)} activities, {figure.format(measured.frauds)} of
        them frauds. Calibration error{" "}
        {measured.calibration_error === null ? "not known" : shareWords(measured.calibration_error)}.
      </p>
      <Days days={measured.days} name={name} />
    </div>
  );
}

function FigureRow({ row, measured }: { row: Row; measured: ModelComparison }) {
  const [now, then] = [row.of(measured.model), row.of(measured.before)];
  const { change: words = row.words } = row;
  const change = now === null || then === null ? null : now - then;
  const look = !row.isGood || !change ? "text-soft" : change > 0 ? "text-good" : "text-bad";
  return (
    <tr className="border-t border-line">
      <th scope="row" className="py-1 pr-4 font-normal" title={row.title}>
        {row.name}
      </th>
      <td className="py-1 pr-4 text-right font-semibold">{wordsOrNone(now, row.words)}</td>
      <td className="py-1 pr-4 text-right text-soft">{wordsOrNone(then, row.words)}</td>
      <td className={`py-1 pr-4 text-right whitespace-nowrap ${look}`}>
        {change === null ? "–" : `${change > 0 ? "+" : change < 0 ? "−" : ""}${words(Math.abs(change))}`}
      </td>
    </tr>
  );
}

function wordsOrNone(value: number | null, words: Row["words"]): string {
  return value === null ? "–" : words(value);
}

function Days({ days, name }: { days: ModelComparison["days"]; name: string }) {
  if (days.length === 0) return null;
  const columns = ["Day (UTC)", "Activities", "Frauds", `${name}: AP`, "Before: AP", `${name}: found`, "Before: found"];
  return (
    <details className="text-xs">
      <summary className="w-fit text-soft hover:text-ink">By day</summary>
      <div className="mt-1 overflow-x-auto">
        <table className="w-full text-left">
          <ColumnNames names={columns} figures={columns.slice(1)} />
          <tbody>
            {days.toReversed().map((day) => (
              <tr key={day.day} className="border-t border-line [&_td]:py-0.5 [&_td]:pr-4 [&_td]:text-right">
                <th scope="row" className="py-0.5 pr-4 font-normal whitespace-nowrap">
                  {day.day}
                </th>
                <td>{figure.format(day.rows)}</td>
                <td>{figure.format(day.frauds)}</td>
                <td>{wordsOrNone(day.average_precision, shareWords)}</td>
                <td>{wordsOrNone(day.average_precision_before, shareWords)}</td>
                <td>{figure.format(day.found)}</td>
                <td>{figure.format(day.found_before)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
