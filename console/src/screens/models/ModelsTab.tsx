import type { Model } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Stale, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { figure } from "../detection/Outcomes.tsx";
import { useDetection } from "../detection/queries.ts";
import { driftedFields, useFieldNames } from "./drift.ts";
import { MomentSection } from "./MomentSection.tsx";
import { NoModels } from "./NoModels.tsx";
import { RandomChecks } from "./RandomChecks.tsx";
import { ReleasedRules } from "./ReleasedRules.tsx";
import { Runs } from "./Runs.tsx";
import { useModelDialogs } from "./useModelDialogs.tsx";
import { activitiesOf, moments, type ModelList } from "./words.ts";

// The models of each moment, with their figures and their training.
export function ModelsTab() {
  const read = useQuery(useDetection().models);
  if (read.isPending) return <Loading lines={12} name="Loading the models" />;
  if (read.isLoadingError) return <Trouble error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <Stale read={read} />
      <Models list={read.data} />
    </>
  );
}

function Models({ list }: { list: ModelList }) {
  const { may } = useWorkspace();
  const dialogs = useModelDialogs(list.models);
  return (
    <div className="mx-auto grid max-w-[88rem] grid-cols-1 gap-4 p-5">
      {dialogs.element}
      {list.models.map((model) => (
        <DriftBanner key={model.model_id} model={model} />
      ))}
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <p className="max-w-[52rem] text-soft">
          A model learns from your labels and adds its part to the log-odds of the rules. Only the champion's ratings count. A
          challenger's ratings are measured until it is promoted.
          {!may("manage:models") && " Only leads and admins can train, promote and retire models."}
        </p>
        <GuideLink page="models#champion-and-challenger" about="models" />
      </div>
      {list.models.length === 0 && <NoModels labels={list.labels} />}
      {list.models.length > 0 &&
        moments.map((moment) => <MomentSection key={moment} moment={moment} list={list} onAct={dialogs.open} />)}
      <Runs list={list} />
      <ReleasedRules released={list.settings.released_rules} />
      <RandomChecks />
    </div>
  );
}

function DriftBanner({ model }: { model: Model }) {
  const nameOf = useFieldNames();
  const { drift } = model.figures;
  const far = driftedFields(model);
  if (model.state !== "CHAMPION" || !drift || (far.length === 0 && drift.is_drifted !== true)) return null;
  const { frauds_per_day: frauds } = drift;
  return (
    <p role="status" className="flex items-start gap-2 rounded-lg border border-warn/40 bg-warn-soft px-4 py-2.5 text-warn">
      <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
      <span>
        <strong className="font-semibold">The {activitiesOf(model.moment)} differ from what the champion learned:</strong>{" "}
        {far.length === 0 && frauds
          ? `${figure.format(frauds.last_7_days)} known frauds a day in the last 7 days, and ${figure.format(frauds.before)} before`
          : far.map(([field]) => nameOf(field)).join(", ")}
        . Its ratings may be wrong. Find out what changed, or train a new model.
      </span>
    </p>
  );
}
