const formatsMax = 200;
const formats = new Map<string, Intl.DateTimeFormat>();

// Whether this is the name of a zone, such as Europe/Berlin. An offset such as +02:00 is not a zone, because it ignores daylight
// saving time.
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

type LocalTime = { hour: number; isWeekend: boolean };

const quarterMs = 15 * 60 * 1000;
let latest: { zone: string; quarter: number; time: LocalTime } | null = null;

// Returns the hour of the day, 0 to 23, and whether it is Saturday or Sunday. Clocks differ from UTC by whole quarters of an
// hour, so payments within the same quarter of an hour share the result, which takes 6 µs to compute.
export function localTime(at: number, zone: string): LocalTime {
  const quarter = Math.floor(at / quarterMs);
  if (latest?.zone !== zone || latest.quarter !== quarter) latest = { zone, quarter, time: computeTime(at, zone) };
  return latest.time;
}

function computeTime(at: number, zone: string): LocalTime {
  const parts = formatOf(zone).formatToParts(at);
  const part = (wanted: string) => parts.find(({ type }) => type === wanted)?.value ?? "";
  return { hour: Number(part("hour")), isWeekend: ["Sat", "Sun"].includes(part("weekday")) };
}

// Creating a format takes a thousand times as long as using it.
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", hour: "numeric", weekday: "short" });
  if (formats.size >= formatsMax) formats.clear();
  formats.set(timeZone, made);
  return made;
}
