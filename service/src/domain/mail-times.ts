import { nextWorkingTime } from "./business-hours.ts";
import { atOnceMs, type Settings } from "./notification.ts";

type Week = { days: readonly number[]; daysOff: readonly string[]; zone: string };

const dayMs = 86_400_000;
const everyHour = Array.from({ length: 24 }, (_each, hour) => hour * 60);

// The earliest time of the next e-mail.
export function nextMailAt({ pace, hour }: Pick<Settings, "pace" | "hour">, now: string, week: Week): string {
  const from = Date.parse(now);
  if (pace === "at_once") return new Date(from + atOnceMs).toISOString();
  const minutes = pace === "hourly" ? everyHour : [hour * 60];
  return new Date(nextWorkingTime(from, minutes, week) ?? from + dayMs).toISOString();
}
