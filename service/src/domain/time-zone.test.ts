import { expect, test } from "vitest";
import { isTimeZone, localTime } from "./time-zone.ts";

test.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kolkata"])("isTimeZone: %s is a time zone", (name) => {
  expect(isTimeZone(name)).toBe(true);
});

test.each(["", "+02:00", "-08:00", "Berlin", "Europe/Nowhere", "UTC; drop table", "../etc"])(
  "isTimeZone: %s is not a time zone",
  (name) => {
    expect(isTimeZone(name)).toBe(false);
  },
);

test("localTime: hours and weekends follow the zone and its daylight saving time", () => {
  const fridayNight = Date.UTC(2026, 6, 3, 22, 30);
  expect(localTime(fridayNight, "UTC")).toEqual({ hour: 22, isWeekend: false });
  expect(localTime(fridayNight, "Europe/Berlin")).toEqual({ hour: 0, isWeekend: true });
  expect(localTime(Date.UTC(2026, 0, 4, 22, 30), "Europe/Berlin")).toEqual({ hour: 23, isWeekend: true });
  expect(localTime(Date.UTC(2026, 0, 5, 3, 30), "America/New_York")).toEqual({ hour: 22, isWeekend: true });
});

test("localTime: the time of one moment is not used for another, nor that of one zone for another", () => {
  const evening = Date.UTC(2026, 6, 3, 18, 10);
  expect(localTime(evening, "Asia/Kathmandu")).toEqual({ hour: 23, isWeekend: false });
  expect(localTime(evening + 10 * 60_000, "Asia/Kathmandu")).toEqual({ hour: 0, isWeekend: true });
  expect(localTime(evening + 10 * 60_000, "UTC")).toEqual({ hour: 18, isWeekend: false });
});
