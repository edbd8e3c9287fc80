import { expect, onTestFinished, test } from "vitest";
import { sql } from "../service/src/db/postgres/sql.ts";
import { runTaught, knownAfterDays } from "./detection-learning.ts";
import { lessonsText } from "./detection-lesson-table.ts";
import { measure } from "./detection-measure.ts";
import { SimulatedService } from "./detection-service.ts";
import { attackedPeriod, dayMs, periodOf } from "./detection-shop.ts";

test("bench labels: a shop learns of a fraud a week later, trains each moment on it, and is measured on later attacks", async () => {
  const period = attackedPeriod(periodOf({ days: 1, historyDays: 12 }));
  const service = await SimulatedService.start(period);
  onTestFinished(() => service.stop());
  const shop = { seed: "test", users: 10, kind: "server", period, onProgress: () => {} } as const;
  const taught = await runTaught(service, shop);
  const [labels] = await service.inside.database.query<{ labels: number; days: number }>(sql`
    select count(*) as labels, min(extract(epoch from known_at - event_at))::float8 / 86400 as days
    from labels
    where source = 'api' and y = 1`);
  expect(labels?.labels).toBe(taught.labels);
  expect(labels?.labels).toBeGreaterThan(0);
  expect(labels?.days).toBeGreaterThanOrEqual(knownAfterDays);
  expect(taught.lessons.map(({ moment }) => moment)).toEqual(["entry", "signup", "value"]);
  const endings = taught.lessons.map(({ run }) => ("reason" in run ? run.reason : run.model.state));
  expect(endings.filter((ending) => !/CHAMPION|known frauds/.test(ending))).toEqual([]);
  const offMs = taught.lessons.map(({ atMs }) => Math.abs(atMs - period.measuredMs));
  expect(Math.max(...offMs)).toBeLessThan(dayMs / 4);
  const text = lessonsText(taught.lessons, taught.labels);
  expect(text).not.toContain("NaN");
  const measured = measure({ ...taught, measuredMs: period.measuredMs });
  expect(measured.attacks.length).toBeGreaterThan(0);
  expect(measured.attacks.every(({ firstMs }) => firstMs >= period.measuredMs)).toBe(true);
  expect(taught.truths.some(({ kind, first_ms }) => kind !== "genuine" && first_ms < period.measuredMs)).toBe(true);
}, 600_000);
