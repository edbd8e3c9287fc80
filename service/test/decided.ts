import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { appendScored, makePartition } from "../src/db/activities.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { saveLinks } from "../src/db/links.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { saveSessions } from "../src/db/states.ts";
import type { Features } from "../src/detection/catalogue.ts";
import { contextOf, packed } from "../src/detection/vector.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import type { StoredDecision } from "../src/domain/decision.ts";
import type { RuleChange, RuleVersion } from "../src/domain/rule.ts";
import type { Answer, TestTenant } from "./harness.ts";

export type NamedDecision = Omit<StoredDecision, "f"> & { f?: Features };

// A decision in the form the engine stores, inserted by the test.
export type Decided = Partial<RecordedActivity> & {
  score?: number;
  decision?: NamedDecision;
  prediction_id?: string;
  case_id?: string;
  isImported?: boolean;
};

export async function insertDecided(tenant: TestTenant, decided: Decided[]): Promise<void> {
  const { database } = tenant.service;
  const rows = decided.map(({ score = 1, decision = {}, prediction_id = null, case_id = null, isImported = false, ...more }) => {
    const received_at = more.received_at ?? new Date(Date.now() - 60_000).toISOString();
    const activity: RecordedActivity = {
      activity_id: randomUUID(),
      type: "page_view",
      origin: "server",
      occurred_at: received_at,
      ...more,
      received_at,
    };
    const text = decisionText(decision);
    const stored = { score, prediction_id, case_id, decision: text, isImported };
    return { id_key: randomUUID(), activity, ip: activity.ip ?? null, ...stored };
  });
  for (const day of new Set(rows.map(({ activity }) => activity.received_at.slice(0, 10)))) {
    await database.transaction((tx) => makePartition(tx, day));
  }
  await database.transaction((tx) => appendScored(tx, tenant.tenantId, rows));
}

// Features are given by name and stored by code.
export function decisionText({ f, ...rest }: NamedDecision): string {
  return JSON.stringify({ ...rest, ...(f && { f: packed(contextOf(f, {})) }) });
}

// Noon UTC of a past day: 1 is yesterday.
export function noonBefore(days: number): string {
  return `${dayBefore(days)}T12:00:00.000Z`;
}

export function dayBefore(days: number): string {
  return new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}

export async function selectAll(database: Queryable, text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  return database.query(statement(text, values));
}

export const draftRule: RuleChange = {
  name: "Many accounts on one device",
  expression: "device.accounts_1h >= 8",
  sentence: "{device.accounts_1h} accounts on one device within an hour.",
  label: "Bot",
  weight: 3,
  about: "account",
  state: "on",
  rule_version: 0,
};

export function putRule(tenant: TestTenant, id: string, change: Partial<RuleChange> = {}): Promise<Answer> {
  return tenant.call("PUT", `/rules/${id}`, { body: { ...draftRule, ...change } });
}

export async function makeRule(tenant: TestTenant, id: string, change: Partial<RuleChange> = {}): Promise<RuleVersion> {
  const answer = await putRule(tenant, id, change);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

// Creates a session without an account, and links of another account to a device and an address.
export async function makeTraces(tenant: TestTenant): Promise<Record<"session_id" | "device_id" | "ip", string>> {
  const at = new Date().toISOString();
  const [session_id, device_id, ip] = [randomUUID(), randomUUID(), randomUUID()];
  const seen = { a: `account-${randomUUID()}`, first_seen: at, last_seen: at };
  await tenant.service.database.transaction(async (tx) => {
    const session = { session_id, website_account_id: null, device_id, started_at: at, last_at: at, facts: "{}" };
    await saveSessions(tx, tenant.tenantId, [session]);
    await saveLinks(tx, tenant.tenantId, [
      { ...seen, kind: "account-device", b: device_id },
      { ...seen, kind: "account-ip", b: ip },
    ]);
  });
  return { session_id, device_id, ip };
}
