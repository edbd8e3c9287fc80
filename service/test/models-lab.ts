import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { clock } from "../src/clock.ts";
import { makePartition } from "../src/db/activities.ts";
import type { Database } from "../src/db/postgres/database.ts";
import { statement } from "../src/db/postgres/sql.ts";
import type { Model, Tree } from "../src/detection/model/trees.ts";
import { findPlace } from "../src/detection/vector.ts";
import type { Activity } from "../src/domain/activity.ts";
import type { StoredDecision } from "../src/domain/decision.ts";
import type { Figures } from "../src/domain/model.ts";
import type { Moment } from "../src/domain/label.ts";
import { detectBatch, type Detector } from "../src/engine/detect.ts";
import { newDetector, type TestTenant } from "./harness.ts";
import { storeModel } from "./stored-model.ts";

export const noFigures: Figures = { trees: 1, rows: 2, frauds: 1, offset: 0, held_out: null };

const leaf = (value: number): Tree => ({ value, cover: 10 });

// A model of one tree, which adds `high` to amounts above the limit and `low` to all others.
export function amountModel({ limit = 100, low = -1, high = 5 } = {}): Model {
  const field = findPlace("event.value")?.code ?? "";
  const tree: Tree = { field, threshold: limit, missing: "left", left: leaf(low), right: leaf(high) };
  return { prior: { a: 0, b: 1 }, trees: [tree], trained: { rows: 2, frauds: 1, seed: 1 } };
}

type Inserted = { model?: Model; moment?: Moment; state?: "CHAMPION" | "CHALLENGER" | "RETIRED"; figures?: Figures; at?: string };

type Place = { tenantId: string; service: { database: Database } };

// Stores a model as training does. Returns its id.
export function insertTestModel(tenant: Place, given: Inserted = {}): Promise<string> {
  const { model = amountModel(), moment = "value", state = "CHAMPION", figures = noFigures, at = clock.now() } = given;
  return storeModel(tenant.service.database, tenant.tenantId, { model, moment, state, figures, at });
}

export function paymentOf(amount: number, more: Partial<Activity> = {}): Activity {
  return {
    activity_id: randomUUID(),
    type: "payment",
    occurred_at: new Date(Date.now() - 60_000).toISOString(),
    website_account_id: `account-${randomUUID()}`,
    attributes: { amount },
    ...more,
  };
}

// Sends activity as a server does, and scores it here.
export async function sendScored(tenant: TestTenant, activities: Activity[], detector?: Detector): Promise<void> {
  const { database } = tenant.service;
  await database.transaction((tx) => makePartition(tx, new Date().toISOString().slice(0, 10)));
  const answer = await tenant.call("POST", "/activities", { body: { activities } });
  expect(answer.status, answer.text).toBe(202);
  for (let scored = 1; scored > 0;) scored = (await detectBatch(detector ?? newDetector(database), tenant.tenantId))?.scored ?? 1;
}

export type DecidedRow = { activity_id: string; score: number; prediction_id: string | null; decision: StoredDecision };

export async function decisionsOf(tenant: TestTenant): Promise<Map<string, DecidedRow>> {
  const text = "select activity_id, score, prediction_id, decision from activities where tenant_id = $1";
  const rows = await tenant.service.database.query<Omit<DecidedRow, "decision"> & { decision: string }>(
    statement(text, [tenant.tenantId]),
  );
  return new Map(rows.map((row) => [row.activity_id, { ...row, decision: JSON.parse(row.decision) as StoredDecision }]));
}
