// Every time in the console has 24 hours. A full time names its zone. A time of day stands in a list that names the zone once.
const hours = { hourCycle: "h23" } as const;

export const fullTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", ...hours });
export const fullDay = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
export const timeOfDay = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  ...hours,
});
export const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  ...hours,
});

// For example "UTC" or "GMT+1". It depends on the date, because of summer time.
export function zoneName(at: Date = new Date()): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZoneName: "short" }).formatToParts(at);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}
