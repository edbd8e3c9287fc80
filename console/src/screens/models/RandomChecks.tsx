import type { RandomChecks as Stored } from "@casehound/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Button } from "../../parts/Button.tsx";
import { Alert } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { useTask } from "../../parts/task.ts";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { Section } from "../case/Section.tsx";
import { NumberField } from "../detection/NumberField.tsx";
import { noRecallWords, recallWords } from "./recall.ts";

const perDayMax = 100;
// It begins with the key of the models, so that the same events refresh both.
const queryKey = ["models", "random-checks"];
const freshMs = 30_000;

// Shows how many activities are chosen at random each day, and what their outcomes say about missed frauds.
export function RandomChecks() {
  const { may, client } = useWorkspace();
  const queryFn = ({ signal }: { signal: AbortSignal }) => client.call("getRandomChecks", { signal });
  const read = useQuery({ queryKey, queryFn, staleTime: freshMs });
  return (
    <Section title="Random checks" aside={<GuideLink page="models#how-many-frauds-are-missed" about="random checks" />}>
      <p className="mb-3 max-w-[52rem] text-soft">
        Each check costs you one more case a day, about an activity with score 1 or 2 that was chosen at random. In return, you
        learn what share of the frauds you find.
        {!may("manage:models") && " Only leads and admins can change the number."}
      </p>
      {read.isPending && <Loading lines={3} name="Loading the random checks" />}
      {read.isLoadingError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
      {read.data && (
        <>
          {may("manage:models") ? <PerDay stored={read.data.per_day} /> : <p>{perDayWords(read.data.per_day)}</p>}
          <Estimates of={read.data} />
        </>
      )}
    </Section>
  );
}

function PerDay({ stored }: { stored: number }) {
  const { client, desk } = useWorkspace();
  const cache = useQueryClient();
  const { run, isBusy, problem } = useTask();
  // Null until a person types, so that a colleague's change shows.
  const [typed, setTyped] = useState<number | null>(null);
  const wanted = typed ?? stored;
  const isWhole = Number.isInteger(wanted) && wanted >= 0 && wanted <= perDayMax;
  async function save(): Promise<void> {
    const body = { per_day: wanted };
    await desk.outbox.deliver("Saving the random checks", () => client.call("updateRandomChecks", { body }));
    await cache.invalidateQueries({ queryKey });
    setTyped(null);
    toast({ kind: "done", words: perDayWords(wanted) });
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (isWhole && wanted !== stored && !isBusy) run(save);
  }
  return (
    <form className="grid gap-3" onSubmit={submit} noValidate>
      <div className="flex flex-wrap items-start gap-3">
        <div className="w-44">
          <NumberField
            label="Checks a day"
            step={1}
            min={0}
            max={perDayMax}
            value={wanted}
            hint="0 turns them off."
            error={isWhole ? undefined : `A whole number from 0 to ${perDayMax}`}
            onValue={setTyped}
          />
        </div>
        <Button type="submit" className="mt-6.5" disabled={!isWhole || wanted === stored || isBusy}>
          Save
        </Button>
      </div>
      {problem !== null && <Alert>Not saved: {problem}</Alert>}
    </form>
  );
}

function perDayWords(count: number): string {
  if (count === 0) return "Random checks are off.";
  return `${count === 1 ? "1 case is" : `${count} cases are`} opened at random each day.`;
}

function Estimates({ of: { per_day, recall } }: { of: Stored }) {
  const begun = recall.filter(({ checks }) => checks > 0);
  return (
    <div className="mt-4 max-w-[52rem] border-t border-line pt-3">
      <h3 className="mb-1 font-medium">
        How many frauds are found <span className="font-normal text-faint">in the last 90 days</span>
      </h3>
      {begun.length === 0 ? (
        <p className="text-soft">{noRecallWords(per_day)}</p>
      ) : (
        <ul aria-label="Estimates" className="grid gap-1">
          {begun.map((each) => (
            <li key={each.moment}>{recallWords(each)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
