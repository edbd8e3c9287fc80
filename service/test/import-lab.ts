import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { makePartition } from "../src/db/activities.ts";
import { statement } from "../src/db/postgres/sql.ts";
import type { Features } from "../src/detection/catalogue.ts";
import { unpack } from "../src/detection/vector.ts";
import type { HistoryBatchResult, HistoryStatus, PastActivity } from "../src/domain/history.ts";
import { workHistory } from "../src/engine/history.ts";
import { newDetector, type Answer, type TestTenant } from "./harness.ts";

const dayMs = 24 * 60 * 60 * 1000;
const beganMs = Date.now();

// Noon UTC of a past day and some minutes: 1 is yesterday.
export function daysAgo(days: number, minutes = 0): string {
  const noon = Date.parse(`${new Date(beganMs - days * dayMs).toISOString().slice(0, 10)}T12:00:00.000Z`);
  return new Date(noon + minutes * 60_000).toISOString();
}

export function pastOf(more: Partial<PastActivity> & { type: string; occurred_at: string }): PastActivity {
  return { activity_id: randomUUID(), website_account_id: "ann", ...more };
}

export async function importAll(tenant: TestTenant, activities: PastActivity[]): Promise<HistoryBatchResult> {
  const answer: Answer = await tenant.call("POST", "/imports", { body: { activities } });
  expect(answer.status, answer.text).toBe(202);
  return answer.json.data;
}

export async function statusOf(tenant: TestTenant): Promise<HistoryStatus> {
  return (await tenant.call("GET", "/imports")).json.data;
}

// Starts the import and scores it here, as an engine does.
export async function scoreHistory(tenant: TestTenant): Promise<number> {
  const { database } = tenant.service;
  await database.transaction((tx) => makePartition(tx, new Date().toISOString().slice(0, 10)));
  expect((await tenant.call("POST", "/imports/start")).status).toBe(202);
  let scored = 0;
  while ((await statusOf(tenant)).is_running) scored += (await workHistory(newDetector(database), tenant.tenantId))?.scored ?? 0;
  return scored;
}

export type PastDecision = { score: number; rules: string[]; features: Features; case_id: string | null };

export async function decidedOf({ service, tenantId }: TestTenant): Promise<Map<string, PastDecision>> {
  const text = "select activity_id, score, case_id, decision from activities where tenant_id = $1";
  const rows = await service.database.query<{ activity_id: string; score: number; case_id: string | null; decision: string }>(
    statement(text, [tenantId]),
  );
  return new Map(
    rows.map(({ activity_id, score, case_id, decision }) => {
      const { r = {}, f } = JSON.parse(decision);
      return [activity_id, { score, rules: Object.keys(r), features: unpack(f), case_id }];
    }),
  );
}

export async function countRows({ service, tenantId }: TestTenant, table: string): Promise<number> {
  const text = `select count(*) as count from ${table} where tenant_id = $1`;
  const [row] = await service.database.query<{ count: number }>(statement(text, [tenantId]));
  return row?.count ?? NaN;
}
