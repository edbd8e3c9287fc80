import { expect, test } from "vitest";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";
import { decisionsOf, paymentOf, sendScored } from "./models-lab.ts";

const service = useService({ databaseUrl: useOwnDatabase("engine_ties"), roles: new Set(["api"]) });

test("engine: activities with the same time are scored in the order of their request, whatever their ids", async () => {
  const tenant = await TestTenant.create(service.current);
  const accounts = Array.from({ length: 10 }, (_, n) => `account-${n}`);
  const occurred_at = new Date(Date.now() - 60_000).toISOString();
  const activities = accounts.flatMap((website_account_id) =>
    [...Array<string>(10).fill("login_failed"), "login_succeeded"].map((type) =>
      paymentOf(0, { type, website_account_id, device_id: `device of ${website_account_id}`, occurred_at }),
    ),
  );
  await sendScored(tenant, activities);
  const decisions = await decisionsOf(tenant);
  const logins = activities.filter(({ type }) => type === "login_succeeded");
  const fired = logins.map(({ activity_id }) => decisions.get(activity_id)?.decision.r ?? {});
  expect(fired.filter((rules) => "success_after_failures" in rules)).toHaveLength(accounts.length);
});
