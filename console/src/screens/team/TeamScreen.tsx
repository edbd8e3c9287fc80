import type { JudgedPrecision, MoneyFigures, PersonDay, PersonFigures } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { Actor } from "../../parts/Actor.tsx";
import { NotAvailable } from "../../parts/NotAvailable.tsx";
import { visible } from "../../parts/visible.ts";
import { useWorkspace } from "../../session/workspace.tsx";
import { useRuleNames } from "../../timeline/histories.ts";
import { count, percent } from "../overview/chart.ts";
import { durationWords } from "../overview/figures.ts";
import { FigureTable, Panel, cellLook, nameLook } from "./Panel.tsx";
import { periodOf, teamQueriesOf, type Period, type TeamQueries } from "./queries.ts";
import { rangeDefault, ranges } from "./search.ts";

export function TeamScreen() {
  const { may, client } = useWorkspace();
  const { days = rangeDefault } = useSearch({ from: "/inside/team" });
  const queries = useMemo(() => teamQueriesOf(client), [client]);
  const period = useMemo(() => periodOf(days), [days]);
  return (
    <div className="on-paper h-full overflow-y-auto" tabIndex={-1}>
      <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-1.5 max-sm:px-3">
        <div className="mx-auto flex min-h-9 flex-wrap items-center gap-x-4 gap-y-1 max-w-[85.5rem]">
          <h1 className="text-lg font-semibold">Team</h1>
          <nav aria-label="Range" className="no-print ml-auto flex rounded-md border border-line bg-sunken p-0.5">
            {ranges.map((range) => (
              <Link
                key={range}
                to="/team"
                search={range === rangeDefault ? {} : { days: range }}
                aria-current={days === range ? "true" : undefined}
                activeOptions={{ exact: true }}
                className={`grid h-7 place-items-center rounded px-3 text-xs font-medium ${days === range ? "bg-raised text-ink shadow-sm" : "text-soft hover:text-ink"}`}
              >
                {range} days
              </Link>
            ))}
          </nav>
        </div>
      </header>
      {may("read:figures") ? <Panels queries={queries} period={period} /> : <NotAvailable what="The team's figures" />}
    </div>
  );
}

type PanelsProps = { queries: TeamQueries; period: Period };

function Panels({ queries, period }: PanelsProps) {
  const people = useQuery(queries.people(period));
  const days = useQuery(queries.days(period));
  const precision = useQuery(queries.precision(period));
  const money = useQuery(queries.money(period));
  const nothing = "No cases were closed in this period.";
  const emptyOf = ({ data }: { data: unknown[] | undefined }, words = nothing) => (data?.length === 0 ? words : null);
  return (
    <div className="mx-auto grid max-w-[88rem] gap-4 p-5 max-sm:p-3">
      <Panel
        title="Closed by person"
        list="listPersonFigures"
        read={people}
        empty={emptyOf(people)}
        period={period}
        hint="Cases that are closed now, counted by their last close. Overturned: somebody reopened the case at least 10 minutes later."
      >
        {people.data && <PeopleTable people={people.data} days={days.data ?? []} period={period} />}
      </Panel>
      <div className="grid grid-cols-2 gap-4 max-[70rem]:grid-cols-1">
        <Panel
          title="Precision of rules and models"
          list="listPrecision"
          read={precision}
          empty={emptyOf(precision, "No case with an outcome was closed in this period.")}
          period={period}
          hint="Confirmed frauds among confirmed frauds and false positives. A case counts for every rule and model in its evidence."
        >
          {precision.data && <PrecisionTable found={precision.data} />}
        </Panel>
        <Panel
          title="Money in confirmed cases"
          list="listMoney"
          read={money}
          empty={emptyOf(money, "No payment is evidence in a case that was confirmed as fraud in this period.")}
          period={period}
          hint="Payments and transfers in the evidence, without declined ones."
        >
          {money.data && <MoneyTable found={money.data} period={period} />}
        </Panel>
      </div>
      <Panel title="Closed by person and day" list="listPersonDays" read={days} empty={emptyOf(days)} period={period}>
        {days.data && <DaysTable days={days.data} />}
      </Panel>
      <p className="text-xs text-faint">Days are in UTC.</p>
    </div>
  );
}

const number = { isNumber: true };
const outcomeColumns = [
  "Closed",
  "Confirmed fraud",
  "False positive",
  "Inconclusive",
  "No outcome",
  "Median time",
  "90 % within",
];
const outcomeCells = (each: PersonFigures | PersonDay): [string, string][] => [
  ["closed", count.format(each.closed)],
  ["confirmed", count.format(each.confirmed)],
  ["false", count.format(each.false_positives)],
  ["inconclusive", count.format(each.inconclusive)],
  ["none", count.format(each.none)],
  ["median", each.closed === 0 ? "" : durationWords(each.median_seconds)],
  ["p90", each.closed === 0 ? "" : durationWords(each.p90_seconds)],
];

function PeopleTable({ people, days, period }: { people: PersonFigures[]; days: PersonDay[]; period: Period }) {
  const columns = [
    { name: "Person" },
    { name: "By day", look: "max-sm:hidden" },
    ...outcomeColumns.map((name) => ({ name, ...number })),
    { name: "Overturned", ...number },
  ];
  return (
    <FigureTable name="Closed by person" columns={columns}>
      {people
        .toSorted((a, b) => b.closed - a.closed)
        .map((person) => (
          <tr key={person.closed_by} className="border-t border-line">
            <th scope="row" className={nameLook}>
              <Link to="/" search={closedBy(person.closed_by, period)} className="text-accent hover:underline">
                <Actor actor={visible(person.closed_by)} />
              </Link>
            </th>
            <td className="py-1.5 pr-4 max-sm:hidden">
              <Spark days={days.filter(({ closed_by: by }) => by === person.closed_by)} period={period} />
            </td>
            {outcomeCells(person).map(([key, words]) => (
              <td key={key} className={cellLook}>
                {words}
              </td>
            ))}
            <td className={cellLook}>
              {count.format(person.overturned)} ({percent.format(person.overturned_share)})
            </td>
          </tr>
        ))}
    </FigureTable>
  );
}

// The closes by this person that still stand. The queue filters by the last change, which may be a later note.
function closedBy(closer: string, { start_date }: Period) {
  return { status: "closed" as const, closer, sort: "changed" as const, changed_from: start_date };
}

const dayMs = 24 * 3_600_000;
const barWidth = 4;
const barHeight = 20;

// One bar per day. The table below has the numbers.
function Spark({ days, period }: { days: PersonDay[]; period: Period }) {
  const start = Date.parse(period.start_date);
  const length = Math.round((Date.parse(period.end_date) - start) / dayMs);
  const highest = Math.max(1, ...days.map(({ closed }) => closed));
  const most = Math.max(0, ...days.map(({ closed }) => closed));
  const step = length > 40 ? 2 : barWidth;
  return (
    <svg
      role="img"
      aria-label={`${days.length} of ${length} days with closes, at most ${count.format(most)} on one day`}
      width={length * step}
      height={barHeight}
      className="block"
    >
      <rect y={barHeight - 1} width={length * step} height={1} className="fill-line" />
      {days.map(({ day, closed }) => {
        const height = Math.max(2, Math.round((closed / highest) * barHeight));
        const x = Math.round((Date.parse(day) - start) / dayMs) * step;
        return <rect key={day} x={x} y={barHeight - height} width={step - 1} height={height} className="fill-accent" />;
      })}
    </svg>
  );
}

const kindWords = { rule: "Rule", model: "Model", likelihood_ratio: "Log-in habits" };

function PrecisionTable({ found }: { found: JudgedPrecision[] }) {
  const columns = [
    { name: "Rule or model" },
    { name: "Precision", ...number },
    { name: "Confirmed", ...number },
    { name: "False", ...number },
    { name: "Inconclusive", ...number },
  ];
  const nameOf = useRuleNames();
  const sorted = found.toSorted((a, b) => (b.precision ?? -1) - (a.precision ?? -1) || b.confirmed - a.confirmed);
  return (
    <FigureTable name="Precision of rules and models" columns={columns}>
      {sorted.map(({ kind, id, precision, ...counts }) => (
        <tr key={`${kind} ${id}`} className="border-t border-line">
          <th scope="row" className={nameLook}>
            {kind === "likelihood_ratio" ? kindWords[kind] : visible(kind === "rule" ? nameOf(id) : id)}
            {kind === "model" && <span className="ml-2 text-xs text-faint">{kindWords.model}</span>}
          </th>
          <td className={cellLook}>
            <span className="inline-flex items-center gap-2">
              <span className="h-2 w-12 rounded-sm bg-sunken max-sm:hidden" aria-hidden>
                <span className="block h-full rounded-sm bg-accent" style={{ width: `${(precision ?? 0) * 100}%` }} />
              </span>
              <span className="w-10">{precision === null ? "none" : percent.format(precision)}</span>
            </span>
          </td>
          <td className={cellLook}>{count.format(counts.confirmed)}</td>
          <td className={cellLook}>{count.format(counts.false_positives)}</td>
          <td className={cellLook}>{count.format(counts.inconclusive)}</td>
        </tr>
      ))}
    </FigureTable>
  );
}

const amount = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function MoneyTable({ found, period }: { found: MoneyFigures[]; period: Period }) {
  const columns = [
    { name: "Currency" },
    { name: "Amount", ...number },
    { name: "Payments", ...number },
    { name: "Cases", ...number },
  ];
  const confirmed = { status: "closed" as const, outcome: "CONFIRMED_FRAUD" as const, sort: "changed" as const };
  return (
    <FigureTable name="Money in confirmed cases" columns={columns}>
      {found.map((each) => (
        <tr key={each.currency} className="border-t border-line">
          <th scope="row" className={nameLook}>
            {each.currency === "XXX" ? "Not given" : each.currency}
          </th>
          <td className={cellLook}>{amount.format(each.amount)}</td>
          <td className={cellLook}>{count.format(each.payments)}</td>
          <td className={cellLook}>
            <Link to="/" search={{ ...confirmed, changed_from: period.start_date }} className="text-accent hover:underline">
              {count.format(each.cases)}
              <span className="sr-only"> cases in {each.currency}: show confirmed cases</span>
            </Link>
          </td>
        </tr>
      ))}
    </FigureTable>
  );
}

const dayWords = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

function DaysTable({ days }: { days: PersonDay[] }) {
  const columns = [{ name: "Day" }, { name: "Person" }, ...outcomeColumns.map((name) => ({ name, ...number }))];
  return (
    <FigureTable name="Closed by person and day" columns={columns}>
      {days.toReversed().map((each) => (
        <tr key={`${each.day} ${each.closed_by}`} className="border-t border-line">
          <th scope="row" className={`${nameLook} whitespace-nowrap`}>
            {dayWords.format(Date.parse(each.day))}
          </th>
          <td className={nameLook}>
            <Actor actor={visible(each.closed_by)} />
          </td>
          {outcomeCells(each).map(([key, words]) => (
            <td key={key} className={cellLook}>
              {words}
            </td>
          ))}
        </tr>
      ))}
    </FigureTable>
  );
}
