import type { Database } from "../src/db/postgres/database.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { saveLabels, type NewLabelRow } from "../src/db/labels.ts";
import { timeOf } from "../src/domain/activity.ts";
import { defaultThresholds } from "../src/domain/rule.ts";
import type { LabelledDecision } from "../src/detection/model/dataset.ts";
import type { TrainingJob } from "../src/engine/training-work.ts";
import { decisionText, insertDecided } from "./decided.ts";
import type { TestTenant } from "./harness.ts";
import { numbersFrom } from "./labelled-rows.ts";

export const dayMs = 24 * 60 * 60 * 1000;

export type Paid = LabelledDecision & { features: Record<string, number | boolean | string>; at: number };

// Payments over some days up to `asOf`. Frauds have large amounts and new devices, most of the time.
export function paymentsOf({ count = 3000, days = 40, fraudShare = 0.06, seed = 1, asOf = Date.now() } = {}): Paid[] {
  const next = numbersFrom(seed);
  return Array.from({ length: count }, (_, index) => {
    const at = asOf - ((count - index) / count) * days * dayMs;
    const isFraud = next() < fraudShare;
    const amount = Math.round((isFraud ? 200 + 500 * next() : 300 * next()) * 100) / 100;
    const isNew = next() < (isFraud ? 0.8 : 0.1);
    const features = {
      "event.type": "payment",
      "event.value": amount,
      "account.device_is_new": isNew,
      "ip.accounts_1h": index % 3,
    };
    const decision = decisionText({ v: 1, l: 0, f: features });
    const day = new Date(at).toISOString().slice(0, 10);
    const account = `a-${Math.floor(next() * count)}`;
    return { key: `k-${index}`, account, person: null, isFraud, weight: 1, day, decision, features, at };
  });
}

// Stores them with their decisions, and labels the frauds two days later.
export async function insertPaid(tenant: TestTenant, paid: Paid[]): Promise<void> {
  await insertDecided(
    tenant,
    paid.map(({ key, account, features, at }) => ({
      activity_id: key,
      type: "payment",
      received_at: new Date(at).toISOString(),
      ...(account !== null && { website_account_id: account }),
      decision: { v: 1, l: 0, f: features },
    })),
  );
  await labelPaid(tenant, paid);
}

export async function labelPaid(tenant: TestTenant, paid: Paid[]): Promise<void> {
  const frauds = paid.filter(({ isFraud }) => isFraud);
  await labelAs(
    tenant,
    frauds.map(({ key, at }) => ({ activity_id: key, y: 1, known_at: new Date(at + 2 * dayMs).toISOString() })),
  );
}

// Anything that has a database and a tenant.
type Labelled = { tenantId: string; service: { database: Database } };
type Said = Partial<Pick<NewLabelRow, "source" | "actor" | "case_id" | "weight" | "known_at">> & {
  activity_id: string;
  y: 0 | 1;
};

// Labels stored activities.
export async function labelAs(tenant: Labelled, said: Said[]): Promise<void> {
  const { database } = tenant.service;
  const text = "select id_key, received_at, occurred_at, activity_id from activities where tenant_id = $1";
  type Stored = { id_key: string; received_at: string; occurred_at: string; activity_id: string };
  const rows = await database.query<Stored>(statement(text, [tenant.tenantId]));
  const stored = new Map(rows.map((row) => [row.activity_id, row]));
  const labels = said.flatMap(({ activity_id, y, ...more }): NewLabelRow[] => {
    const activity = stored.get(activity_id);
    if (!activity) return [];
    const event_at = new Date(timeOf(activity)).toISOString();
    const known_at = more.known_at ?? event_at;
    const of = { weight: 1, event_at, labelled_at: known_at, known_at, case_id: null, case_version: null, actor: "shop" };
    return [{ activity, source: "api", y, ...of, ...more }];
  });
  await database.transaction((tx) => saveLabels(tx, tenant.tenantId, labels));
}

export function jobFor(tenant: TestTenant, more: Partial<TrainingJob> = {}): TrainingJob {
  const asOf = new Date().toISOString();
  return { tenantId: tenant.tenantId, moment: "value", asOf, thresholds: defaultThresholds, released: [], ...more };
}
