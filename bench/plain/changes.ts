// The changes of the plain implementation: each is a transaction of several round trips. Cases, accounts and log entries come
// from the service's own pure functions, so both implementations leave the same data behind.
import { createHash, randomUUID } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { changeAccount, type Account, type AccountChange } from "../../service/src/domain/account.ts";
import { changeStatus, type CaseChange, type CaseDocument } from "../../service/src/domain/case.ts";
import type { DomainEvent } from "../../service/src/domain/event.ts";
import { Failure, notFound } from "../../service/src/domain/failure.ts";
import { talliesOf } from "../../service/src/domain/tally.ts";

export type Caller = { tenantId: string; slug: string; actor: string };
type CaseRow = { document: string; subject: string; end_user_is_blocked: boolean };

const insertEvent = `
  insert into events (tenant_id, event_id, type, occurred_at, actor, resource_type, resource_id, resource_version, data)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

export async function transaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

async function appendEvent(client: PoolClient, tenantId: string, event: DomainEvent): Promise<void> {
  const text = "update event_counters set last_event_id = last_event_id + 1 where tenant_id = $1 returning last_event_id";
  const counter = await client.query<{ last_event_id: string }>({ name: "count", text, values: [tenantId] });
  const { type, occurred_at, actor, resource, data } = event;
  const id = counter.rows[0]?.last_event_id;
  const values = [tenantId, id, type, occurred_at, actor, resource.type, resource.id, resource.version, data];
  await client.query({ name: "event", text: insertEvent, values });
  for (const { day, what, bucket, cases } of talliesOf([event]))
    await client.query({
      name: "tally",
      text: `insert into case_tallies (tenant_id, day, what, bucket, cases) values ($1, $2, $3, $4, $5)
        on conflict (tenant_id, day, what, bucket) do update set cases = case_tallies.cases + excluded.cases`,
      values: [tenantId, day, what, bucket, cases],
    });
}

export const caseText = ({ document, end_user_is_blocked }: { document: string; end_user_is_blocked: boolean }) =>
  `{"data":{"end_user_is_blocked":${end_user_is_blocked},${document.slice(1)}}`;

type Close = { caller: Caller; id: string; key: string; change: CaseChange };

export async function closeCase(client: PoolClient, { caller, id, key, change }: Close): Promise<string> {
  const now = new Date().toISOString();
  const print = createHash("sha256")
    .update(`PUT /cases/${id}\n${JSON.stringify(change)}`)
    .digest();
  const claimed = await client.query({
    name: "claim",
    text: `insert into idempotency_keys (tenant_id, key, fingerprint, case_id, created_at) values ($1, $2, $3, $4, $5)
      on conflict (tenant_id, key) do nothing`,
    values: [caller.tenantId, key, print, id, now],
  });
  if (claimed.rowCount === 0) return replay(client, caller.tenantId, key, print);
  const locked = await client.query<CaseRow>({
    name: "lock",
    text: "select document, subject, end_user_is_blocked from cases where tenant_id = $1 and case_id = $2 for update",
    values: [caller.tenantId, id],
  });
  const [row] = locked.rows;
  if (!row) throw notFound("Case", id);
  const found = JSON.parse(row.document) as CaseDocument;
  const { document, events } = changeStatus(found, change, { name: caller.actor, now, state_id: randomUUID() });
  const text = JSON.stringify(document);
  const { case_version, updated_at, current_state: state, status } = document;
  await client.query({
    name: "save",
    text: `update cases set status = $3, case_version = $4, updated_at = $5, has_new_evidence = false, document = $6
      where tenant_id = $1 and case_id = $2`,
    values: [caller.tenantId, id, status, case_version, updated_at, text],
  });
  if (state.disposition)
    await client.query({
      name: "outcome",
      text: `insert into outcomes (tenant_id, case_id, case_version, subject, website_account_id, disposition, decided_at, decided_by)
        values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      values: [caller.tenantId, id, case_version, row.subject, document.website_account_id, state.disposition, now, caller.actor],
    });
  const body = caseText({ document: text, end_user_is_blocked: row.end_user_is_blocked });
  await client.query({
    name: "reply",
    text: "update idempotency_keys set status = 200, reply = $3 where tenant_id = $1 and key = $2",
    values: [caller.tenantId, key, body],
  });
  for (const event of events) await appendEvent(client, caller.tenantId, event);
  return body;
}

async function replay(client: PoolClient, tenantId: string, key: string, print: Buffer): Promise<string> {
  const text = "select fingerprint, reply from idempotency_keys where tenant_id = $1 and key = $2";
  const known = await client.query<{ fingerprint: Buffer; reply: string }>({ name: "replay", text, values: [tenantId, key] });
  const [row] = known.rows;
  if (!row?.fingerprint.equals(print)) throw new Failure("operation-idempotency-conflict", "The key was used before.");
  return row.reply;
}

const accountColumns =
  "tenant_id, website_account_id, crm_account_id, is_blocked, is_quarantined, is_fraudulent, last_session_updated_on, created_at, updated_at";
export const ofAccount = `select ${accountColumns} from accounts where tenant_id = $1 and website_account_id = $2`;

// Members that are not set are left out.
export function toAccount(row: Record<string, unknown>): Account {
  const shown = Object.entries(row).filter(([, value]) => value !== null);
  // Times are read as dates, and are compared and sent as text.
  return Object.fromEntries(shown.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value])) as Account;
}

type AccountPut = { caller: Caller; id: string; change: AccountChange };

export async function saveAccount(client: PoolClient, { caller, id, change }: AccountPut): Promise<Account> {
  const locked = await client.query({ name: "lock-account", text: `${ofAccount} for update`, values: [caller.tenantId, id] });
  const [row] = locked.rows;
  if (!row) throw notFound("End-user account", id);
  const before = toAccount(row);
  const after = changeAccount(before, change, new Date().toISOString());
  if (after === before) return before;
  const { crm_account_id: crm = null, is_blocked, is_quarantined, is_fraudulent, updated_at } = after;
  await client.query({
    name: "save-account",
    text: `update accounts set crm_account_id = $3, is_blocked = $4, is_quarantined = $5, is_fraudulent = $6, updated_at = $7
      where tenant_id = $1 and website_account_id = $2`,
    values: [caller.tenantId, id, crm, is_blocked, is_quarantined, is_fraudulent, updated_at],
  });
  if (is_blocked !== before.is_blocked)
    await client.query({
      name: "flag",
      text: `update cases set end_user_is_blocked = $3
        where tenant_id = $1 and website_account_id = $2 and website_account_id <> 'UNKNOWN'`,
      values: [caller.tenantId, id, is_blocked],
    });
  const { crm_account_id: _crm, ...flags } = change;
  const resource = { type: "end_user_account" as const, id };
  const event: DomainEvent = { type: "account.updated", occurred_at: updated_at, actor: caller.actor, resource, data: flags };
  await appendEvent(client, caller.tenantId, event);
  return after;
}
