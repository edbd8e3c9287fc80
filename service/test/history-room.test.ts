import { expect, test } from "vitest";
import { HistoryRoom } from "../src/api/history-room.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";

const service = useService({ databaseUrl: useOwnDatabase("history_room"), roles: new Set(["api"]) });

async function insertWaiting({ tenantId }: TestTenant, count: number): Promise<void> {
  const text = `
    insert into history (tenant_id, received_at, id_key, activity, actor)
    select $1, now(), gen_random_uuid(), '{}', 'shop'
    from generate_series(1, $2)`;
  await service.current.database.query(statement(text, [tenantId, count]));
}

test("POST imports 429: a tenant with as much waiting history as is allowed must start its import first; others may send", async () => {
  const { database } = service.current;
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const room = new HistoryRoom(50);
  await insertWaiting(tenant, 30);
  await room.take(database, tenant.tenantId, 20);
  await insertWaiting(tenant, 20);
  await expect(room.take(database, tenant.tenantId, 1)).rejects.toMatchObject({
    code: "rate-limited",
    headers: { "retry-after": "60" },
  });
  await room.take(database, other.tenantId, 50);
  await database.query(statement("delete from history where tenant_id = $1", [tenant.tenantId]));
  await room.take(database, tenant.tenantId, 50);
  await expect(room.take(database, other.tenantId, 51)).rejects.toMatchObject({ code: "rate-limited" });
});
