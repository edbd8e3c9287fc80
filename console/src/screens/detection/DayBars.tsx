import { figure } from "./Outcomes.tsx";

type Day = { day: string; hits: number; shadow: number };

const high = 64;
const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

// Hits by day. Screen readers see the bars as one image; the table below holds the same figures.
export function DayBars({
  days,
  names = { hits: "Hits", shadow: "In shadow" },
}: {
  days: Day[];
  names?: Record<"hits" | "shadow", string>;
}) {
  const most = Math.max(1, ...days.map((each) => each.hits + each.shadow));
  const hasShadow = days.some((each) => each.shadow > 0);
  const total = days.reduce((sum, each) => sum + each.hits + each.shadow, 0);
  const [first, last] = [days[0], days.at(-1)];
  return (
    <div>
      <div className="flex gap-2">
        <div className="flex w-9 shrink-0 flex-col justify-between text-right text-xs text-faint" aria-hidden>
          <span>{figure.format(most)}</span>
          <span>0</span>
        </div>
        <svg
          role="img"
          aria-label={`${total} hits in ${days.length} days, at most ${most} on one day`}
          viewBox={`0 0 ${days.length * 10} ${high}`}
          preserveAspectRatio="none"
          className="h-20 w-full min-w-0 flex-1 border-b border-l border-line"
        >
          {days.map(({ day, hits, shadow }, index) => {
            const [on, below] = [(hits / most) * high, (shadow / most) * high];
            return (
              <g key={day}>
                <title>{`${short.format(new Date(day))}: ${hits + shadow}`}</title>
                <rect x={index * 10} width="10" height={high} fill="transparent" />
                <rect x={index * 10 + 1.5} width="7" y={high - on} height={on} className="fill-accent" />
                <rect x={index * 10 + 1.5} width="7" y={high - on - below} height={below} className="fill-edge" />
              </g>
            );
          })}
        </svg>
      </div>
      <div className="mt-1 flex justify-between pl-11 text-xs text-faint" aria-hidden>
        <span>{first && short.format(new Date(first.day))}</span>
        {hasShadow && (
          <span className="flex gap-3">
            <Key name={names.hits} look="bg-accent" />
            <Key name={names.shadow} look="bg-edge" />
          </span>
        )}
        <span>{last && short.format(new Date(last.day))}</span>
      </div>
      <details className="mt-1 pl-11 text-xs">
        <summary className="w-fit text-soft hover:text-ink">As a table</summary>
        <DayTable days={days} names={names} hasShadow={hasShadow} />
      </details>
    </div>
  );
}

function Key({ name, look }: { name: string; look: string }) {
  return (
    <span className="inline-flex items-center gap-1">
      <span className={`size-2 rounded-sm ${look}`} />
      {name}
    </span>
  );
}

type TableProps = { days: Day[]; names: Record<"hits" | "shadow", string>; hasShadow: boolean };

function DayTable({ days, names, hasShadow }: TableProps) {
  return (
    <table className="mt-1 text-left">
      <thead>
        <tr className="text-faint">
          <th scope="col" className="pr-6 font-medium">
            Day (UTC)
          </th>
          <th scope="col" className="pr-6 text-right font-medium">
            {names.hits}
          </th>
          {hasShadow && (
            <th scope="col" className="text-right font-medium">
              {names.shadow}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map(({ day, hits, shadow }) => (
          <tr key={day}>
            <td className="pr-6">{day}</td>
            <td className="pr-6 text-right">{figure.format(hits)}</td>
            {hasShadow && <td className="text-right">{figure.format(shadow)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
