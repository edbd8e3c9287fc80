import type { Backtest, BacktestResult } from "@casehound/client";
import { nameOfActor } from "../../parts/Actor.tsx";
import { ColumnNames } from "../../parts/ColumnNames.tsx";
import { Score } from "../../parts/Score.tsx";
import { Age } from "../../parts/Time.tsx";
import { DayBars } from "./DayBars.tsx";
import { Hit, OverlapTable } from "./Found.tsx";
import { Figure, Outcomes, figure, precisionWords, shareWords } from "./Outcomes.tsx";

type Props = { backtest: Backtest; result: BacktestResult; ruleId: string };

export function TryResult({ backtest, result, ruleId }: Props) {
  const { hits, decisions, accounts, caught_already: caught, precision } = result;
  const fresh = caught === null ? 0 : Math.round(hits * (1 - caught));
  const perDay = (hits / Math.max(1, result.hits_per_day.length)).toFixed(1);
  return (
    <div className="grid gap-5">
      <p role="status" className="text-soft">
        Run on {figure.format(decisions)} decisions of the last {backtest.days} days,{" "}
        <Age at={backtest.created_at} suffix=" ago" /> by {nameOfActor(backtest.created_by)}.
      </p>
      <dl className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-x-6 gap-y-3">
        <Figure name="Hits" value={figure.format(hits)} note={`${perDay} a day`} />
        <Figure name="Accounts" value={figure.format(accounts)} note="hit at least once" />
        <Figure
          name="New hits"
          value={figure.format(fresh)}
          note={
            caught === null
              ? "no hits"
              : `scored below 3 at the time, so opened no case; the other ${shareWords(caught)} scored 3 or higher`
          }
        />
        <Figure name="Precision" value={precisionWords(precision)} note="by the outcomes of their cases" />
      </dl>
      {hits === 0 ? (
        <p className="text-soft">It would have hit nothing.</p>
      ) : (
        <>
          <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)] gap-6 max-[70rem]:grid-cols-1">
            <DayBars days={result.hits_per_day.map(({ day, hits: on }) => ({ day, hits: on, shadow: 0 }))} />
            <div className="grid content-start gap-4">
              <Outcomes of={precision} />
              <OverlapTable
                title="Rules that hit the same activity"
                unit="Hits"
                of={hits}
                own={ruleId}
                rows={result.overlap.map(({ rule_id, hits: count }) => ({ rule_id, count }))}
              />
            </div>
          </div>
          <Examples examples={result.examples} />
        </>
      )}
    </div>
  );
}

function Examples({ examples }: { examples: BacktestResult["examples"] }) {
  if (examples.length === 0) return null;
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-left">
        <caption className="pb-1 text-left text-xs font-semibold text-soft">Examples: the latest hit of each subject</caption>
        <ColumnNames names={["Who", "Activity", "Score then", "Values read", "When"]} />
        <tbody>
          {examples.map((each) => (
            <tr key={each.activity_id} className="border-t border-line align-top">
              <td className="max-w-48 min-w-28 py-1.5 pr-4 [overflow-wrap:anywhere]">
                <Hit account={each.website_account_id} otherwise="No account" />
              </td>
              <td className="py-1.5 pr-4 break-words">{each.type}</td>
              <td className="py-1.5 pr-4">
                <Score score={each.score} />
              </td>
              <td className="min-w-48 py-1.5 pr-4 text-soft [overflow-wrap:anywhere]">
                {each.values.map(({ plain_name: name, value }) => `${name}: ${String(value)}`).join(" · ")}
              </td>
              <td className="py-1.5 whitespace-nowrap text-soft">
                <Age at={each.occurred_at} suffix=" ago" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
