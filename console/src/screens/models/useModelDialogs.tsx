import type { Model } from "@casehound/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { nameOfActor } from "../../parts/Actor.tsx";
import { SureDialog } from "../../parts/SureDialog.tsx";
import { Moment } from "../../parts/Time.tsx";
import { toast } from "../../parts/Toasts.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { activitiesOf, shortId } from "./words.ts";

type Act = "promote" | "roll back" | "retire";
// For `roll back`, the model is the previous champion, which is promoted again.
export type OnAct = (act: Act, model: Model) => void;

const cases = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

// Asks before a model's state changes, and says what changes.
export function useModelDialogs(models: readonly Model[]): { element: ReactNode; open: OnAct } {
  const { client, desk } = useWorkspace();
  const cache = useQueryClient();
  const [asked, setAsked] = useState<{ act: Act; model: Model } | null>(null);
  const open: OnAct = (act, model) => setAsked({ act, model });
  if (!asked) return { element: null, open };
  const { act, model } = asked;
  const champion = models.find(({ moment, state }) => moment === model.moment && state === "CHAMPION");
  const close = () => setAsked(null);
  const run = async () => {
    const params = { model_id: model.model_id };
    const operation = act === "retire" ? "retireModel" : "promoteModel";
    await desk.outbox.deliver("Changing a model", () => client.call(operation, { params }));
    await cache.invalidateQueries({ queryKey: ["models"] });
    close();
    toast({ kind: "done", words: act === "retire" ? retiredWords(model) : `${shortId(model.model_id)} is the champion.` });
  };
  const element = (
    <SureDialog title={titles[act]} act={buttons[act]} isHarsh={act === "retire"} onClose={close} run={run}>
      {act === "retire" ? <Retiring model={model} /> : <Promoting model={model} champion={champion} />}
      <p>Activity that was already scored keeps its score.</p>
    </SureDialog>
  );
  return { element, open };
}

const titles: Record<Act, string> = {
  promote: "Promote this model?",
  "roll back": "Roll back to the previous champion?",
  retire: "Retire this model?",
};
const buttons: Record<Act, string> = { promote: "Promote", "roll back": "Roll back", retire: "Retire" };

function retiredWords({ model_id, moment, state }: Model): string {
  const what = `${shortId(model_id)} is retired.`;
  return state === "CHAMPION" ? `${what} The rules alone decide about ${activitiesOf(moment)}.` : what;
}

function Promoting({ model, champion }: { model: Model; champion: Model | undefined }) {
  const { moment, model_id, obstacles = [], figures, retired_at, retired_by } = model;
  const { shadow } = figures;
  return (
    <>
      <p>
        From now on, <Id of={model_id} /> rates {activitiesOf(moment)}.{" "}
        {champion ? (
          <>
            The champion <Id of={champion.model_id} /> is retired. You can roll back to it.
          </>
        ) : (
          "At present, there is no champion, and the rules alone decide."
        )}
      </p>
      {shadow && model.state === "CHALLENGER" && (
        <p>
          Measured on the same activity, the number of cases a day changes from {cases.format(shadow.before.cases_per_day)} to{" "}
          {cases.format(shadow.model.cases_per_day)}.
        </p>
      )}
      {retired_at !== undefined && (
        <p>
          It was retired on <Moment at={retired_at} /> by {nameOfActor(retired_by ?? "system")}.
        </p>
      )}
      {obstacles.length > 0 && (
        <div>
          <p>It would not be promoted automatically:</p>
          <ul className="list-disc pl-5">
            {obstacles.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

function Retiring({ model: { model_id, moment, state } }: { model: Model }) {
  if (state === "CHAMPION")
    return (
      <p>
        <Id of={model_id} /> stops rating {activitiesOf(moment)}. Without a champion, the rules alone decide. You can promote it
        again.
      </p>
    );
  return (
    <p>
      <Id of={model_id} /> stops rating {activitiesOf(moment)}. The champion is not affected. You can still promote it later.
    </p>
  );
}

function Id({ of }: { of: string }) {
  return <code className="font-mono text-xs text-ink">{shortId(of)}</code>;
}
