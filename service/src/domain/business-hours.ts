// Adds working time in a time zone. Pure: the rules of the zones come from the runtime's own data.

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

// `days` are 1 (Monday) to 7 (Sunday). `daysOff` are dates such as 2026-12-25. The times are minutes after midnight, by the
// wall clock.
export type WorkingHours = { days: readonly number[]; daysOff: readonly string[]; startMinute: number; endMinute: number };

const formats = new Map<string, Intl.DateTimeFormat>();
const formatsMax = 200;

// Creating a format takes a thousand times as long as using it.
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const numeric = "numeric";
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  if (formats.size >= formatsMax) formats.clear();
  formats.set(timeZone, made);
  return made;
}

// What the wall clock shows, as if it were in UTC.
function wallTime(at: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
}

const instants = new Map<string, number>();
const instantsMax = 20_000;

// Cached: all cases share the beginnings and ends of working days, and a due time a year away needs hundreds of them.
function instantOf(wall: number, zone: string): number {
  const key = `${wall} ${zone}`;
  const known = instants.get(key);
  if (known !== undefined) return known;
  const found = findInstant(wall, zone);
  if (instants.size >= instantsMax) instants.clear();
  instants.set(key, found);
  return found;
}

// The instant at which the wall clock shows this time. If the clock shows it twice, the first one. If the clock skips it, the time
// is shifted by the length of the gap.
function findInstant(wall: number, zone: string): number {
  const offsets = [wall - dayMs, wall + dayMs].map((near) => wallTime(near, zone) - near);
  const candidates = offsets.map((offset) => wall - offset);
  return candidates.find((each) => wallTime(each, zone) === wall) ?? candidates[0] ?? wall;
}

// From 1 (Monday) to 7 (Sunday). 1 January 1970 was a Thursday.
const weekdayOf = (wallDay: number) => ((wallDay / dayMs + 3) % 7) + 1;

// The instant at which this much working time has passed since `from`. Days on which the clocks change count with their real length.
export function addWorkingTime(from: number, workMs: number, { hours, zone }: { hours: WorkingHours; zone: string }): number {
  // The day before, because its end may be moved over midnight.
  const firstDay = Math.floor(wallTime(from, zone) / dayMs) * dayMs - dayMs;
  const daysOff = new Set(hours.daysOff.map((date) => Date.parse(date)));
  let left = workMs;
  let last = from;
  for (let day = firstDay; left > 0; day += dayMs) {
    if (!hours.days.includes(weekdayOf(day)) || daysOff.has(day)) continue;
    const begin = Math.max(from, instantOf(day + hours.startMinute * minuteMs, zone));
    const end = instantOf(day + hours.endMinute * minuteMs, zone);
    const worked = Math.min(left, Math.max(0, end - begin));
    if (worked > 0) last = begin + worked;
    left -= worked;
  }
  return last;
}

const searchedDaysMax = 366;

// The first of these minutes of a working day that lies after `from`. A tenant without working days has none.
export function nextWorkingTime(
  from: number,
  minutes: readonly number[],
  { zone, ...week }: Pick<WorkingHours, "days" | "daysOff"> & { zone: string },
): number | null {
  const firstDay = Math.floor(wallTime(from, zone) / dayMs) * dayMs;
  for (let day = firstDay; day < firstDay + searchedDaysMax * dayMs; day += dayMs) {
    const date = new Date(day).toISOString().slice(0, 10);
    if (!week.days.includes(weekdayOf(day)) || week.daysOff.includes(date)) continue;
    const found = minutes.map((minute) => instantOf(day + minute * minuteMs, zone)).find((at) => at > from);
    if (found !== undefined) return found;
  }
  return null;
}
