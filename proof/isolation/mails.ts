import { randomUUID } from "node:crypto";
import type { Database } from "../../service/src/db/postgres/database.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";

// A mail that the server refused with the tenant's word. The service has no mail server here, so it sends none itself.
export async function storeMail(
  database: Database,
  tenantId: string,
  { userId, word }: { userId: string; word: string },
): Promise<void> {
  const text = `
    insert into notification_mails (
      tenant_id, mail_id, user_id, kind, after_event, last_event, state, attempts, next_at, created_at, last_error
    )
    values ($1, $2, $3, 'digest', 0, 0, 'DEAD', 1, now(), now(), $4)`;
  await database.query(statement(text, [tenantId, randomUUID(), userId, `550 refused ${word}`]));
}
