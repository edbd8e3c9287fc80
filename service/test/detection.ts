import { randomUUID } from "node:crypto";
import { clock } from "../src/clock.ts";
import { makePartition } from "../src/db/activities.ts";
import { insertActivities, newActivity } from "../src/db/inbox.ts";
import type { Features } from "../src/detection/catalogue.ts";
import { unpack } from "../src/detection/vector.ts";
import type { Database } from "../src/db/postgres/database.ts";
import { statement } from "../src/db/postgres/sql.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import type { CaseDocument } from "../src/domain/case.ts";
import { detectBatch, type Detector } from "../src/engine/detect.ts";
import { createTenant } from "../src/tenancy.ts";
import { newDatabase, newDetector, openDatabase } from "./harness.ts";

export type Sent = Partial<RecordedActivity> & { type: string };

// This file has its own database, because engines of other files would score what is in the shared one.
let own: Promise<string> | null = null;

// A tenant with an engine that the test runs: activities are scored only when the test calls `score`.
export class DetectionTenant {
  readonly database: Database;
  readonly detector: Detector;
  readonly tenantId: string;

  private constructor(database: Database, tenantId: string, more: Partial<Detector>) {
    this.database = database;
    this.detector = newDetector(database, more);
    this.tenantId = tenantId;
  }

  static async create(more: Partial<Detector> = {}): Promise<DetectionTenant> {
    own ??= newDatabase();
    const database = openDatabase(await own);
    const { tenant_id } = await createTenant(database, { slug: `t-${randomUUID()}` }, clock);
    for (const days of [-1, 0, 1]) {
      const day = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
      await database.transaction((tx) => makePartition(tx, day));
    }
    return new DetectionTenant(database, tenant_id, more);
  }

  async send(...sent: Sent[]): Promise<void> {
    const received_at = new Date().toISOString();
    const activities = sent.map((each): RecordedActivity => ({
      activity_id: randomUUID(),
      origin: "server",
      received_at,
      occurred_at: received_at,
      ...each,
    }));
    await this.database.transaction((tx) => insertActivities(tx, this.tenantId, activities.map(newActivity)));
  }

  async score(): Promise<number> {
    let scored = 0;
    for (;;) {
      const pass = await detectBatch(this.detector, this.tenantId);
      if (!pass || pass.scored === 0) return scored;
      scored += pass.scored;
    }
  }

  async cases(): Promise<(CaseDocument & { subject: string })[]> {
    const text = "select document, subject from cases where tenant_id = $1 order by case_id";
    const rows = await this.database.query<{ document: string; subject: string }>(statement(text, [this.tenantId]));
    return rows.map((row) => ({ ...JSON.parse(row.document), subject: row.subject }));
  }

  // Returns the rules that fired on each scored activity, by its id.
  async decisions(): Promise<Map<string, { rules: string[]; shadow: string[]; features: Features; score: number }>> {
    const text = "select activity_id, score, decision from activities where tenant_id = $1";
    const rows = await this.database.query<{ activity_id: string; score: number; decision: string }>(
      statement(text, [this.tenantId]),
    );
    return new Map(
      rows.map(({ activity_id, score, decision }) => {
        const { r = {}, s = {}, f } = JSON.parse(decision);
        return [activity_id, { rules: Object.keys(r), shadow: Object.keys(s), features: unpack(f), score }];
      }),
    );
  }

  async end(): Promise<void> {
    await this.database.end();
  }
}
