import { Link } from "@tanstack/react-router";
import { useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { roundUp, type Cell, type Chart } from "./chart.ts";

// How far each key moves: along the time axis, or to another series on the same day.
function stepOf(key: string, series: number): number {
  const steps: Record<string, number> = { ArrowRight: series, ArrowLeft: -series, ArrowUp: 1, ArrowDown: -1 };
  return steps[key] ?? 0;
}

const ticksMax = 7;

// Bars over time. Each bar is a link. There can be two hundred of them, so together they are one tab stop.
export function ColumnChart({ chart, height = "h-44" }: { chart: Chart; height?: string }) {
  const { rows, series } = chart;
  const [at, setAt] = useState(rows.length * series.length - 1);
  const [pointed, setPointed] = useState<Cell | null>(null);
  const bars = useRef<HTMLDivElement>(null);
  const highest = roundUp(Math.max(0, ...rows.flatMap((row) => row.cells.map((cell) => cell.value))));
  const current = Math.min(at, rows.length * series.length - 1);

  function press(event: KeyboardEvent): void {
    const step = stepOf(event.key, series.length);
    const links = [...(bars.current?.querySelectorAll("a") ?? [])];
    const next =
      event.key === "Home" ? links[0] : event.key === "End" ? links.at(-1) : step === 0 ? undefined : links[current + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  return (
    <div>
      <div className="mb-2 flex min-h-5 flex-wrap items-center gap-x-4 text-xs text-soft">
        {series.length > 1 &&
          series.map(({ name, look }) => (
            <span key={name} className="inline-flex items-center gap-1.5">
              <span className={`size-2.5 rounded-sm ${look}`} aria-hidden />
              {name}
            </span>
          ))}
        <span className="ml-auto font-medium text-ink" aria-hidden>
          {pointed?.words}
        </span>
      </div>
      <div className={`relative ml-9 ${height}`}>
        <Scale highest={highest} />
        <div
          ref={bars}
          role="group"
          aria-label={`${chart.title}. Arrow keys move between bars. Enter opens the cases.`}
          className="absolute inset-0 flex items-stretch"
          onKeyDown={press}
          onMouseLeave={() => setPointed(null)}
        >
          {rows.map((row, index) => (
            <div key={row.key} className="flex min-w-0 flex-1 items-stretch px-px hover:bg-hover">
              {row.cells.map((cell, within) => (
                <Bar
                  key={cell.words}
                  cell={cell}
                  share={cell.value / highest}
                  look={series[within]?.look ?? ""}
                  isCurrent={current === index * series.length + within}
                  onFocus={() => {
                    setAt(index * series.length + within);
                    setPointed(cell);
                  }}
                  onPoint={() => setPointed(cell)}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
      <Ticks names={rows.map((row) => row.name)} />
    </div>
  );
}

type BarProps = { cell: Cell; share: number; look: string; isCurrent: boolean; onFocus: () => void; onPoint: () => void };

function Bar({ cell, share, look, isCurrent, onFocus, onPoint }: BarProps) {
  return (
    <Link
      to="/"
      search={cell.leadsTo}
      aria-label={cell.words}
      tabIndex={isCurrent ? 0 : -1}
      className="flex min-w-0 flex-1 items-end"
      onFocus={onFocus}
      onMouseEnter={onPoint}
    >
      <span
        className={`mx-auto w-[86%] max-w-6 rounded-t-[2px] ${look} ${cell.value > 0 ? "min-h-0.5" : ""}`}
        style={{ height: `${share * 100}%` }}
      />
    </Link>
  );
}

function Scale({ highest }: { highest: number }) {
  return [1, 0.5, 0].map((share) => (
    <div key={share} aria-hidden className="absolute inset-x-0 border-t border-line" style={{ bottom: `${share * 100}%` }}>
      <span className="absolute right-full -translate-y-1/2 pr-2 text-xs whitespace-nowrap text-faint">
        {short.format(highest * share)}
      </span>
    </div>
  ));
}

const short = new Intl.NumberFormat(undefined, { notation: "compact" });

const gapPx = 8;

// Hides labels that would touch. It goes from right to left, because the latest label must stay.
function leaveOut(place: HTMLElement): void {
  let edge = Infinity;
  for (const label of [...place.querySelectorAll("span")].toReversed()) {
    const { left, right } = label.getBoundingClientRect();
    const hasRoom = right + gapPx <= edge;
    label.style.visibility = hasRoom ? "" : "hidden";
    if (hasRoom) edge = left;
  }
}

function Ticks({ names }: { names: string[] }) {
  const every = Math.ceil(names.length / ticksMax);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    leaveOut(element);
    const watch = new ResizeObserver(() => leaveOut(element));
    watch.observe(element);
    return () => watch.disconnect();
  }, [names.length]);
  return (
    <div ref={place} className="relative mt-1.5 ml-9 h-4 text-xs text-faint" aria-hidden>
      {names.map((name, index) =>
        (names.length - 1 - index) % every === 0 ? (
          <span
            key={name}
            className={`absolute whitespace-nowrap ${index === names.length - 1 ? "-translate-x-full" : "-translate-x-1/2"}`}
            style={{ left: index === names.length - 1 ? "100%" : `${((index + 0.5) / names.length) * 100}%` }}
          >
            {name.split(" to ")[0]}
          </span>
        ) : null,
      )}
    </div>
  );
}
