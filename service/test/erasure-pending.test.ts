import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { makePartition } from "../src/db/activities.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { startService, type Service } from "../src/service.ts";
import { TestTenant, expectProblem, newDatabase, newDetector, testConfig } from "./harness.ts";
import { eventually, useOwnService } from "./process.ts";

// No engine runs here: nothing is scored unless a test does it.
const idle = useOwnService({ roles: new Set(["api"]) });

const pseudonymForm = /^erased-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const details = { attributes: { label: "Bot", note: "The bank called.", email: "ann@shop.example" }, device_id: "device-of-ann" };

async function count(service: Service, tenant: TestTenant, text: string, more: unknown[] = []): Promise<number> {
  const rows = await service.database.query<{ count: number }>(
    statement(`select count(*) as count from ${text}`, [tenant.tenantId, ...more]),
  );
  return rows[0]?.count ?? NaN;
}

async function score(tenant: TestTenant): Promise<void> {
  const { database } = idle.current;
  await database.transaction((tx) => makePartition(tx, new Date().toISOString().slice(0, 10)));
  const detector = newDetector(database);
  while ((await count(idle.current, tenant, "inbox where tenant_id = $1")) > 0) await detectBatch(detector, tenant.tenantId);
}

async function newTenant(account: string): Promise<TestTenant> {
  const tenant = await TestTenant.create(idle.current);
  expect((await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: account } })).status).toBe(201);
  return tenant;
}

const erase = (tenant: TestTenant, account: string) => tenant.call("DELETE", `/enduseraccounts/${account}`);

test("DELETE account 204: a report that is not scored yet gets its case under the pseudonym, and the rest is dropped", async () => {
  const account = `ann-${randomUUID()}`;
  const tenant = await newTenant(account);
  await tenant.report(account, details);
  await tenant.report(account, { ...details, type: "page_view", session_id: `session-of-${account}` });
  await tenant.report("bob");
  expect((await erase(tenant, account)).status).toBe(204);
  const holders = `inbox where tenant_id = $1 and convert_from(parcel, 'UTF8') ~ $2`;
  for (const text of [account, "device-of-ann", "ann@shop"]) expect(await count(idle.current, tenant, holders, [text])).toBe(0);
  await score(tenant);
  const listed = await tenant.list();
  expect(listed.map((each) => each.website_account_id).toSorted()).toEqual(["bob", expect.stringMatching(pseudonymForm)]);
  const found = await tenant.read(listed.find((each) => each.website_account_id !== "bob")?.case_id ?? "");
  expect(found.details).toMatchObject({ overall_risk_score: 5, primary_fraud_label: "Bot" });
  expect(JSON.stringify(found)).toContain("The bank called.");
  expect(JSON.stringify(found)).not.toContain("ann");
  expect(await tenant.list(`website_account_id=${found.website_account_id}`)).toHaveLength(1);
  expectProblem(await tenant.call("GET", `/enduseraccounts/${found.website_account_id}`), 404, "item-not-found");
  expect(await count(idle.current, tenant, "accounts where tenant_id = $1")).toBe(1);
  expect(await count(idle.current, tenant, "activities where tenant_id = $1")).toBe(2);
});

test("DELETE account 204: the answers to assessments that are not scored yet are erased", async () => {
  const account = `ann-${randomUUID()}`;
  const tenant = await newTenant(account);
  for (const type of ["login_succeeded", "fraud_report"]) {
    const body = { activity_id: `${type}-${account}`, type, occurred_at: new Date().toISOString(), website_account_id: account };
    expect((await tenant.call("POST", "/assessments", { body: { ...body, deadline_ms: 1_000 } })).status).toBe(200);
  }
  const other = { activity_id: "other", type: "logout", occurred_at: new Date().toISOString(), website_account_id: "bob" };
  expect((await tenant.call("POST", "/assessments", { body: other })).status).toBe(200);
  expect(await count(idle.current, tenant, "assessments where tenant_id = $1")).toBe(3);
  expect((await erase(tenant, account)).status).toBe(204);
  expect(await count(idle.current, tenant, "assessments where tenant_id = $1")).toBe(1);
});

test("DELETE account 204: a pending report joins the open case, whose stored reply then shows the pseudonym", async () => {
  const account = `ann-${randomUUID()}`;
  const tenant = await newTenant(account);
  await tenant.report(account);
  await score(tenant);
  const [opened] = await tenant.list();
  const caseId = opened?.case_id ?? "";
  const key = randomUUID();
  const first = await tenant.put(caseId, { status: "OPEN", case_version: 1 }, key);
  const id = await tenant.report(account, details);
  expect((await erase(tenant, account)).status).toBe(204);
  const { website_account_id: pseudonym } = await tenant.read(caseId);
  expectProblem(await erase(tenant, pseudonym), 404, "item-not-found");
  await score(tenant);
  const found = await tenant.read(caseId);
  expect(pseudonym).toMatch(pseudonymForm);
  expect(found).toMatchObject({ website_account_id: pseudonym, status: "OPEN", case_version: 3 });
  expect(Object.keys(found.fraud_occurrences)).toHaveLength(2);
  expect(await tenant.list()).toHaveLength(1);
  const replay = await tenant.put(caseId, { status: "OPEN", case_version: 1 }, key);
  expect([replay.status, replay.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(replay.json.data).toEqual({ ...(first.json.data as object), website_account_id: pseudonym });
  // The report's id is still known after the erasure.
  const again = { activity_id: id, type: "fraud_report", occurred_at: new Date().toISOString(), website_account_id: account };
  const resent = await tenant.call("POST", "/activities", { body: { activities: [again] } });
  expect(resent.json.data).toEqual({ accepted: 0, duplicates: 1 });
});

test("DELETE account 204: an account that only pending activity names is erased; 404 if nothing names it", async () => {
  const account = `ann-${randomUUID()}`;
  const tenant = await TestTenant.create(idle.current);
  expectProblem(await erase(tenant, account), 404, "item-not-found");
  await tenant.report("bob");
  expectProblem(await erase(tenant, account), 404, "item-not-found");
  await tenant.report(account);
  expect((await erase(tenant, account)).status).toBe(204);
  expectProblem(await erase(tenant, account), 404, "item-not-found");
  await score(tenant);
  expect((await tenant.list()).map((each) => each.website_account_id).toSorted()).toEqual([
    "bob",
    expect.stringMatching(pseudonymForm),
  ]);
  expect(await count(idle.current, tenant, "events where tenant_id = $1 and type = 'account.erased'")).toBe(1);
});

test("DELETE account race: while an engine runs, every report gets one case under a pseudonym, and no account is left", async () => {
  const service = await startService(testConfig({ databaseUrl: await newDatabase() }));
  onTestFinished(() => service.stop());
  const tenant = await TestTenant.create(service);
  const accounts = Array.from({ length: 30 }, (_, index) => `ann-${index}`);
  const erased = await Promise.all(
    accounts.map(async (account) => {
      await tenant.report(account, details);
      let status = (await erase(tenant, account)).status;
      // On a busy machine the turn is contended or the service has too much to do, and a client tries again.
      while (status === 409 || status === 429) status = (await erase(tenant, account)).status;
      return status;
    }),
  );
  expect(erased).toEqual(accounts.map(() => 204));
  await eventually(async () => expect(await count(service, tenant, "inbox where tenant_id = $1")).toBe(0));
  const listed = await tenant.list();
  expect(listed).toHaveLength(accounts.length);
  expect(listed.filter((each) => !pseudonymForm.test(each.website_account_id))).toEqual([]);
  expect(await count(service, tenant, "accounts where tenant_id = $1")).toBe(0);
});
