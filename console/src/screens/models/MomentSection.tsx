import type { Model } from "@casehound/client";
import type { ReactNode } from "react";
import { Section } from "../case/Section.tsx";
import { figure } from "../detection/Outcomes.tsx";
import { EarlierModels } from "./EarlierModels.tsx";
import { ModelCard } from "./ModelCard.tsx";
import { LabelProgress } from "./NoModels.tsx";
import type { OnAct } from "./useModelDialogs.tsx";
import { championBefore, momentNames, type ModelList } from "./words.ts";

type Props = { moment: Model["moment"]; list: ModelList; onAct: OnAct };

// Shows the champion and the challenger of one moment side by side.
export function MomentSection({ moment, list, onAct }: Props) {
  const own = list.models.filter((each) => each.moment === moment);
  const champion = own.find(({ state }) => state === "CHAMPION");
  const challenger = own.find(({ state }) => state === "CHALLENGER");
  const labels = list.labels.find((each) => each.moment === moment);
  const aside = labels && (
    <span className="text-xs text-faint">
      {figure.format(labels.labels)} labels in 90 days, {figure.format(labels.frauds)} of them frauds
    </span>
  );
  return (
    <Section title={momentNames[moment]} aside={own.length > 0 && aside}>
      {own.length === 0 && labels && <LabelProgress of={labels} name="No model yet" />}
      {own.length > 0 && (
        <div className="grid grid-cols-2 gap-4 max-[70rem]:grid-cols-1">
          {champion ? (
            <ModelCard model={champion} before={championBefore(list.models, moment)} onAct={onAct} />
          ) : (
            <Nobody title="No champion">The rules alone decide.</Nobody>
          )}
          {challenger ? (
            <ModelCard model={challenger} before={undefined} onAct={onAct} />
          ) : (
            <Nobody title="No challenger">The next training run creates one.</Nobody>
          )}
        </div>
      )}
      <EarlierModels models={own.filter(({ state }) => state === "RETIRED")} onAct={onAct} />
    </Section>
  );
}

function Nobody({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="grid min-h-24 place-content-center rounded-lg border border-dashed border-line p-4 text-center">
      <h3 className="font-medium">{title}</h3>
      <p className="text-soft">{children}</p>
    </div>
  );
}
