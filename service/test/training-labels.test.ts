import { expect, test } from "vitest";
import { readTrainingRows } from "../src/db/training.ts";
import type { Case } from "../src/domain/case.ts";
import { makeRule } from "./decided.ts";
import { TestTenant } from "./harness.ts";
import { apply, label, paymentOf, sendScored } from "./labels-lab.ts";
import { useOwnService } from "./process.ts";

const service = useOwnService({ roles: new Set(["api"]) });
const dayMs = 24 * 60 * 60 * 1000;

// The labels that a model would learn from now, by account.
async function learned({ tenantId, service: { database } }: TestTenant): Promise<string[]> {
  const now = Date.now() + 60_000;
  const asOf = new Date(now).toISOString();
  const span = { from: new Date(now - dayMs).toISOString(), until: asOf, asOf };
  const rows: string[] = [];
  for await (const chunk of readTrainingRows(database, tenantId, "value", span))
    rows.push(...chunk.map(({ website_account_id, y }) => `${website_account_id} ${y}`));
  return rows.toSorted();
}

async function decide(tenant: TestTenant, { case_id, case_version }: Case, disposition?: string): Promise<Case> {
  const closing = disposition === undefined ? { status: "OPEN" } : { status: "CLOSED", disposition };
  const answer = await tenant.put(case_id, { case_version, ...closing });
  expect(answer.status, answer.text).toBe(200);
  await apply(tenant);
  return answer.json.data;
}

async function newTenant(): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  const rule = { expression: "event.value >= 1000", sentence: "{event.value} is much.", weight: 4 };
  await makeRule(tenant, "large_payment", rule);
  return tenant;
}

test("training: a closed case's labels are no longer used after it is reopened, and are used again after the next close", async () => {
  const tenant = await newTenant();
  await sendScored(tenant, [paymentOf({ website_account_id: "a", amount: 2000 })]);
  const [found] = await tenant.list();
  const closed = await decide(tenant, await tenant.read(found?.case_id ?? ""), "CONFIRMED_FRAUD");
  expect(await learned(tenant)).toEqual(["a 1"]);
  const reopened = await decide(tenant, closed);
  expect(await learned(tenant)).toEqual([]);
  await decide(tenant, reopened, "FALSE_POSITIVE");
  expect(await learned(tenant)).toEqual(["a 0"]);
});

test("training: nothing is learned from an erased account, and the others still count", async () => {
  const tenant = await newTenant();
  const payments = ["gone", "kept"].map((account) => paymentOf({ website_account_id: account, amount: 2000 }));
  await sendScored(tenant, payments);
  for (const { case_id } of await tenant.list()) await decide(tenant, await tenant.read(case_id), "CONFIRMED_FRAUD");
  await label(
    tenant,
    payments.map(({ activity_id }) => ({ activity_id, fraudulent: true })),
  );
  expect(await learned(tenant)).toEqual(["gone 1", "kept 1"]);
  expect((await tenant.call("DELETE", "/enduseraccounts/gone")).status).toBe(204);
  expect(await learned(tenant)).toEqual(["kept 1"]);
});
