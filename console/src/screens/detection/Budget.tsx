import { ProblemError, type Thresholds } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { ColumnNames } from "../../parts/ColumnNames.tsx";
import { Alert } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { useTask } from "../../parts/task.ts";
import { Loading, wordsOf } from "../../parts/States.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { NumberField } from "./NumberField.tsx";
import { useDetection } from "./queries.ts";
import { steps } from "./thresholds.ts";

const casesAtFirst = 40;
const cases = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

// Instead of thresholds, a person can say how many cases a day can be worked on.
export function Budget({ stored }: { stored: Thresholds }) {
  const { may } = useWorkspace();
  const mayManage = may("manage:rules");
  const [wanted, setWanted] = useState(stored.cases_per_day ?? casesAtFirst);
  const [previewed, setPreviewed] = useState<number | null>(null);
  const preview = useQuery({ ...useDetection().budget(previewed ?? 0), enabled: previewed !== null });
  const isAllowed = wanted >= 0.1 && wanted <= 100_000;
  function look(event: FormEvent): void {
    event.preventDefault();
    if (isAllowed) setPreviewed(wanted);
  }
  return (
    <Section title="From a budget" aside={<GuideLink page="models#thresholds-from-a-budget" about="the budget" />}>
      <p className="mb-3 max-w-[46rem] text-soft">
        {stored.cases_per_day === undefined
          ? "Enter how many cases a day you can work on. The thresholds are then computed from the last 28 days."
          : `The thresholds were computed for ${cases.format(stored.cases_per_day)} cases a day. They do not change automatically.`}
        {!mayManage && " Only leads and admins can change them."}
      </p>
      {mayManage && (
        <form className="flex flex-wrap items-start gap-3" onSubmit={look}>
          <div className="w-44">
            <NumberField
              label="Cases a day"
              min={0.1}
              max={100_000}
              value={wanted}
              error={isAllowed ? undefined : "A number from 0.1 to 100,000"}
              onValue={setWanted}
            />
          </div>
          <Button type="submit" className="mt-6" disabled={!isAllowed}>
            Preview
          </Button>
        </form>
      )}
      {previewed !== null && preview.isPending && <Loading lines={3} name="Computing the thresholds" />}
      {preview.isError && <Alert>The thresholds could not be computed: {wordsOf(preview.error)}</Alert>}
      {preview.data && previewed !== null && (
        <Preview stored={stored} computed={preview.data} wanted={previewed} onDone={() => setPreviewed(null)} />
      )}
    </Section>
  );
}

type PreviewProps = { stored: Thresholds; computed: Thresholds; wanted: number; onDone: () => void };

function Preview({ stored, computed, wanted, onDone }: PreviewProps) {
  const { client, desk } = useWorkspace();
  const cache = useQueryClient();
  const task = useTask();
  const body = { cases_per_day: wanted, thresholds_version: stored.thresholds_version };
  const set = async () => {
    try {
      await desk.outbox.deliver("Saving the thresholds", () => client.call("updateThresholds", { body }));
    } catch (error) {
      // Somebody else changed the thresholds, so show the new ones.
      if (error instanceof ProblemError && error.type === "item-version-conflict")
        await cache.invalidateQueries({ queryKey: ["thresholds"] });
      throw error;
    }
    await cache.invalidateQueries({ queryKey: ["thresholds"] });
    onDone();
    toast({ kind: "done", words: `The thresholds are set for ${wanted} cases a day. Past scores do not change.` });
  };
  return (
    <div className="mt-4 grid max-w-[46rem] gap-3" role="group" aria-label={`Preview of ${wanted} cases a day`}>
      <p>
        In the last 28 days, these thresholds would have given{" "}
        <strong className="font-semibold">{cases.format(computed.expected_cases_per_day ?? 0)} cases a day</strong>.
      </p>
      <table className="w-full text-left">
        <ColumnNames names={["Score from", "Now", "Computed"]} figures={["Now", "Computed"]} />
        <tbody>
          {steps.map((step) => (
            <tr key={step} className="border-t border-line">
              <th scope="row" className="py-1 pr-4 font-normal">
                Score {step.slice(-1)}
              </th>
              <td className="py-1 pr-4 text-right text-soft">{stored[step]}</td>
              <td className="py-1 pr-4 text-right font-semibold">{computed[step]}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {task.problem !== null && <Alert>Not set: {task.problem}</Alert>}
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={onDone} disabled={task.isBusy}>
          Cancel
        </Button>
        <Button look="primary" onClick={() => task.run(set)} disabled={task.isBusy}>
          Set these thresholds
        </Button>
      </div>
    </div>
  );
}
