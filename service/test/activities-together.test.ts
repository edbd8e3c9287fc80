import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { gatherWrites } from "../src/db/postgres/gather.ts";
import { insertBatches, newActivity, type NewActivity } from "../src/db/inbox.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";

// Its own database, because an engine of another file would empty the inbox.
const service = useService({ databaseUrl: useOwnDatabase("activities_together"), roles: new Set(["api"]) });
const at = "2026-11-15T09:30:00.000Z";

function activity(activity_id: string, type = "login"): NewActivity {
  return newActivity({ activity_id, type, occurred_at: at, received_at: at, origin: "server" });
}

async function waiting({ tenantId }: TestTenant): Promise<number> {
  const [row] = await service.current.database.query<{ events: number }>(
    sql`select coalesce(sum(events), 0) as events from inbox where tenant_id = ${tenantId}`,
  );
  return row?.events ?? 0;
}

const post = (to: TestTenant, ids: string[]) =>
  to.call("POST", "/activities", {
    body: {
      activities: ids.map((id) => ({ activity_id: id, type: "login_failed", occurred_at: at, website_account_id: "one" })),
    },
  });

test("accept together: each batch gets the outcome it would have had if the batches had run one after the other", async () => {
  const tenant = await TestTenant.create(service.current);
  const insert = (batches: NewActivity[][]) =>
    service.current.database.transaction((tx) => insertBatches(tx, tenant.tenantId, batches));
  await insert([[activity("known")]]);
  const outcomes = await insert([
    [activity("a"), activity("b"), activity("known")],
    [activity("b"), activity("c"), activity("c")],
    [activity("a", "signup"), activity("known", "signup"), activity("d")],
    [],
  ]);
  expect(outcomes).toEqual([
    { accepted: 2, duplicates: 1, reused: [] },
    { accepted: 1, duplicates: 2, reused: [] },
    { accepted: 1, duplicates: 2, reused: [activity("a", "signup"), activity("known", "signup")] },
    { accepted: 0, duplicates: 0, reused: [] },
  ]);
  expect(await waiting(tenant)).toBe(5);
});

test("accept together: concurrent requests share transactions, and each gets its own counts", async () => {
  const [tenant, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const ids = Array.from({ length: 60 }, () => randomUUID());
  const answers = await Promise.all([...ids.map((id) => post(tenant, [id])), post(tenant, ids), post(other, ids)]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  const counts = answers.slice(0, 61).map((answer): { accepted: number } => answer.json.data);
  const accepted = counts.reduce((sum, each) => sum + each.accepted, 0);
  expect(accepted).toBe(60);
  expect(answers.at(-1)?.json.data).toEqual({ accepted: 60, duplicates: 0 });
  expect([await waiting(tenant), await waiting(other)]).toEqual([60, 60]);
  const [row] = await service.current.database.query<{ transactions: number }>(
    sql`select count(distinct xmin::text) as transactions from activity_ids where tenant_id = ${tenant.tenantId}`,
  );
  expect(row?.transactions).toBeLessThan(40);
});

test("accept together: a group stays within the weight limit, and a heavier item runs alone", async () => {
  const groups: number[][] = [];
  const run = async (_tenant: string, together: number[]) => {
    groups.push(together);
    return together;
  };
  const write = gatherWrites(run, { togetherMax: 10, atOnceMax: 1, weightOf: (weight: number) => weight });
  const weights = [4, 6, 1, 50, 3, 7, 7];
  expect(await Promise.all(weights.map((weight) => write("t", weight)))).toEqual(weights);
  expect(groups).toEqual([[4, 6], [1], [50], [3, 7], [7]]);
});
