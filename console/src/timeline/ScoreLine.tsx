import type { ScoredActivity } from "@casehound/client";
import { useState, type MouseEvent } from "react";
import { fullTime } from "../parts/clock.ts";
import { isHarmless, isOccurrence, scoreIn, type CaseEvidence } from "./grouping.ts";
import { countWords, durationWords, typeWords } from "./words.ts";

type Point = { activity: ScoredActivity; at: number; y: number; isMarked: boolean; gapMs: number };

// A gap of at least this length is drawn as a pause.
const pauseMs = 30 * 60_000;
const pauseSteps = 3;
const labelRoom = 9;
const inks = ["", "text-risk-1", "text-risk-2", "text-risk-3", "text-risk-4", "text-risk-5"];

// Spaces events evenly, so those in a burst stay distinct. The line breaks at a pause.
function pointsOf(activities: readonly ScoredActivity[], evidence: CaseEvidence | undefined): Point[] {
  let place = 0;
  const placed = activities.map((each, index) => {
    const activity = { ...each, score: scoreIn(evidence, each) };
    const before = activities[index - 1];
    const gapMs = before ? Date.parse(activity.occurred_at) - Date.parse(before.occurred_at) : 0;
    const isPause = gapMs >= pauseMs;
    place += index === 0 ? 0 : isPause ? pauseSteps : 1;
    return { activity, place, isMarked: isOccurrence(activity, evidence), gapMs: isPause ? gapMs : 0 };
  });
  const last = Math.max(1, place);
  return placed.map(({ place: at, ...rest }) => ({ ...rest, at: (at / last) * 100, y: heightOf(rest.activity.score) }));
}

function heightOf(score: number): number {
  return 100 - ((score - 1) / 4) * 100;
}

function pathOfPoints(points: readonly Point[]): string {
  return points.map(({ at, y, gapMs }, index) => `${index === 0 || gapMs > 0 ? "M" : "L"}${at.toFixed(2)} ${y}`).join("");
}

type Props = {
  activities: readonly ScoredActivity[];
  evidence?: CaseEvidence;
  chosen: string | undefined;
  onChoose: (activityId: string) => void;
};

// The score of each event, in order. The list below has the same in words, and a click leads to it.
export function ScoreLine({ activities, evidence, chosen, onChoose }: Props) {
  const [hovered, setHovered] = useState<Point | null>(null);
  const points = pointsOf(activities, evidence);
  if (points.length < 2) return null;
  const marked = points.filter(({ isMarked }) => isMarked);
  const strong = marked.filter(({ activity }) => !isHarmless(activity, evidence));
  const nearest = (event: MouseEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - left) / width) * 100;
    return points.reduce((best, each) => (Math.abs(each.at - at) < Math.abs(best.at - at) ? each : best));
  };
  const shown = hovered ?? points.find(({ activity }) => activity.activity_id === chosen) ?? null;
  const highest = Math.max(...points.map(({ activity }) => activity.score));
  return (
    <figure className="mb-4 break-inside-avoid">
      <div className="grid grid-cols-[1rem_minmax(0,1fr)] gap-x-2">
        <div className="relative my-2 h-24 text-xs text-faint" aria-hidden>
          {[1, 3, 5].map((score) => (
            <span key={score} className="absolute right-0 -translate-y-1/2" style={{ top: `${heightOf(score)}%` }}>
              {score}
            </span>
          ))}
        </div>
        <div className="relative my-2 h-24 px-2">
          <div className="relative h-full">
            <Grid />
            <svg
              role="img"
              aria-label={`Scores of ${countWords(points.length, "event")}, the highest ${highest} of 5; ${countWords(strong.length, "piece", "pieces")} of evidence`}
              viewBox="0 0 100 100"
              preserveAspectRatio="none"
              className="absolute inset-0 size-full overflow-visible text-accent"
            >
              <path
                d={pathOfPoints(points)}
                fill="none"
                stroke="currentColor"
                strokeWidth="1.5"
                strokeLinejoin="round"
                vectorEffect="non-scaling-stroke"
              />
            </svg>
            <Pauses points={points} />
            {marked.map(({ activity, at, y }) => (
              <span
                key={activity.activity_id}
                aria-hidden
                className={`absolute size-2.5 -translate-1/2 rotate-45 rounded-[2px] border border-surface bg-current ${inks[activity.score] ?? ""}`}
                style={{ left: `${at}%`, top: `${y}%` }}
              />
            ))}
            {shown && <Cross point={shown} />}
            <button
              type="button"
              tabIndex={-1}
              aria-label="Go to the event under the pointer"
              className="no-print absolute inset-0 cursor-pointer"
              onMouseMove={(event) => setHovered(nearest(event))}
              onMouseLeave={() => setHovered(null)}
              onClick={(event) => onChoose(nearest(event).activity.activity_id)}
            />
          </div>
        </div>
      </div>
      <figcaption className="mt-1 flex flex-wrap justify-between gap-x-4 pl-6 text-xs text-faint">
        {shown ? <Told point={shown} /> : <Ends points={points} hasEvidence={strong.length > 0} />}
      </figcaption>
    </figure>
  );
}

function Grid() {
  return [1, 2, 3, 4, 5].map((score) => (
    <span
      key={score}
      aria-hidden
      className={`absolute inset-x-0 h-px ${score === 1 ? "bg-edge/50" : "bg-line"}`}
      style={{ top: `${heightOf(score)}%` }}
    />
  ));
}

// Shows how long each pause lasted, if the label has room.
function Pauses({ points }: { points: readonly Point[] }) {
  let free = 0;
  const pauses = points.flatMap((point, index) => {
    const from = points[index - 1]?.at ?? 0;
    if (point.gapMs === 0) return [];
    const at = (from + point.at) / 2;
    const hasRoom = at >= free && at > labelRoom / 3 && at < 100 - labelRoom / 3;
    if (hasRoom) free = at + labelRoom;
    return [{ at, id: point.activity.activity_id, words: hasRoom ? durationWords(point.gapMs) : "" }];
  });
  return pauses.map(({ at, id, words }) => (
    <span
      key={id}
      aria-hidden
      className="absolute bottom-0 h-full border-l border-dashed border-edge/60 text-xs whitespace-nowrap text-faint"
      style={{ left: `${at}%` }}
    >
      <span className="absolute bottom-full -translate-x-1/2 text-[10px] leading-3">{words}</span>
    </span>
  ));
}

function Cross({ point }: { point: Point }) {
  return (
    <span aria-hidden className="no-print absolute inset-y-0 w-px bg-ink/40" style={{ left: `${point.at}%` }}>
      <span
        className="absolute size-1.5 -translate-x-[3px] -translate-y-1/2 rounded-full bg-ink"
        style={{ top: `${point.y}%` }}
      />
    </span>
  );
}

function Told({ point: { activity } }: { point: Point }) {
  return (
    <span className="truncate text-soft">
      {fullTime.format(new Date(activity.occurred_at))} · {typeWords(activity.type)} · score {activity.score}
    </span>
  );
}

function Ends({ points, hasEvidence }: { points: readonly Point[]; hasEvidence: boolean }) {
  const at = (point: Point | undefined) => (point ? fullTime.format(new Date(point.activity.occurred_at)) : "");
  return (
    <>
      <span>{at(points[0])}</span>
      {hasEvidence && (
        <span className="inline-flex items-center gap-1.5">
          <span aria-hidden className="size-2 rotate-45 rounded-[1px] bg-bad" /> evidence
        </span>
      )}
      <span>{at(points.at(-1))}</span>
    </>
  );
}
