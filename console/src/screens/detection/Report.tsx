import { unknownAccount, type Rule, type RuleReport } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ColumnNames } from "../../parts/ColumnNames.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { Section } from "../case/Section.tsx";
import { DayBars } from "./DayBars.tsx";
import { Hit, OverlapTable } from "./Found.tsx";
import { Figure, Outcomes, figure, precisionWords } from "./Outcomes.tsx";
import { reportDays } from "./address.ts";
import { useDetection } from "./queries.ts";

type Days = (typeof reportDays)[number];

// What the rule actually hit, while on and in shadow.
export function Report({ rule, days, onDays }: { rule: Rule; days: Days; onDays: (days: Days) => void }) {
  const read = useQuery(useDetection().report(rule.rule_id, days));
  const aside = (
    <div role="group" aria-label="Days" className="flex gap-1">
      {reportDays.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === days}
          onClick={() => onDays(each)}
          className={`h-6 rounded px-2 text-xs ${each === days ? "bg-accent-soft font-semibold text-accent" : "text-soft hover:bg-hover"}`}
        >
          {each} days
        </button>
      ))}
    </div>
  );
  return (
    <Section title="What it hit" aside={aside}>
      {read.isPending && <Loading lines={5} name="Loading the report" />}
      {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && <ReportView report={read.data} />}
    </Section>
  );
}

function ReportView({ report }: { report: RuleReport }) {
  const hits = report.hits_per_day.reduce((sum, each) => sum + each.hits, 0);
  const shadowHits = report.hits_per_day.reduce((sum, each) => sum + each.shadow_hits, 0);
  if (hits + shadowHits === 0)
    return <p className="text-soft">No hits in the last {report.days} days, neither on nor in shadow.</p>;
  const days = report.hits_per_day.map(({ day, hits: on, shadow_hits: shadow }) => ({ day, hits: on, shadow }));
  return (
    <div className="grid gap-5">
      <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)] gap-6 max-[70rem]:grid-cols-1">
        <DayBars days={days} names={{ hits: "While on", shadow: "In shadow" }} />
        <div className="grid content-start gap-3">
          <Mode name="While on" hits={hits} subjects={report.subjects} of={report.precision} />
          <Mode name="In shadow" hits={shadowHits} subjects={report.shadow_subjects} of={report.shadow_precision} />
        </div>
      </div>
      <OverlapTable
        title="Rules that hit the same subjects"
        unit="Subjects"
        of={report.subjects + report.shadow_subjects}
        rows={report.overlap.map(({ rule_id, subjects }) => ({ rule_id, count: subjects }))}
      />
      <Examples report={report} />
    </div>
  );
}

function Mode({ name, hits, subjects, of }: { name: string; hits: number; subjects: number; of: RuleReport["precision"] }) {
  if (hits === 0) return null;
  return (
    <div>
      <h3 className="text-xs font-semibold text-soft">{name}</h3>
      <dl className="mt-1 mb-1.5 grid grid-cols-3 gap-4">
        <Figure name="Hits" value={figure.format(hits)} />
        <Figure name="Subjects" value={figure.format(subjects)} />
        <Figure name="Precision" value={precisionWords(of)} />
      </dl>
      <Outcomes of={of} />
    </div>
  );
}

function Examples({ report: { examples } }: { report: RuleReport }) {
  if (examples.length === 0) return null;
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-left">
        <caption className="pb-1 text-left text-xs font-semibold text-soft">Latest hits</caption>
        <ColumnNames names={["Who", "What was seen", "Hits", "Last"]} figures={["Hits"]} />
        <tbody>
          {examples.map((each) => (
            <tr key={`${each.subject} ${each.is_shadow}`} className="border-t border-line align-top">
              <td className="max-w-56 min-w-28 py-1.5 pr-4 [overflow-wrap:anywhere]">
                <Hit account={each.website_account_id} otherwise={each.subject} />
              </td>
              <td className="min-w-48 py-1.5 pr-4 [overflow-wrap:anywhere]">
                {each.sentence} {each.is_shadow && <span className="text-xs text-faint">(in shadow)</span>}
              </td>
              <td className="py-1.5 pr-4 text-right">{figure.format(each.hits)}</td>
              <td className="py-1.5 whitespace-nowrap text-soft">
                <Age at={each.occurred_at} suffix=" ago" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mt-2 text-xs text-faint">
        Names link to accounts. Hits without an account are in the{" "}
        <Link to="/" search={{ account: unknownAccount }} className="text-accent underline">
          cases without an account
        </Link>
        .
      </p>
    </div>
  );
}
