import { randomUUID } from "node:crypto";
import type { Database } from "../src/db/postgres/database.ts";
import { insertApproval } from "../src/db/approvals.ts";

// Stores a request by a person who does not exist. Its case does not have to exist either.
export async function storeApproval(database: Database, tenantId: string, text: string): Promise<string> {
  const [approval_id, now] = [randomUUID(), Date.now()];
  const [requested_at, expires_at] = [new Date(now).toISOString(), new Date(now + 86_400_000).toISOString()];
  const by = { requested_by: `Ada ${text}`, requested_by_id: randomUUID(), website_account_id: null };
  const asked = { closing: { reason: text }, because: [], note: text, cases: [{ case_id: randomUUID(), case_version: 1 }] };
  await database.transaction((tx) => insertApproval(tx, tenantId, { approval_id, requested_at, expires_at, ...by, ...asked }));
  return approval_id;
}
