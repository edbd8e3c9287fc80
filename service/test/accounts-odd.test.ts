import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import { TestTenant, useService } from "./harness.ts";

const service = useService();
const close = { status: "CLOSED", case_version: 1 };

test.each(['quoted "a\\b"', "$& $1 $` $'", "line\nbreak \u2028"])(
  "PUT case replay: the account %j is returned unchanged in the first response and in the replay",
  async (account) => {
    const tenant = await TestTenant.create(service.current);
    const opened = await tenant.openCase(account);
    const key = randomUUID();
    const first = await tenant.put(opened.case_id, close, key);
    expect(first).toMatchObject({ status: 200, json: { data: { website_account_id: account, status: "CLOSED" } } });
    const again = await tenant.put(opened.case_id, close, key);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.text).toBe(first.text);
  },
);

test("PUT account race: concurrent changes of different members are both kept", async () => {
  const tenant = await TestTenant.create(service.current);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "a" } });
  const holder = await service.current.database.connect();
  onTestFinished(() => holder.end());
  await holder.query("begin");
  await holder.query("select 1 from accounts where tenant_id = $1 for update", [tenant.tenantId]);
  const changes = [{ is_blocked: true }, { is_quarantined: true }].map((body) =>
    tenant.call("PUT", "/enduseraccounts/a", { body }),
  );
  // The second may queue behind the first. Both wait before the row is free, so neither can have read what the other writes.
  const waiting = `
    select pid
    from pg_stat_activity as a
    where wait_event_type = 'Lock'
      and (pg_backend_pid() = any(pg_blocking_pids(pid))
        or exists (select from unnest(pg_blocking_pids(a.pid)) as b (pid) where pg_backend_pid() = any(pg_blocking_pids(b.pid))))`;
  await vi.waitFor(async () => expect((await holder.query(waiting)).rowCount).toBe(2), 20_000);
  await holder.query("rollback");
  for (const answer of await Promise.all(changes)) expect(answer.status).toBe(200);
  const { json } = await tenant.call("GET", "/enduseraccounts/a");
  expect(json.data).toMatchObject({ is_blocked: true, is_quarantined: true });
});
