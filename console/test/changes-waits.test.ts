import { expect, onTestFinished, test, vi } from "vitest";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { closeCase } from "../src/changes/desk.ts";
import { deskOf, fatefulProxy } from "./desk.ts";
import { consolePace } from "./rig.ts";

// Each attempt waits until the service gives up the lock.
vi.setConfig(consolePace);
const service = useService();

// Locks the case like a transaction that never ends.
async function holdCase(tenant: TestTenant, caseId: string): Promise<() => Promise<void>> {
  const client = await service.current.database.connect();
  onTestFinished(() => client.end());
  await client.query("begin");
  await client.query("select 1 from cases where tenant_id = $1 and case_id = $2 for update", [tenant.tenantId, caseId]);
  return async () => void (await client.query("rollback"));
}

test("close: a locked case is retried at most three times, with the same key", async () => {
  const tenant = await TestTenant.create(service.current);
  const open = await tenant.openCase();
  const verdict = { case_id: open.case_id, case_version: 1, disposition: "CONFIRMED_FRAUD", reason: "Seen by phone." } as const;
  const letGo = await holdCase(tenant, open.case_id);
  const stuck = await fatefulProxy(tenant, () => "pass");
  expect(await closeCase(deskOf(tenant, stuck.url), verdict)).toMatchObject({ kind: "refused" });
  expect({ tries: stuck.seen.length, keys: new Set(stuck.seen.map((each) => each.key)).size }).toEqual({ tries: 4, keys: 1 });
  expect(await tenant.read(open.case_id)).toStrictEqual(open);
  const passing = await fatefulProxy(tenant, (_seen, count) => {
    if (count === 2) void letGo();
    return "pass";
  });
  expect(await closeCase(deskOf(tenant, passing.url), verdict)).toMatchObject({ kind: "closed" });
  expect({ tries: passing.seen.length, keys: new Set(passing.seen.map((each) => each.key)).size }).toEqual({ tries: 2, keys: 1 });
});
