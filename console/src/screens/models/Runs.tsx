import type { ModelRun } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useKeys, type Binding } from "../../keys/keys.ts";
import { Actor } from "../../parts/Actor.tsx";
import { Button, Kbd } from "../../parts/Button.tsx";
import { ColumnNames } from "../../parts/ColumnNames.tsx";
import { Alert } from "../../parts/Field.tsx";
import { useTask } from "../../parts/task.ts";
import { Age } from "../../parts/Time.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { isUnderWay } from "../detection/queries.ts";
import { momentNames, shortId, type ModelList } from "./words.ts";

// The latest training runs, with a button to start one.
export function Runs({ list }: { list: ModelList }) {
  const { may, client, desk } = useWorkspace();
  const cache = useQueryClient();
  const { run, isBusy, problem } = useTask();
  const mayManage = may("manage:models");
  const isRunning = list.runs.some(({ status }) => isUnderWay(status));
  const isOff = !mayManage || isBusy || isRunning;
  const train = () =>
    run(async () => {
      await desk.outbox.deliver("Starting a training run", () => client.call("trainModels", { body: {} }));
      await cache.invalidateQueries({ queryKey: ["models"] });
      toast({ kind: "done", words: "The training run is queued. A new model becomes a challenger." });
    });
  const latest = useRef(train);
  latest.current = train;
  useKeys(
    useMemo<Binding[]>(() => [{ key: "t", name: "Train now", group: "Detection", isOff, run: () => latest.current() }], [isOff]),
  );
  const aside = mayManage && (
    <span className="flex items-center gap-3">
      {isRunning && <span className="text-xs text-faint">A training run is in progress.</span>}
      <Button onClick={train} disabled={isOff}>
        Train now <Kbd>T</Kbd>
      </Button>
    </span>
  );
  return (
    <Section title="Training" aside={aside}>
      {problem !== null && <Alert>The training run was not started: {problem}</Alert>}
      {list.runs.length === 0 ? (
        <p className="text-soft">No model has been trained yet.</p>
      ) : (
        <div className="overflow-x-auto">
          <table className="w-full text-left">
            <ColumnNames names={["Moment", "Started", "By", "Result"]} />
            <tbody>
              {list.runs.map((each) => (
                <tr key={each.run_id} className="border-t border-line align-top [&_td]:py-1.5 [&_td]:pr-4">
                  <td>{momentNames[each.moment]}</td>
                  <td className="whitespace-nowrap text-soft">
                    <Age at={each.created_at} suffix=" ago" />
                  </td>
                  <td className="min-w-32">
                    <Actor actor={each.created_by} />
                  </td>
                  <td className="w-1/2 min-w-48">
                    <Result of={each} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Section>
  );
}

const phaseWords: Record<ModelRun["progress"]["phase"], string> = {
  waiting: "Waiting",
  reading: "Reading labelled activity",
  measuring: "Measuring on held-out days",
  training: "Training",
  done: "Done",
};

function Result({ of: { moment, status, progress, model_id, reason } }: { of: ModelRun }) {
  if (isUnderWay(status))
    return (
      <span className="flex items-center gap-3">
        <span
          role="progressbar"
          aria-label={`Training: ${momentNames[moment]}`}
          aria-valuenow={progress.percent}
          aria-valuemin={0}
          aria-valuemax={100}
          className="h-2 w-40 overflow-hidden rounded-full bg-sunken"
        >
          <span className="block h-full bg-accent transition-[width]" style={{ width: `${progress.percent}%` }} />
        </span>
        <span className="text-soft">
          {phaseWords[progress.phase]}, {progress.percent} %
        </span>
      </span>
    );
  if (status === "FAILED") return <span className="text-bad">Failed: {reason}</span>;
  // The same labels may have given a model that already exists.
  if (model_id === undefined || reason !== undefined) return <span className="text-soft">No new model. {reason}</span>;
  return (
    <span>
      Trained the model <code className="font-mono text-xs">{shortId(model_id)}</code>
    </span>
  );
}
