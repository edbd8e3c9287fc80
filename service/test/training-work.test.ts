import { expect, test } from "vitest";
import { statement } from "../src/db/postgres/sql.ts";
import { parseModel } from "../src/detection/model/format.ts";
import { trainMoment } from "../src/engine/training-work.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { insertPaid, jobFor, paymentsOf } from "./training-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("training_work"), roles: new Set(["api"]) });

test("training: the same stored data gives the same model, whatever the size of a batch, with figures from days that it was not trained on", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertPaid(tenant, paymentsOf({ count: 2000, fraudShare: 0.08 }));
  const { database } = service.current;
  const job = jobFor(tenant);
  const phases: string[] = [];
  const one = await trainMoment(database, { ...job, chunkRows: 700 }, ({ phase, percent }) => phases.push(`${phase} ${percent}`));
  const other = await trainMoment(database, { ...job, chunkRows: 2000 }, () => {});
  if ("reason" in one) throw new Error(one.reason);
  expect(other).toEqual(one);
  expect(phases[0]).toBe("reading 10");
  expect(new Set(phases.map((each) => each.split(" ")[0]))).toEqual(new Set(["reading", "measuring", "training"]));
  const { figures, text } = one;
  expect(parseModel(text).trees).toHaveLength(figures.trees);
  expect(figures.frauds).toBeGreaterThan(120);
  const { held_out: measured } = figures;
  expect(measured?.frauds).toBeGreaterThan(10);
  expect(measured?.model.average_precision).toBeGreaterThan(0.7);
  expect(measured?.before.average_precision).toBeLessThan(0.2);
  expect(measured?.calibration_error).toBeLessThan(0.03);
  // The rules found nothing, so the model gets one case a day.
  expect(measured?.model.cases_per_day).toBeGreaterThan(0.5);
  expect(measured?.model.cases_per_day).toBeLessThan(5);
});

test("training: a model that has learned nothing but chance opens no case by itself", async () => {
  const tenant = await TestTenant.create(service.current);
  // Every eleventh payment was a fraud, whatever it looked like.
  await insertPaid(
    tenant,
    paymentsOf({ count: 2000 }).map((each, index) => ({ ...each, isFraud: index % 11 === 0 })),
  );
  const trained = await trainMoment(service.current.database, jobFor(tenant), () => {});
  if ("reason" in trained) throw new Error(trained.reason);
  const { held_out: measured } = trained.figures;
  expect(measured?.frauds).toBeGreaterThan(10);
  expect(measured?.model.average_precision).toBeLessThan(0.2);
  expect(measured?.model.cases_per_day).toBe(0);
});

test("training: too few known frauds give no model and the reason", async () => {
  const tenant = await TestTenant.create(service.current);
  await insertPaid(tenant, paymentsOf({ count: 200, days: 20 }));
  const result = await trainMoment(service.current.database, jobFor(tenant), () => {});
  expect(result).toEqual({ reason: expect.stringMatching(/^A model needs at least 50 known frauds; there are \d+\.$/) });
});

test("training: a model can be trained on labels of three months that all arrived today", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database } = service.current;
  await insertPaid(tenant, paymentsOf({ count: 2000, days: 88, fraudShare: 0.15 }));
  const text = "update labels set known_at = now(), labelled_at = now() where tenant_id = $1";
  await database.query(statement(text, [tenant.tenantId]));
  expect(await trainMoment(database, jobFor(tenant), () => {})).toMatchObject({ figures: { held_out: null } });
});
