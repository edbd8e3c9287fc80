import { labels, type DueTimes } from "@casehound/client";
import { Plus, Trash2 } from "lucide-react";
import { Button, IconButton } from "../../parts/Button.tsx";
import { inputLook } from "../../parts/Field.tsx";

type Target = DueTimes["targets"][number];
type Props = { targets: Target[]; isOff: boolean; onTargets: (targets: Target[]) => void };

const targetsMax = 20;
const scores = [5, 4, 3, 2, 1];

export function TargetTable({ targets, isOff, onTargets }: Props) {
  const change = (at: number, next: Target) => onTargets(targets.map((each, index) => (index === at ? next : each)));
  return (
    <>
      {targets.length === 0 && <p className="text-soft">There are no due times yet.</p>}
      {targets.length > 0 && (
        <ol aria-label="Targets" className="grid gap-2">
          {targets.map((target, at) => (
            <li key={at} className="flex flex-wrap items-center gap-2">
              <select
                aria-label={`Risk of row ${at + 1}`}
                className={`${inputLook} !w-40`}
                disabled={isOff}
                value={target.min_score}
                onChange={(event) => change(at, { ...target, min_score: Number(event.target.value) })}
              >
                {scores.map((score) => (
                  <option key={score} value={score}>
                    {riskWords(score)}
                  </option>
                ))}
              </select>
              <select
                aria-label={`Label of row ${at + 1}`}
                className={`${inputLook} !w-44`}
                disabled={isOff}
                value={target.label ?? ""}
                onChange={({ target: { value } }) => change(at, withLabel(target, value))}
              >
                <option value="">Any label</option>
                {labels.map((label) => (
                  <option key={label}>{label}</option>
                ))}
              </select>
              <label className="flex items-center gap-2">
                <span>within</span>
                <input
                  type="number"
                  min={1}
                  max={720}
                  aria-label={`Working hours of row ${at + 1}`}
                  className={`${inputLook} !w-20 tabular-nums`}
                  disabled={isOff}
                  value={target.hours}
                  onChange={(event) => change(at, { ...target, hours: event.target.valueAsNumber || 1 })}
                />
                <span>working {target.hours === 1 ? "hour" : "hours"}</span>
              </label>
              {!isOff && (
                <IconButton name={`Remove row ${at + 1}`} onClick={() => onTargets(targets.filter((_, index) => index !== at))}>
                  <Trash2 size={15} aria-hidden />
                </IconButton>
              )}
            </li>
          ))}
        </ol>
      )}
      {!isOff && targets.length < targetsMax && (
        <Button className="mt-3" onClick={() => onTargets([...targets, { min_score: 3, hours: 8 }])}>
          <Plus size={15} aria-hidden /> Add row
        </Button>
      )}
    </>
  );
}

function riskWords(score: number): string {
  if (score === 1) return "Any risk";
  return score === 5 ? "Risk 5" : `Risk ${score} or higher`;
}

function withLabel({ min_score, hours }: Target, text: string): Target {
  const label = labels.find((each) => each === text);
  return { min_score, ...(label && { label }), hours };
}
