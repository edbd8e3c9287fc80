import { expect, test } from "vitest";
import { nextMailAt } from "./mail-times.ts";

const week = { days: [1, 2, 3, 4, 5], daysOff: ["2026-12-25"], zone: "Europe/Berlin" };

test.each([
  ["later on the same day", "2026-11-18T07:00:00.000Z", "2026-11-18T08:00:00.000Z"],
  ["on the next day if the hour has passed", "2026-11-18T08:00:00.000Z", "2026-11-19T08:00:00.000Z"],
  ["after the weekend", "2026-11-20T12:00:00.000Z", "2026-11-23T08:00:00.000Z"],
  ["after a day off and the weekend", "2026-12-24T12:00:00.000Z", "2026-12-28T08:00:00.000Z"],
  ["at the same hour on the wall in summer", "2026-06-10T12:00:00.000Z", "2026-06-11T07:00:00.000Z"],
])("daily: the next mail is %s", (_when, now, next) => {
  expect(nextMailAt({ pace: "daily", hour: 9 }, now, week)).toBe(next);
});

test("hourly and at once: the next full hour of a working day, and five minutes later", () => {
  expect(nextMailAt({ pace: "hourly", hour: 0 }, "2026-11-18T07:10:00.000Z", week)).toBe("2026-11-18T08:00:00.000Z");
  expect(nextMailAt({ pace: "hourly", hour: 0 }, "2026-11-20T22:10:00.000Z", week)).toBe("2026-11-22T23:00:00.000Z");
  expect(nextMailAt({ pace: "at_once", hour: 0 }, "2026-11-20T22:10:00.000Z", week)).toBe("2026-11-20T22:15:00.000Z");
});
