import type { Model } from "@casehound/client";
import { Download, RotateCcw } from "lucide-react";
import { Actor } from "../../parts/Actor.tsx";
import { Button, IconButton } from "../../parts/Button.tsx";
import { Age } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { figure } from "../detection/Outcomes.tsx";
import { DriftFigures } from "./DriftFigures.tsx";
import { ModelFigures } from "./ModelFigures.tsx";
import { useDownload } from "./useDownload.ts";
import type { OnAct } from "./useModelDialogs.tsx";
import { shortId } from "./words.ts";

type Props = { model: Model; before: Model | undefined; onAct: OnAct };

export function ModelCard({ model, before, onAct }: Props) {
  const isChampion = model.state === "CHAMPION";
  const { figures, created_at, promoted_at, promoted_by, obstacles } = model;
  const name = isChampion ? "Champion" : "Challenger";
  return (
    <article
      aria-label={`${name} ${shortId(model.model_id)}`}
      className="grid grid-cols-1 content-start gap-3 rounded-lg border border-line p-4"
    >
      <header className="flex flex-wrap items-start justify-between gap-2">
        <div>
          <h3 className="flex flex-wrap items-center gap-2 font-semibold">
            {name}
            <code className="font-mono text-xs font-normal text-faint">{shortId(model.model_id)}</code>
          </h3>
          <p className="text-xs text-soft">
            Trained <Age at={created_at} suffix=" ago" /> on {figure.format(figures.rows)} activities,{" "}
            {figure.format(figures.frauds)} of them frauds; {figure.format(figures.trees)} trees
            {promoted_at !== undefined && isChampion && (
              <>
                ; promoted <Age at={promoted_at} suffix=" ago" /> by <Actor actor={promoted_by ?? "system"} />
              </>
            )}
          </p>
        </div>
        <Actions model={model} before={before} onAct={onAct} />
      </header>
      {obstacles && <Obstacles all={obstacles} />}
      <ModelFigures model={model} />
      {isChampion && <DriftFigures drift={figures.drift} />}
    </article>
  );
}

function Actions({ model, before, onAct }: Props) {
  const { may } = useWorkspace();
  const download = useDownload();
  const mayManage = may("manage:models");
  return (
    <div className="flex items-center gap-1.5">
      {mayManage && model.state === "CHALLENGER" && (
        <Button look="primary" onClick={() => onAct("promote", model)}>
          Promote
        </Button>
      )}
      {mayManage && model.state === "CHAMPION" && before && (
        <Button onClick={() => onAct("roll back", before)}>
          <RotateCcw size={14} aria-hidden /> Roll back
        </Button>
      )}
      {mayManage && <Button onClick={() => onAct("retire", model)}>Retire</Button>}
      <IconButton name={`Download ${shortId(model.model_id)} as JSON`} onClick={() => void download(model)}>
        <Download size={16} aria-hidden />
      </IconButton>
    </div>
  );
}

function Obstacles({ all }: { all: readonly string[] }) {
  if (all.length === 0) return <p className="text-good">Nothing prevents its automatic promotion.</p>;
  return (
    <div className="rounded-md bg-warn-soft px-3 py-2 text-warn">
      <p className="font-medium">Why it is not promoted automatically</p>
      <ul className="list-disc pl-5">
        {all.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </div>
  );
}
