import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { RecordedActivity } from "../src/domain/activity.ts";
import type { MetricPoint } from "../src/domain/metric.ts";
import { tallyBatch } from "../src/engine/tally.ts";
import type { Answer, TestTenant } from "./harness.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
// The default time of receipt for all events of a file.
export const now = Date.now();
export const today = now - (now % dayMs);
export const iso = (at: number) => new Date(at).toISOString();
export const between = (from: number, to: number) => ({ start_date: iso(from), end_date: iso(to) });

export type Point = Required<MetricPoint>;
export type Event = Partial<RecordedActivity> & { at: number };

function activityOf({ at, ...more }: Event): RecordedActivity {
  const made = { activity_id: randomUUID(), type: "page_view", origin: "server" as const, received_at: iso(now) };
  return { ...made, occurred_at: iso(at), ...more };
}

// Counts as the engine does for one batch.
export async function count(
  tenant: TestTenant,
  events: Event[],
  started: ReadonlyMap<string, string> = new Map<string, string>(),
): Promise<void> {
  const batch = { activities: events.map(activityOf), startedSessions: started };
  await tenant.service.database.transaction((tx) => tallyBatch(tx, tenant.tenantId, batch));
}

export function ask(tenant: TestTenant, query: Record<string, string>): Promise<Answer> {
  return tenant.call("GET", `/metrics?${new URLSearchParams(query).toString()}`);
}

export async function read(tenant: TestTenant, query: Record<string, string>): Promise<Point[]> {
  const answer = await ask(tenant, query);
  expect(answer.status, answer.text).toBe(200);
  return (answer.json.data as { metrics: Point[] }).metrics;
}
