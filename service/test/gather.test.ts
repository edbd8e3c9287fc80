import { expect, test } from "vitest";
import { findAccounts } from "../src/db/accounts.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { gatherReads } from "../src/db/postgres/gather.ts";
import type { Statement } from "../src/db/postgres/sql.ts";
import { TestTenant, useService } from "./harness.ts";

const service = useService({ roles: new Set(["api"]) });

// Passes queries to the database, and records the tenant and ids of every statement.
function recorder() {
  const asked: [tenantId: unknown, ids: unknown][] = [];
  const database: Queryable = {
    query: (statement: Statement) => {
      asked.push([statement.values[0], statement.values[1]]);
      return service.current.database.query(statement);
    },
  };
  const findAccount = gatherReads((tenantId, ids) => findAccounts(database, tenantId, ids));
  return { asked, findAccount };
}

async function tenantWith(...accounts: string[]): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  for (const id of accounts) await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: id } });
  return tenant;
}

test("gather: the reads of one turn become one statement, and each caller gets its own result", async () => {
  const { tenantId } = await tenantWith("a", "b");
  const { asked, findAccount } = recorder();
  const found = await Promise.all(["b", "absent", "a"].map((id) => findAccount(tenantId, id)));
  expect(found.map((account) => account?.website_account_id)).toEqual(["b", undefined, "a"]);
  expect(asked).toEqual([[tenantId, ["b", "absent", "a"]]]);
});

test("gather: reads that come later in the same turn join it; those of the next turn do not", async () => {
  const { tenantId } = await tenantWith("a", "b", "c");
  const { asked, findAccount } = recorder();
  const first = findAccount(tenantId, "a");
  await Promise.resolve();
  const second = findAccount(tenantId, "b");
  await new Promise((resolve) => setImmediate(resolve));
  const third = findAccount(tenantId, "c");
  const found = await Promise.all([first, second, third]);
  expect(found.map((account) => account?.website_account_id)).toEqual(["a", "b", "c"]);
  expect(asked).toEqual([
    [tenantId, ["a", "b"]],
    [tenantId, ["c"]],
  ]);
});

test("gather: each tenant gets its own statement, and the same id is a different account in each", async () => {
  const [one, other] = [await tenantWith("a"), await tenantWith("a", "b")];
  const { asked, findAccount } = recorder();
  const reads = [findAccount(one.tenantId, "a"), findAccount(other.tenantId, "a"), findAccount(one.tenantId, "b")];
  const found = await Promise.all(reads);
  expect(found.map((account) => account?.tenant_id)).toEqual([one.tenantId, other.tenantId, undefined]);
  expect(asked).toEqual([
    [one.tenantId, ["a", "b"]],
    [other.tenantId, ["a"]],
  ]);
});

test("gather: callers of the same id share one read, and all of them get the result", async () => {
  const { tenantId } = await tenantWith("a");
  const { asked, findAccount } = recorder();
  const found = await Promise.all(Array.from({ length: 50 }, () => findAccount(tenantId, "a")));
  expect(new Set(found.map((account) => account?.website_account_id))).toEqual(new Set(["a"]));
  expect(asked).toEqual([[tenantId, ["a"]]]);
});

test("gather: many reads in one turn are split into statements of at most 500", async () => {
  const { tenantId } = await tenantWith("id-0", "id-1200");
  const { asked, findAccount } = recorder();
  const ids = Array.from({ length: 1_201 }, (_, index) => `id-${index}`);
  const found = await Promise.all(ids.map((id) => findAccount(tenantId, id)));
  expect(found.filter((account) => account !== undefined).map((account) => account.website_account_id)).toEqual([
    "id-0",
    "id-1200",
  ]);
  expect(asked.map(([, asks]) => (asks as string[]).length)).toEqual([500, 500, 201]);
});

test("gather: an error reaches every caller of its statement and no other, and the next read works", async () => {
  const [broken, sound] = [await tenantWith("a"), await tenantWith("a")];
  let isBroken = true;
  const findAccount = gatherReads((tenantId, ids) => {
    if (isBroken && tenantId === broken.tenantId) throw new Error("cut off");
    return findAccounts(service.current.database, tenantId, ids);
  });
  const reads = [findAccount(broken.tenantId, "a"), findAccount(sound.tenantId, "a"), findAccount(broken.tenantId, "b")];
  const outcomes = await Promise.allSettled(reads);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
  expect(outcomes[0]).toEqual({ status: "rejected", reason: new Error("cut off") });
  isBroken = false;
  expect(await findAccount(broken.tenantId, "a")).toMatchObject({ website_account_id: "a" });
});

test("gather: nothing is cached, so a read after a change shows it", async () => {
  const tenant = await tenantWith("a");
  const { asked, findAccount } = recorder();
  expect(await findAccount(tenant.tenantId, "a")).toMatchObject({ is_blocked: false });
  expect((await tenant.call("PUT", "/enduseraccounts/a", { body: { is_blocked: true } })).status).toBe(200);
  expect(await findAccount(tenant.tenantId, "a")).toMatchObject({ is_blocked: true });
  expect((await tenant.call("DELETE", "/enduseraccounts/a")).status).toBe(204);
  expect(await findAccount(tenant.tenantId, "a")).toBeUndefined();
  expect(asked.length).toBe(3);
});
