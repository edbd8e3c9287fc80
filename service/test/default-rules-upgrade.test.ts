import { expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { listRules, listRuleVersions } from "../src/db/rules.ts";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { defaultRules, defaultsVersion } from "../src/detection/default-rules.ts";
import { upgradeDefaultRules } from "../src/tenancy.ts";
import { hash } from "node:crypto";
import { makeRule } from "./decided.ts";
import { openLog } from "../src/log.ts";
import { RuleUpgrades } from "../src/rule-upgrades.ts";
import { TestTenant, useService } from "./harness.ts";
import { eventually } from "./process.ts";

const service = useService({ roles: new Set(["api"]) });

// Any change to a default rule changes this digest. If it changes, raise defaultsVersion, unless that version was never released.
test("default rules: every release that changes them raises their version", () => {
  const digest = hash("sha256", JSON.stringify(defaultRules), "hex").slice(0, 16);
  expect([defaultsVersion, digest]).toEqual([9, "bac1e7e843c7026d"]);
});

// Resets a tenant's rule to the state an earlier release left.
async function makeEarlier(tenant: TestTenant, ruleId: string): Promise<void> {
  const earlier = { ...defaultRules.find(({ rule_id }) => rule_id === ruleId), expression: "device.confirmed_frauds >= 1" };
  const { rule_id: _id, ...definition } = earlier;
  const { database } = tenant.service;
  await database.query(
    statement("update rules set definition = $3 where tenant_id = $1 and rule_id = $2", [
      tenant.tenantId,
      ruleId,
      JSON.stringify(definition),
    ]),
  );
  await database.query(statement("update detection_settings set defaults_version = 1 where tenant_id = $1", [tenant.tenantId]));
}

async function changesOf(tenant: TestTenant): Promise<unknown[]> {
  return tenant.service.database.query(sql`
    select actor, resource_id, resource_version, data
    from events
    where tenant_id = ${tenant.tenantId} and type = 'rule.changed'
    order by event_id`);
}

const revisionOf = async ({ tenantId, service: { database } }: TestTenant) =>
  (await database.query<{ revision: number }>(sql`select revision from detection_settings where tenant_id = ${tenantId}`))[0]
    ?.revision ?? 0;

test("upgrade: an unedited default rule is replaced by the current one, once, as a new version by system", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database } = service.current;
  await makeEarlier(tenant, "linked_fraud");
  const before = await revisionOf(tenant);
  await Promise.all([upgradeDefaultRules(database, clock), upgradeDefaultRules(database, clock)]);
  await upgradeDefaultRules(database, clock);
  const [newest, ...earlier] = await listRuleVersions(database, tenant.tenantId, { rule_id: "linked_fraud", limit: 10 });
  expect(earlier).toMatchObject([{ rule_version: 1, expression: "device.confirmed_frauds >= 1" }]);
  expect(newest).toMatchObject({
    ...defaultRules.find(({ rule_id }) => rule_id === "linked_fraud"),
    rule_version: 2,
    updated_by: "system",
  });
  expect(await revisionOf(tenant)).toBe(before + 1);
  expect(await changesOf(tenant)).toEqual([
    { actor: "system", resource_id: "linked_fraud", resource_version: 2, data: { state: "on", changed: ["expression"] } },
  ]);
  const others = (await listRules(database, tenant.tenantId)).filter(({ rule_id }) => rule_id !== "linked_fraud");
  expect(others.filter(({ rule_version }) => rule_version !== 1)).toEqual([]);
});

test("upgrade: a rule whose state or definition the tenant changed stays, and so do the tenant's own rules", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database } = service.current;
  const linked = (await listRules(database, tenant.tenantId)).find(({ rule_id }) => rule_id === "linked_fraud");
  if (!linked) throw new Error("there is no such rule");
  const { rule_id: _id, updated_at: _at, updated_by: _by, ...definition } = linked;
  await makeRule(tenant, "linked_fraud", { ...definition, expression: "device.confirmed_frauds >= 3", state: "off" });
  await makeRule(tenant, "own");
  const before = await listRules(database, tenant.tenantId);
  const revision = await revisionOf(tenant);
  await database.query(statement("update detection_settings set defaults_version = 1 where tenant_id = $1", [tenant.tenantId]));
  await upgradeDefaultRules(database, clock);
  expect(await listRules(database, tenant.tenantId)).toEqual(before);
  expect(await revisionOf(tenant)).toBe(revision);
});

test("upgrade: a process of an earlier release does not undo it", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database } = service.current;
  await makeEarlier(tenant, "linked_fraud");
  await database.query(
    statement("update detection_settings set defaults_version = $2 where tenant_id = $1", [tenant.tenantId, defaultsVersion + 1]),
  );
  const before = await listRules(database, tenant.tenantId);
  await upgradeDefaultRules(database, clock);
  expect(await listRules(database, tenant.tenantId)).toEqual(before);
});

test("upgrade: a new process upgrades default rules only when the last release should have stopped", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database } = service.current;
  await makeEarlier(tenant, "linked_fraud");
  const before = await revisionOf(tenant);
  const patient = new RuleUpgrades({ database, clock, log: openLog("silent") });
  patient.start();
  await patient.stop();
  expect(await revisionOf(tenant)).toBe(before);
  const hasty = new RuleUpgrades({ database, clock, log: openLog("silent"), waitMs: 1 });
  hasty.start();
  await eventually(async () => expect(await revisionOf(tenant)).toBe(before + 1));
  await hasty.stop();
});
