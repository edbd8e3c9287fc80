import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { listRules } from "../src/db/rules.ts";
import { contextOf } from "../src/detection/vector.ts";
import { RuleSets } from "../src/engine/rule-sets.ts";
import { draftRule, makeRule } from "./decided.ts";
import { TestTenant, useService } from "./harness.ts";

const service = useService({ roles: new Set(["api"]) });

// Random, so that no state that the matcher made is of use again.
const hostileText = () => [...randomBytes(1024)].map((byte) => (byte % 2 === 0 ? "a" : "b")).join("");

test("rules: one whose patterns take too long is told once, left out, and taken in again when it is changed", async () => {
  const tenant = await TestTenant.create(service.current);
  const patterns = [80, 81, 82, 83, 84].map((count) => `event.attributes.a.matches("[ab]*a[ab]{${count - 45}}[cd]")`);
  const slow = {
    ...draftRule,
    expression: `device.accounts_1h >= 0 && (${patterns.join(" || ")} || event.attributes.a.size() > 1)`,
  };
  await makeRule(tenant, "slow", slow);
  const faults: string[] = [];
  const sets = new RuleSets(({ rule_id }) => void faults.push(rule_id));
  const { database } = service.current;
  const find = async () =>
    (await sets.current(database, tenant.tenantId)).rules.find(({ rule }) => rule.rule_id === "slow")?.compiled;
  const first = await find();
  let hits = 0;
  for (let calls = 0; calls < 5_000 && faults.length === 0; calls++)
    hits += first?.test(contextOf({}, { a: hostileText() })) ? 1 : 0;
  expect(faults).toEqual(["slow"]);
  expect(hits).toBeGreaterThan(0);
  expect(first?.test(contextOf({}, { a: "aa" }))).toBe(false);
  const current = (await listRules(database, tenant.tenantId)).find(({ rule_id }) => rule_id === "slow");
  const body = { ...slow, rule_version: current?.rule_version, weight: 2 };
  expect((await tenant.call("PUT", "/rules/slow", { body })).status).toBe(200);
  expect((await find())?.test(contextOf({}, { a: "aa" }))).toBe(true);
  expect(faults).toEqual(["slow"]);
});
