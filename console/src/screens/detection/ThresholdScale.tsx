import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Score } from "../../parts/Score.tsx";
import { useDetection } from "./queries.ts";
import { steps, type Steps } from "./thresholds.ts";

const looks = ["bg-sunken", "bg-edge/25", "bg-risk-3/30", "bg-risk-4/35", "bg-risk-5/40"];

// The scale of log-odds, divided where each score begins, with what each active rule reaches on its own.
export function ThresholdScale({ steps: wanted }: { steps: Steps }) {
  const { data: rules = [] } = useQuery(useDetection().rules);
  const on = rules.filter((rule) => rule.state === "on");
  const starts = [0, ...steps.map((step) => wanted[step])];
  const end = Math.max(1, ...starts, ...on.map((rule) => rule.weight)) * 1.15;
  const at = (value: number) => `${(Math.max(0, Math.min(value, end)) / end) * 100}%`;
  const alone = on.filter((rule) => rule.weight >= wanted.score_3).length;
  return (
    <div className="@container">
      <div className="relative h-12 overflow-hidden rounded-md border border-line" aria-hidden>
        {starts.map((from, index) => {
          const to = starts[index + 1] ?? end;
          return (
            <div
              key={index}
              className={`absolute inset-y-0 grid place-items-center overflow-hidden ${looks[index] ?? ""}`}
              style={{ left: at(from), width: `calc(${at(Math.max(from, to))} - ${at(from)})` }}
            >
              <span className="rounded bg-surface px-1 @md:px-2">
                <Score score={index + 1} isShort />
              </span>
            </div>
          );
        })}
      </div>
      <div className="relative h-5" aria-hidden>
        {starts.map((from, index) => (
          <span
            key={index}
            className="absolute top-0.5 -translate-x-1/2 text-xs text-soft first:translate-x-0"
            style={{ left: at(from) }}
          >
            {from}
          </span>
        ))}
      </div>
      <p className="mt-1 text-soft">
        {alone} of {on.length}{" "}
        <Link to="/detection" search={{ state: "on", sort: "weight" }} className="text-accent underline">
          active rules
        </Link>{" "}
        can open a case on their own.
      </p>
    </div>
  );
}
