import { ProblemError, type Backtest, type BacktestListItem } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { useEffect, useState } from "react";
import { nameOfActor } from "../../parts/Actor.tsx";
import { Button } from "../../parts/Button.tsx";
import { Alert } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Trouble, wordsOf } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import type { FieldErrors } from "../../changes/rules.ts";
import { Section } from "../case/Section.tsx";
import { figure } from "./Outcomes.tsx";
import { Expression } from "./RuleWords.tsx";
import { TryResult } from "./TryResult.tsx";
import { isUnderWay, useDetection } from "./queries.ts";
import { tryDays, useStartTry, type Tried } from "./trying.tsx";

type Props = {
  // The rule that a backtest would run now.
  draft: Tried;
  ruleId: string;
  // The backtest that is shown.
  backtest: string | undefined;
  onBacktest: (id: string) => void;
  // Receives the service's errors about the draft, so that the editor can mark them.
  onErrors?: (errors: FieldErrors) => void;
};

// Shows what the rule would have hit in recent days, before it is switched on.
export function TryPanel({ draft, ruleId, backtest, onBacktest, onErrors }: Props) {
  const { may } = useWorkspace();
  const start = useStartTry();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function tryIt(): Promise<void> {
    setBusy(true);
    setProblem(null);
    onErrors?.([]);
    const started = await start(draft, ruleId);
    setBusy(false);
    if (started.kind === "started") return onBacktest(started.id);
    const isMarked = onErrors !== undefined && started.errors.length > 0;
    setProblem(
      isMarked ? "The backtest did not start: see the expression above." : `The backtest did not start: ${problemWords(started)}`,
    );
    onErrors?.(started.errors);
  }

  const aside = (
    <div className="flex flex-wrap items-center gap-3">
      <GuideLink page="rules-and-backtests#backtest-a-rule" about="backtests" />
      {may("manage:rules") && (
        <Button look="primary" onClick={() => void tryIt()} disabled={isBusy || draft.expression.trim() === ""}>
          <FlaskConical size={15} aria-hidden /> Try it on the last {tryDays} days
        </Button>
      )}
    </div>
  );
  return (
    <Section title="Try it" aside={aside}>
      <div className="grid gap-3">
        {problem !== null && <Alert>{problem}</Alert>}
        {backtest === undefined ? (
          <p className="text-soft">
            A backtest runs the expression over the decisions of the last {tryDays} days. It shows how often the rule would have
            hit, which accounts, and how their cases were closed. It changes nothing.
          </p>
        ) : (
          <Shown key={backtest} id={backtest} draft={draft} ruleId={ruleId} />
        )}
        <Earlier draft={draft} ruleId={ruleId} shown={backtest} onBacktest={onBacktest} />
      </div>
    </Section>
  );
}

function problemWords({ words, errors }: { words: string; errors: FieldErrors }): string {
  return errors.length > 0 ? errors.map((each) => `${each.field}: ${each.message}`).join(" ") : words;
}

function Shown({ id, draft, ruleId }: { id: string; draft: Tried; ruleId: string }) {
  const read = useQuery(useDetection().backtest(id));
  const cache = useQueryClient();
  const status = read.data?.status;
  // When the backtest ends, the list of backtests must include it, because switching on checks that list.
  useEffect(() => {
    if (status !== undefined && !isUnderWay(status)) void cache.invalidateQueries({ queryKey: ["backtests", "list"] });
  }, [status, cache]);
  if (read.isPending) return <Loading lines={3} name="Loading the backtest" />;
  if (read.isError) {
    const isAbsent = read.error instanceof ProblemError && read.error.status < 500;
    if (isAbsent) return <p className="text-soft">This backtest is no longer stored. Run it again.</p>;
    return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  }
  const { data } = read;
  const isOther = data.expression !== draft.expression;
  const isElsewhere = !isOther && data.about !== draft.about;
  return (
    <div className="grid gap-3">
      {isOther && (
        <div className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          <p className="mb-1.5 font-medium">This backtest used a different expression:</p>
          <div className="text-ink">
            <Expression text={data.expression} />
          </div>
        </div>
      )}
      {isElsewhere && (
        <p className="rounded-md bg-warn-soft px-3 py-2 font-medium text-warn">
          In this backtest, failed log-ins and sign-ups open cases about their {data.about}, not their {draft.about} as above.
        </p>
      )}
      <Progress backtest={data} />
      {data.result && <TryResult backtest={data} result={data.result} ruleId={ruleId} />}
    </div>
  );
}

function Progress({ backtest }: { backtest: Backtest }) {
  const { client, may } = useWorkspace();
  const cache = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const { backtest_id: id, status, progress, fault } = backtest;
  const cancel = () =>
    client.call("cancelBacktest", { params: { backtest_id: id } }).then(
      (found) => cache.setQueryData(["backtests", "one", id], found),
      (error: unknown) => setProblem(wordsOf(error)),
    );
  if (status === "DONE") return null;
  if (status === "CANCELLED")
    return <p role="status">The backtest was cancelled after {figure.format(progress.done)} decisions.</p>;
  if (status === "FAILED") return <Alert>The backtest failed: {fault ?? "the service gave no reason."}</Alert>;
  const words =
    status === "QUEUED"
      ? "Queued"
      : `${figure.format(progress.done)} of about ${figure.format(progress.total)} decisions, ${progress.percent} %`;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <progress aria-label="Backtest progress" max={100} value={progress.percent} className="progress h-2 min-w-40 flex-1" />
      <span className="text-soft">{words}</span>
      {may("manage:rules") && <Button onClick={() => void cancel()}>Cancel</Button>}
      {problem !== null && <Alert>Not cancelled: {problem}</Alert>}
    </div>
  );
}

const statusWords: Record<BacktestListItem["status"], string> = {
  QUEUED: "queued",
  RUNNING: "running",
  DONE: "done",
  CANCELLED: "cancelled",
  FAILED: "failed",
};
const earlierMax = 6;

type EarlierProps = { draft: Tried; ruleId: string; shown: string | undefined; onBacktest: Props["onBacktest"] };

function Earlier({ draft, ruleId, shown, onBacktest }: EarlierProps) {
  const read = useQuery(useDetection().backtests);
  if (read.isLoadingError) return <p className="text-soft">Earlier backtests could not be loaded: {wordsOf(read.error)}</p>;
  const all = (read.data ?? [])
    .filter((each) => (ruleId !== "" && each.label === ruleId) || each.expression === draft.expression)
    .filter((each) => each.backtest_id !== shown);
  const tries = all.slice(0, earlierMax);
  if (tries.length === 0) return null;
  return (
    <details className="text-sm">
      <summary className="w-fit text-soft hover:text-ink">
        Earlier backtests ({all.length > tries.length ? `the latest ${tries.length} of ${all.length}` : tries.length})
      </summary>
      <ul className="mt-1.5 grid gap-1">
        {tries.map((each) => (
          <li key={each.backtest_id}>
            <button type="button" className="text-left text-accent hover:underline" onClick={() => onBacktest(each.backtest_id)}>
              <Age at={each.created_at} suffix=" ago" /> by {nameOfActor(each.created_by)}, {statusWords[each.status]}
            </button>{" "}
            {each.expression !== draft.expression && <span className="text-xs text-faint">different expression</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}
