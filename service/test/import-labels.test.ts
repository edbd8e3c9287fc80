import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { makePartition } from "../src/db/activities.ts";
import type { Activity } from "../src/domain/activity.ts";
import type { HistoryReport, PastActivity } from "../src/domain/history.ts";
import { TestTenant } from "./harness.ts";
import { daysAgo, importAll, pastOf, scoreHistory } from "./import-lab.ts";
import { listed, scoreAll } from "./labels-lab.ts";
import { useOwnService } from "./process.ts";
import { labelAs } from "./training-lab.ts";

// No engine runs here: nothing is scored unless a test scores it.
const service = useOwnService({ roles: new Set(["api"]) });
const newTenant = () => TestTenant.create(service.current);
const paymentOf = (occurred_at: string, more: Partial<PastActivity> = {}) =>
  pastOf({ type: "payment", occurred_at, amount: 20, currency: "EUR", ...more });
const ofCase = (activity_id: string, y: 0 | 1) => ({ activity_id, y, source: "case" as const, case_id: randomUUID() });

test("import: a live activity that is not scored yet cannot be labelled, which the response says", async () => {
  const tenant = await newTenant();
  const live: Activity = { ...paymentOf(clock.now()) };
  expect((await tenant.call("POST", "/activities", { body: { activities: [live] } })).status).toBe(202);
  const known = { ...live, fraudulent: true };
  expect(await importAll(tenant, [known, paymentOf(daysAgo(2))])).toMatchObject({ accepted: 1, duplicates: 1, unlabelled: 1 });
  expect(await listed(tenant)).toEqual([]);
  await service.current.database.transaction((tx) => makePartition(tx, clock.now().slice(0, 10)));
  await scoreAll(tenant);
  expect(await importAll(tenant, [known])).toMatchObject({ accepted: 0, duplicates: 1, unlabelled: 0 });
  expect(await listed(tenant)).toMatchObject([{ activity_id: live.activity_id, source: "api", fraudulent: true }]);
});

test("GET imports report 200: if a file and an investigator disagree about a fraud, the investigator decides", async () => {
  const tenant = await newTenant();
  const frauds = [1, 2, 3].map((day) => paymentOf(daysAgo(day), { fraudulent: true }));
  await importAll(tenant, frauds);
  await scoreHistory(tenant);
  const [cleared = "", confirmed = ""] = frauds.map(({ activity_id }) => activity_id);
  await labelAs(tenant, [ofCase(cleared, 0), ofCase(confirmed, 0), ofCase(confirmed, 1)]);
  const { moments }: HistoryReport = (await tenant.call("GET", "/imports/report")).json.data;
  expect(moments["value"]).toEqual({ frauds: 2, found: 0 });
});
