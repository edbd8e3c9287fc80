import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { makePartition } from "../src/db/activities.ts";
import { statement } from "../src/db/postgres/sql.ts";
import type { Activity } from "../src/domain/activity.ts";
import type { Label, LabelBatchResult, NewLabel } from "../src/domain/label.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { applyLabels, type Applied } from "../src/engine/labels.ts";
import { clock } from "../src/clock.ts";
import { newDetector, type TestTenant } from "./harness.ts";

// Tests of labels run the engine themselves, so nothing has to be waited for.
export function paymentOf(more: Partial<Activity> = {}): Activity {
  return {
    activity_id: randomUUID(),
    type: "payment",
    occurred_at: new Date(Date.now() - 60_000).toISOString(),
    website_account_id: `account-${randomUUID()}`,
    ...more,
  };
}

// Sends activity as a server does, and scores it.
export async function sendScored(tenant: TestTenant, activities: Activity[]): Promise<void> {
  const { database } = tenant.service;
  await database.transaction((tx) => makePartition(tx, new Date().toISOString().slice(0, 10)));
  const answer = await tenant.call("POST", "/activities", { body: { activities } });
  expect(answer.status, answer.text).toBe(202);
  await scoreAll(tenant);
}

export async function scoreAll(tenant: TestTenant): Promise<void> {
  for (let scored = 1; scored > 0;)
    scored = (await detectBatch(newDetector(tenant.service.database), tenant.tenantId))?.scored ?? 1;
}

export async function label(tenant: TestTenant, labels: NewLabel[]): Promise<LabelBatchResult> {
  const answer = await tenant.call("POST", "/labels", { body: { labels } });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

export async function listed(tenant: TestTenant, query = ""): Promise<Label[]> {
  const answer = await tenant.call("GET", `/labels?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as { labels: Label[] }).labels;
}

// Makes labels from outcomes, and counts them.
export async function apply(tenant: TestTenant): Promise<Applied | null> {
  return applyLabels({ database: tenant.service.database, clock }, tenant.tenantId);
}

export async function rowsOf(tenant: TestTenant): Promise<Record<string, unknown>[]> {
  const text = "select source, case_id, y, applied_y, weight from labels where tenant_id = $1 order by source, id_key, case_id";
  return tenant.service.database.query(statement(text, [tenant.tenantId]));
}
