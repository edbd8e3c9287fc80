import type { Model } from "@casehound/client";
import { Download } from "lucide-react";
import { Actor } from "../../parts/Actor.tsx";
import { Button, IconButton } from "../../parts/Button.tsx";
import { ColumnNames } from "../../parts/ColumnNames.tsx";
import { Moment } from "../../parts/Time.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { useDownload } from "./useDownload.ts";
import type { OnAct } from "./useModelDialogs.tsx";
import { shortId } from "./words.ts";

const share = new Intl.NumberFormat(undefined, { minimumFractionDigits: 3, maximumFractionDigits: 3 });

export function EarlierModels({ models, onAct }: { models: readonly Model[]; onAct: OnAct }) {
  const { may } = useWorkspace();
  const download = useDownload();
  if (models.length === 0) return null;
  return (
    <details className="mt-3">
      <summary className="w-fit text-soft hover:text-ink">
        {models.length === 1 ? "1 earlier model" : `${models.length} earlier models`}
      </summary>
      <div className="mt-1 overflow-x-auto">
        <table className="w-full text-left">
          <ColumnNames
            names={["Model", "Trained", "Average precision", "Served from", "Retired", "By", "Actions"]}
            figures={["Average precision", "Actions"]}
          />
          <tbody>
            {models.map((model) => (
              <tr key={model.model_id} className="border-t border-line [&_td]:py-1 [&_td]:pr-4">
                <td>
                  <code className="font-mono text-xs">{shortId(model.model_id)}</code>
                </td>
                <td className="whitespace-nowrap text-soft">
                  <Moment at={model.created_at} />
                </td>
                <td className="text-right">{precisionOf(model)}</td>
                <td className="whitespace-nowrap text-soft">
                  {model.promoted_at === undefined ? "never" : <Moment at={model.promoted_at} />}
                </td>
                <td className="whitespace-nowrap text-soft">
                  {model.retired_at !== undefined && <Moment at={model.retired_at} />}
                </td>
                <td>{model.retired_by !== undefined && <Actor actor={model.retired_by} />}</td>
                <td className="pr-0!">
                  <span className="flex items-center justify-end gap-1">
                    {may("manage:models") && (
                      <Button aria-label={`Promote ${shortId(model.model_id)}`} onClick={() => onAct("promote", model)}>
                        Promote
                      </Button>
                    )}
                    <IconButton name={`Download ${shortId(model.model_id)} as JSON`} onClick={() => void download(model)}>
                      <Download size={16} aria-hidden />
                    </IconButton>
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function precisionOf({ figures: { shadow, held_out } }: Model): string {
  const found = (shadow ?? held_out)?.model.average_precision ?? null;
  return found === null ? "–" : share.format(found);
}
