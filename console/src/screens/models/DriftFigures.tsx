import { stabilityMax, type Model } from "@casehound/client";
import { Age } from "../../parts/Time.tsx";
import { figure } from "../detection/Outcomes.tsx";
import { fieldsOf, useFieldNames } from "./drift.ts";

const index = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

// How much the activity of the last day differs from what the model learned.
export function DriftFigures({ drift }: { drift: Model["figures"]["drift"] }) {
  const nameOf = useFieldNames();
  if (!drift) return <p className="text-xs text-faint">Drift has not been measured yet.</p>;
  const fields = fieldsOf(drift);
  const largest = fields[0]?.[1];
  const scale = Math.max(2 * stabilityMax, largest ?? 0);
  return (
    <div className="border-t border-line pt-2 text-xs">
      <p className="text-soft">
        {figure.format(drift.cases_per_day)} {drift.cases_per_day === 1 ? "case" : "cases"} in the last 24 hours that only the
        model found. Drift: {largest === undefined ? "too little activity to measure" : `at most ${index.format(largest)}`},
        measured <Age at={drift.measured_at} suffix=" ago" />.
      </p>
      {fields.length > 0 && (
        <details className="mt-1">
          <summary className="w-fit text-soft hover:text-ink">Fields that changed most</summary>
          <p className="my-1 text-faint">
            The population stability index compared with the training. Above {stabilityMax}, a field has changed a lot.
          </p>
          <ul aria-label="Drift by field">
            {fields.map(([field, value]) => (
              <li key={field} className="grid grid-cols-[12rem_minmax(0,1fr)_3rem] items-center gap-x-3 py-0.5" title={field}>
                <span className="truncate">{nameOf(field)}</span>
                <span className="relative h-2 rounded-full bg-sunken" aria-hidden>
                  <span
                    className={`absolute inset-y-0 left-0 rounded-full ${value > stabilityMax ? "bg-warn" : "bg-accent"}`}
                    style={{ width: `${(100 * value) / scale}%` }}
                  />
                  <span className="absolute -inset-y-0.5 w-px bg-edge" style={{ left: `${(100 * stabilityMax) / scale}%` }} />
                </span>
                <span className={`text-right ${value > stabilityMax ? "font-semibold text-warn" : ""}`}>
                  {index.format(value)}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
