import type { RecordedActivity } from "../domain/activity.ts";
import { Failure } from "../domain/failure.ts";
import { storableText } from "../domain/raw-value.ts";
import type { Queryable } from "./postgres/database.ts";
import { codeOf } from "./postgres/faults.ts";
import { claimOldest, type OldestActivity } from "./inbox-claims.ts";
import { sql } from "./postgres/sql.ts";

const faultCharacters = 500;
// SQLSTATEs for values that do not fit a column, and for statements beyond a limit of PostgreSQL.
const dataCodes = /^(22|54|23502)/;
const stateCode = /^[0-9A-Z]{5}$/;

// Whether the activity itself caused the error. Any other database error, such as a race or an outage, is temporary.
export function isUnscorable(error: unknown): boolean {
  const code = codeOf(error);
  return !(error instanceof Failure) && (!stateCode.test(code) || dataCodes.test(code));
}

export async function markBefore(tx: Queryable): Promise<void> {
  await tx.query(sql`savepoint before`);
}

export async function returnToMark(tx: Queryable): Promise<void> {
  await tx.query(sql`rollback to savepoint before`);
}

// Takes the oldest activity of one origin out of the inbox, unchanged, so that it can be put back once the cause of the failure
// is known.
export async function setAsideOldest(
  tx: Queryable,
  tenantId: string,
  { origin, fault, now }: { origin: RecordedActivity["origin"]; fault: string; now: string },
): Promise<void> {
  const oldest = await claimOldest(tx, tenantId, origin);
  if (oldest) await insertUnscorable(tx, tenantId, { oldest, fault, now });
}

export async function insertUnscorable(
  tx: Queryable,
  tenantId: string,
  { oldest, fault, now }: { oldest: OldestActivity; fault: string; now: string },
): Promise<void> {
  await tx.query(sql`
    insert into unscorable (tenant_id, received_at, id_key, website_account_id, activity, fault, failed_at)
    values (
      ${tenantId}, ${oldest.received_at}, ${oldest.id_key}, ${oldest.website_account_id}, ${oldest.activity},
      ${storableText(fault, faultCharacters)}, ${now}
    )
    on conflict (tenant_id, id_key) do nothing`);
}
