import { expect } from "vitest";
import type { Case } from "@casehound/client";
import { statement } from "../src/db/postgres/sql.ts";
import type { DueTimes } from "../src/domain/due.ts";
import { announceOverdue } from "../src/engine/overdue.ts";
import type { TestTenant } from "./harness.ts";

const always = { days: [1, 2, 3, 4, 5, 6, 7], start: "00:00", end: "24:00" };

// Every hour is a working hour unless the test says otherwise.
export async function setDue(tenant: TestTenant, times: Partial<DueTimes>): Promise<DueTimes> {
  const found = (await tenant.call("GET", "/due-times")).json.data as DueTimes;
  const answer = await tenant.call("PUT", "/due-times", { body: { ...found, ...always, ...times } });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

// Moves the due time of a case to the past, in the column and in the document.
export async function makeLate(tenant: TestTenant, { case_id, due_at = "" }: Case, minutes = 5): Promise<string> {
  const past = new Date(Date.now() - minutes * 60_000).toISOString();
  const text = `update cases set due_at = $3::timestamptz, document = replace(document, $4, $5) where tenant_id = $1 and case_id = $2`;
  await tenant.service.database.query(statement(text, [tenant.tenantId, case_id, past, due_at, past]));
  return past;
}

export function announce(tenant: TestTenant): Promise<number> {
  const clock = { now: () => new Date().toISOString() };
  return announceOverdue({ database: tenant.service.database, clock }, tenant.tenantId);
}
