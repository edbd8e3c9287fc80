import { expect, test } from "vitest";
import { isTimeZone, localTime } from "./time-zone.ts";

test.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kolkata"])("isTimeZone: %s is one", (name) => {
  expect(isTimeZone(name)).toBe(true);
});

test.each(["", "+02:00", "-08:00", "Berlin", "Europe/Nowhere", "UTC; drop table", "../etc"])("isTimeZone: %s is none", (name) => {
  expect(isTimeZone(name)).toBe(false);
});

test("localTime: hours and weekends follow the zone and its summer time", () => {
  const fridayNight = Date.UTC(2026, 6, 3, 22, 30);
  expect(localTime(fridayNight, "UTC")).toEqual({ hour: 22, isWeekend: false });
  expect(localTime(fridayNight, "Europe/Berlin")).toEqual({ hour: 0, isWeekend: true });
  expect(localTime(Date.UTC(2026, 0, 4, 22, 30), "Europe/Berlin")).toEqual({ hour: 23, isWeekend: true });
  expect(localTime(Date.UTC(2026, 0, 5, 3, 30), "America/New_York")).toEqual({ hour: 22, isWeekend: true });
});
