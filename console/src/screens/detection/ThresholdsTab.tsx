import { ProblemError, type Thresholds } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { nameOfActor } from "../../parts/Actor.tsx";
import { Button } from "../../parts/Button.tsx";
import { ChangedMeanwhile } from "../../parts/ChangedMeanwhile.tsx";
import { Alert } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Stale, Trouble, wordsOf } from "../../parts/States.tsx";
import { Age } from "../../parts/Time.tsx";
import { Such } from "../../parts/Such.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { Budget } from "./Budget.tsx";
import { NumberField } from "./NumberField.tsx";
import { ThresholdScale } from "./ThresholdScale.tsx";
import { stepMeanings, steps, type Steps } from "./thresholds.ts";

export function ThresholdsTab() {
  const read = useQuery(useWorkspace().queries.thresholds());
  if (read.isPending) return <Loading lines={6} name="Loading the thresholds" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <div className="mx-auto grid max-w-[88rem] gap-4 p-5">
        <ThresholdsForm stored={read.data} />
        <Budget stored={read.data} />
      </div>
    </>
  );
}

function stepsOf({ score_2, score_3, score_4, score_5 }: Steps): Steps {
  return { score_2, score_3, score_4, score_5 };
}

// Only what this person changed. The rest comes from the stored version, so continuing does not undo a colleague's change.
function touched({ base, wanted }: { base: Steps; wanted: Steps }): Partial<Steps> {
  return Object.fromEntries(steps.filter((step) => base[step] !== wanted[step]).map((step) => [step, wanted[step]]));
}

// The response to a change does not contain the figures about labels.
function figuresOf(known: Thresholds | undefined): Pick<Thresholds, "frauds_of_100" | "labels_by_score"> {
  const { frauds_of_100, labels_by_score } = known ?? {};
  return { ...(frauds_of_100 && { frauds_of_100 }), ...(labels_by_score && { labels_by_score }) };
}

type Refusal = { words: string | null; errors: Map<string, string> };
const fine: Refusal = { words: null, errors: new Map() };

// A draft on top of the version it was started from. The figures are kept whatever the service answers.
function useThresholdsDraft(stored: Thresholds) {
  const { client, desk } = useWorkspace();
  const cache = useQueryClient();
  // The person's changes, and the version they were started from.
  const [draft, setDraft] = useState<{ base: Thresholds; wanted: Steps } | null>(null);
  const [refusal, setRefusal] = useState(fine);
  const [isBusy, setBusy] = useState(false);
  const wanted = draft?.wanted ?? stepsOf(stored);
  const isTouched = draft !== null && steps.some((step) => draft.base[step] !== draft.wanted[step]);
  const isOld = isTouched && !isBusy && draft.base.thresholds_version !== stored.thresholds_version;

  async function save(): Promise<void> {
    if (!draft) return;
    setBusy(true);
    setRefusal(fine);
    const body = { ...draft.wanted, thresholds_version: draft.base.thresholds_version };
    try {
      const found = await desk.outbox.deliver("Saving the thresholds", () => client.call("updateThresholds", { body }));
      cache.setQueryData<Thresholds>(["thresholds"], (known) => ({ ...found, ...figuresOf(known) }));
      setDraft(null);
      toast({ kind: "done", words: "The thresholds are saved. Past scores do not change." });
    } catch (error) {
      const isConflict = error instanceof ProblemError && error.type === "item-version-conflict";
      if (isConflict) await cache.invalidateQueries({ queryKey: ["thresholds"] });
      else setRefusal(refusalOf(error));
    } finally {
      setBusy(false);
    }
  }

  function change(part: Partial<Steps>): void {
    setDraft({ base: draft?.base ?? stored, wanted: { ...wanted, ...part } });
    setRefusal(fine);
  }

  return {
    wanted,
    refusal,
    isBusy,
    isTouched,
    base: isOld ? draft.base : null,
    change,
    save,
    putBack: () => setDraft(null),
    goOn: () => draft && setDraft({ base: stored, wanted: { ...stepsOf(stored), ...touched(draft) } }),
  };
}

type Drafting = ReturnType<typeof useThresholdsDraft>;

function ThresholdsForm({ stored }: { stored: Thresholds }) {
  const { may } = useWorkspace();
  const drafting = useThresholdsDraft(stored);
  const { wanted, refusal, isBusy, isTouched } = drafting;
  const mayManage = may("manage:rules");
  const aside = (
    <div className="flex flex-wrap items-center gap-3">
      <span className="text-xs text-faint">
        version {stored.thresholds_version}, changed <Age at={stored.updated_at} suffix=" ago" /> by{" "}
        {nameOfActor(stored.updated_by)}
      </span>
      <GuideLink page="rules-and-backtests#thresholds" about="thresholds" />
    </div>
  );
  return (
    <Section title="From evidence to score" aside={aside}>
      <p className="mb-4 max-w-[46rem] text-soft">
        Every rule that hits adds its weight. A log-in that is unusual for its account adds to the sum, and a usual one subtracts
        from it. The sum is the log-odds of fraud. These thresholds turn it into a score.
      </p>
      <ThresholdScale steps={wanted} />
      <Conflict stored={stored} drafting={drafting} />
      <div className="mt-5 grid grid-cols-4 gap-4 max-md:grid-cols-2">
        {steps.map((step) => (
          <NumberField
            key={step}
            label={`Score ${step.slice(-1)} from`}
            min={0}
            max={100}
            value={wanted[step]}
            isOff={!mayManage}
            error={refusal.errors.get(step)}
            hint={
              <>
                {stepMeanings[step]}{" "}
                <span className="block first-letter:uppercase">
                  <Such score={Number(step.slice(-1))} />
                </span>
              </>
            }
            onValue={(value) => drafting.change({ [step]: value })}
          />
        ))}
      </div>
      {refusal.words !== null && (
        <div className="mt-4">
          <Alert>Not saved: {refusal.words}</Alert>
        </div>
      )}
      {mayManage && (
        <div className="mt-4 flex justify-end gap-2">
          <Button look="quiet" onClick={drafting.putBack} disabled={!isTouched || isBusy}>
            Reset
          </Button>
          <Button look="primary" onClick={() => void drafting.save()} disabled={!isTouched || isBusy || drafting.base !== null}>
            Save the thresholds
          </Button>
        </div>
      )}
    </Section>
  );
}

function Conflict({ stored, drafting: { base, putBack, goOn } }: { stored: Thresholds; drafting: Drafting }) {
  if (!base) return null;
  return (
    <ChangedMeanwhile stored={stored} onUseTheirs={putBack} onContinue={goOn}>
      : {differences(base, stored)}. Your figures were not saved, but they are kept here.
    </ChangedMeanwhile>
  );
}

function refusalOf(error: unknown): Refusal {
  const errors = error instanceof ProblemError ? (error.errors ?? []) : [];
  const known = errors.filter(({ field }) => steps.some((step) => step === field));
  const plain = known.map(({ field, message }): [string, string] => [
    field,
    message.replaceAll(/\bscore_(\d)/g, "the threshold of score $1"),
  ]);
  return { words: known.length > 0 ? null : wordsOf(error), errors: new Map(plain) };
}

function differences(before: Thresholds, now: Thresholds): string {
  const changed = steps.filter((step) => before[step] !== now[step]);
  return changed.map((step) => `score ${step.slice(-1)} from ${before[step]} to ${now[step]}`).join(", ");
}
