import { randomUUID } from "node:crypto";
import type { Database } from "../src/db/postgres/database.ts";
import { insertSnoozes } from "../src/db/snoozes.ts";

// Makes a rule quiet about an account. The case does not have to exist.
export async function storeSnooze(database: Database, tenantId: string, account: string): Promise<string> {
  const [snooze_id, now] = [randomUUID(), Date.now()];
  const [created_at, until] = [new Date(now).toISOString(), new Date(now + 86_400_000).toISOString()];
  const about = { case_id: randomUUID(), subject: `account:${account}`, scope: "account" as const, value: null };
  const judged = { rules: ["same_rule"], score: 3, size: 0 };
  const snooze = { snooze_id, ...about, ...judged, created_at, created_by: "system", until };
  await database.transaction((tx) => insertSnoozes(tx, tenantId, [snooze]));
  return snooze_id;
}
