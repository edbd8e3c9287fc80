import { ProblemError, type Decision, type FraudOccurrence } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { Alert } from "../../parts/Field.tsx";
import { wordsOf } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { isReport, partsOf, rulesElsewhere, shownParts, signedWords, totalOf, type Part } from "./parts.ts";

type Props = { occurrence: FraudOccurrence; caseId: string };

// Shows what raised and lowered the score. Decisions are kept only as long as raw activity. If the decision is gone, the evidence
// still says what counted, but not where the thresholds were.
export function Waterfall({ occurrence, caseId }: Props) {
  const { queries } = useWorkspace();
  const read = useQuery({ ...queries.decision(occurrence.prediction_id), retry: false });
  if (read.isPending)
    return <div role="status" aria-label="Loading the score" className="h-24 animate-pulse rounded bg-sunken" />;
  const isGone = read.error instanceof ProblemError && read.error.status === 404;
  if (read.isError && !isGone) return <Alert>{`The score breakdown could not be loaded: ${wordsOf(read.error)}`}</Alert>;
  const decision = read.data ?? null;
  const parts = partsOf(occurrence, decision);
  if (parts.length === 0) return null;
  return (
    <>
      <Bars parts={parts} occurrence={occurrence} thresholds={isReport(occurrence) ? null : (decision?.thresholds ?? null)} />
      {isReport(occurrence) && <Note>A fraud report always has score 5.</Note>}
      {isLimited(occurrence, decision) && <Note>A page's claims have a score of at most 3.</Note>}
      {decision && <Elsewhere occurrence={occurrence} decision={decision} caseId={caseId} />}
    </>
  );
}

function isLimited(occurrence: FraudOccurrence, decision: Decision | null): boolean {
  const isClaim = occurrence.explanation.evidence_source === "page";
  return isClaim && decision !== null && totalOf(occurrence) >= decision.thresholds.score_4 * 100;
}

function Note({ children }: { children: ReactNode }) {
  return <p className="mt-1.5 text-xs text-soft">{children}</p>;
}

// Rules about another subject count in that subject's case, and not here.
function Elsewhere({ occurrence, decision, caseId }: Props & { decision: Decision }) {
  const names = rulesElsewhere(occurrence, decision);
  if (names.length === 0) return null;
  return (
    <Note>
      {names.length === 1 ? "This rule also fired, but counts" : "These rules also fired, but count"} in another case:{" "}
      {names.join(", ")}.{" "}
      {(decision.cases ?? [])
        .filter(({ case_id }) => case_id !== caseId)
        .map(({ case_id: otherId, score }) => (
          <Link key={otherId} to="/cases/$caseId" params={{ caseId: otherId }} className="mr-2 text-accent underline">
            Show the other case (score {score})
          </Link>
        ))}
    </Note>
  );
}

const groupWords: Record<Part["group"], string> = {
  rules: "Rules",
  "log-in": "Compared with the account's log-ins",
  "false cases": "Earlier cases closed as false positives",
  model: "Model",
};

// In a narrow place, a bar has a line of its own below the name, because it would be too short beside it.
const nameCell = "col-start-1 row-start-1 min-w-0 leading-tight [overflow-wrap:anywhere]";
const trackCell = "relative col-span-2 row-start-2 @lg:col-span-1 @lg:col-start-2 @lg:row-start-1";
const valueCell = "col-start-2 row-start-1 text-right @lg:col-start-3";

type BarsProps = { parts: Part[]; occurrence: FraudOccurrence; thresholds: Decision["thresholds"] | null };

function Bars({ parts, occurrence, thresholds }: BarsProps) {
  const shown = shownParts(parts);
  const ends = shown.map((_, index) => sumOf(shown.slice(0, index + 1)) / 100);
  const total = totalOf(occurrence);
  const marks = thresholds ? [thresholds.score_2, thresholds.score_3, thresholds.score_4, thresholds.score_5] : [];
  const low = Math.min(0, ...ends);
  const high = Math.max(1, ...ends, ...marks) * 1.04;
  const at = (value: number) => `${((value - low) / (high - low)) * 100}%`;
  const hasGroups = new Set(parts.map(({ group }) => group)).size > 1;
  return (
    <div className="@container">
      <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 text-sm @lg:grid-cols-[15rem_minmax(0,1fr)_3.25rem]">
        {thresholds && <ScaleHead marks={marks} at={at} />}
        {parts.map(({ group, name, words }, index) => {
          const [value, end] = [shown[index] ?? 0, ends[index] ?? 0];
          const isFirst = hasGroups && parts[index - 1]?.group !== group;
          const own = shown.filter((_, place) => parts[place]?.group === group);
          return (
            <Fragment key={`${name} ${index}`}>
              {isFirst && <GroupHead name={groupWords[group]} sum={sumOf(own)} />}
              <div className="col-span-full grid grid-cols-subgrid items-center border-t border-line py-1.5" title={words}>
                <span className={`${nameCell} ${hasGroups ? "@lg:pl-2.5" : ""}`}>{name}</span>
                <Track marks={marks} at={at} from={end - value / 100} to={end} look={value >= 0 ? "bg-accent" : "bg-edge"} />
                <span data-part="" className={`${valueCell} font-medium`}>
                  {signedWords(value)}
                </span>
              </div>
            </Fragment>
          );
        })}
        <div className="col-span-full grid grid-cols-subgrid items-center border-t border-edge py-1.5 font-semibold">
          <span className={nameCell}>
            Total <span className="font-normal text-faint">score {occurrence.risk_score}</span>
          </span>
          <Track marks={marks} at={at} from={0} to={total / 100} look="bg-ink" />
          <span data-total="" className={valueCell}>
            {signedWords(total)}
          </span>
        </div>
      </div>
    </div>
  );
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function GroupHead({ name, sum }: { name: string; sum: number }) {
  return (
    <div className="col-span-full grid grid-cols-subgrid border-t border-line bg-sunken py-1 text-xs text-soft">
      <span className="pl-1 font-medium @lg:col-span-2">{name}</span>
      <span className="text-right">{signedWords(sum)}</span>
    </div>
  );
}

type Scale = { marks: number[]; at: (value: number) => string };

function ScaleHead({ marks, at }: Scale) {
  return (
    <div className="col-span-full grid grid-cols-subgrid pb-1 text-xs text-faint">
      <span className="col-span-full @lg:col-span-1">Score from</span>
      <span className={`${trackCell} h-4`}>
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
    <span className={`${trackCell} h-3 @lg:h-4`} aria-hidden>
      {marks.map((mark) => (
        <span key={mark} className="absolute inset-y-0 w-px bg-line @lg:-inset-y-1.5" style={{ left: at(mark) }} />
      ))}
      <span
        className={`absolute inset-y-0.5 min-w-0.5 rounded-sm ${look}`}
        style={{ left: at(left), right: `calc(100% - ${at(Math.max(from, to))})` }}
      />
    </span>
  );
}
