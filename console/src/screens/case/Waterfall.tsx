import { ProblemError, type Decision, type FraudOccurrence } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Alert } from "../../parts/Field.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";

type Part = { name: string; words: string; value: number };

const signed = new Intl.NumberFormat(undefined, {
  signDisplay: "exceptZero",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

// Shows what raised and lowered the score, from the stored decision. Raw activity is kept only for a while. If the decision is
// gone, the summary in the case is used.
export function Waterfall({ occurrence }: { occurrence: FraudOccurrence }) {
  const { queries } = useWorkspace();
  const decision = useQuery({ ...queries.decision(occurrence.prediction_id), retry: false });
  if (decision.isPending)
    return <div role="status" aria-label="Loading the score" className="h-24 animate-pulse rounded bg-sunken" />;
  const isGone = decision.error instanceof ProblemError && decision.error.status === 404;
  if (decision.isError && !isGone) return <Alert>{`The score breakdown could not be loaded: ${wordsOf(decision.error)}`}</Alert>;
  const parts = decision.data ? partsOfDecision(decision.data, occurrence) : [];
  const shown = parts.length > 0 ? parts : partsOfOccurrence(occurrence);
  if (shown.length === 0) return null;
  return <Bars parts={shown} thresholds={decision.data?.thresholds ?? null} />;
}

function partsOfDecision({ rules, contributions }: Decision, { explanation }: FraudOccurrence): Part[] {
  const contributors = (explanation.model_behaviour ?? []).flatMap(({ top_contributors }) => top_contributors);
  // The case describes a comparison in plainer words than the decision does.
  const plain = new Map(contributors.map((each) => [each.feature, each]));
  const fired = rules.map(({ name, sentence, weight }) => ({ name, words: sentence, value: weight }));
  const compared = contributions.map(({ name, plain_name, log_odds }) => ({
    name: plain.get(name)?.plain_name ?? plain_name,
    words: plain.get(name)?.description ?? "Compared with the account's earlier log-ins.",
    value: log_odds,
  }));
  return [...fired, ...compared.toSorted((a, b) => b.value - a.value)];
}

function partsOfOccurrence({ explanation }: FraudOccurrence): Part[] {
  return (explanation.model_behaviour ?? [])
    .flatMap(({ top_contributors }) => top_contributors)
    .map(({ plain_name, description, shap_value }) => ({ name: plain_name, words: description, value: shap_value }));
}

type BarsProps = { parts: Part[]; thresholds: Decision["thresholds"] | null };

function Bars({ parts, thresholds }: BarsProps) {
  const ends = parts.map((_, index) => parts.slice(0, index + 1).reduce((sum, part) => sum + part.value, 0));
  const total = ends.at(-1) ?? 0;
  const marks = thresholds ? [thresholds.score_2, thresholds.score_3, thresholds.score_4, thresholds.score_5] : [];
  const low = Math.min(0, ...ends);
  const high = Math.max(1, ...ends, ...marks) * 1.04;
  const at = (value: number) => `${((value - low) / (high - low)) * 100}%`;
  return (
    <div className="@container">
      <div className="grid grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_3rem] gap-x-3 text-sm @lg:grid-cols-[15rem_minmax(0,1fr)_3rem]">
        {thresholds && <ScaleHead marks={marks} at={at} />}
        {parts.map(({ name, words, value }, index) => {
          const end = ends[index] ?? 0;
          return (
            <div
              key={`${name} ${index}`}
              className="col-span-3 grid grid-cols-subgrid items-center border-t border-line py-1.5"
              title={words}
            >
              <span className="leading-tight">{name}</span>
              <Track marks={marks} at={at} from={end - value} to={end} look={value >= 0 ? "bg-accent" : "bg-edge"} />
              <span className="text-right font-medium">{signed.format(value)}</span>
            </div>
          );
        })}
        <div className="col-span-3 grid grid-cols-subgrid items-center border-t border-edge py-1.5 font-semibold">
          <span>Total</span>
          <Track marks={marks} at={at} from={0} to={total} look="bg-ink" />
          <span className="text-right">{signed.format(total)}</span>
        </div>
      </div>
    </div>
  );
}

type Scale = { marks: number[]; at: (value: number) => string };

function ScaleHead({ marks, at }: Scale) {
  return (
    <div className="col-span-3 grid grid-cols-subgrid pb-1 text-xs text-faint">
      <span>Score from</span>
      <span className="relative h-4">
        {marks.map((mark, index) => (
          <span key={mark} className="absolute -translate-x-1/2" style={{ left: at(mark) }}>
            {index + 2}
          </span>
        ))}
      </span>
    </div>
  );
}

function Track({ marks, at, from, to, look }: Scale & { from: number; to: number; look: string }) {
  const left = Math.min(from, to);
  return (
    <span className="relative h-4" aria-hidden>
      {marks.map((mark) => (
        <span key={mark} className="absolute -inset-y-1.5 w-px bg-line" style={{ left: at(mark) }} />
      ))}
      <span
        className={`absolute inset-y-0.5 min-w-0.5 rounded-sm ${look}`}
        style={{ left: at(left), right: `calc(100% - ${at(Math.max(from, to))})` }}
      />
    </span>
  );
}
