import { expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { contextOf } from "../src/detection/vector.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { Enrichment } from "../src/engine/enrichment.ts";
import { restMs } from "../src/engine/pattern-budget.ts";
import { RuleSets } from "../src/engine/rule-sets.ts";
import { insertActivities, newActivity } from "../src/db/inbox.ts";
import { makePartition } from "../src/db/activities.ts";
import { clock } from "../src/clock.ts";
import { draftRule, makeRule } from "./decided.ts";
import { TestTenant, useOwnDatabase, useService } from "./harness.ts";

// Separate services, because no other engine may score what is sent here, and limits are counted over all tenants.
const service = useService({ databaseUrl: useOwnDatabase("rule_sets"), roles: new Set(["api"]) });

// Five patterns of the maximum size. The rule is true for a text of more than one character.
const slowPatterns = [31, 32, 33, 34, 35].map((count) => `event.attributes.a.matches("[ab]*a[ab]{${count}}[cd]")`);
const slow = { ...draftRule, expression: `${slowPatterns.join(" || ")} || event.attributes.a.size() > 1` };
const cheap = { ...draftRule, expression: 'event.attributes.a.matches("^ab")' };
const hostileText = "ab".repeat(512);

// An engine's rules in a process where each run of a rule takes 20 ms. A rule is charged no more than its patterns can take.
class Engine {
  nowMs = 0;
  readonly limited: string[][] = [];
  readonly sets = new RuleSets(
    (rule) => {
      throw new Error(`${rule.rule_id} does not compile`);
    },
    { onLimited: (_tenant, ids) => void this.limited.push(ids), nowMs: () => (this.nowMs += 20) },
  );

  // The ids of the rules that are true for one event with this text.
  async hits({ tenantId }: TestTenant, text = "ab"): Promise<string[]> {
    const { rules } = await this.sets.current(service.current.database, tenantId);
    const context = contextOf({}, { a: text });
    return rules.filter(({ compiled }) => compiled.test(context)).map(({ rule }) => rule.rule_id);
  }
}

test("rules: slow patterns are paused, cheap ones continue, and the slow ones resume automatically", async () => {
  const tenant = await TestTenant.create(service.current);
  await makeRule(tenant, "slow", slow);
  await makeRule(tenant, "cheap", cheap);
  const engine = new Engine();
  expect(await engine.hits(tenant)).toEqual(["cheap", "slow"]);
  expect(engine.limited).toEqual([["slow"]]);
  for (let events = 0; events < 50; events++) expect(await engine.hits(tenant)).toEqual(["cheap"]);
  engine.nowMs += restMs;
  expect(await engine.hits(tenant)).toEqual(["cheap", "slow"]);
  expect(engine.limited).toEqual([["slow"], ["slow"]]);
});

test("rules: saving a rule again, or switching it off and on, gains no extra time", async () => {
  const tenant = await TestTenant.create(service.current);
  let { rule_version } = await makeRule(tenant, "slow", slow);
  const engine = new Engine();
  await engine.hits(tenant);
  for (const change of [{ weight: 2 }, { state: "off" as const }, { weight: 3 }, { expression: `(${slow.expression})` }]) {
    ({ rule_version } = await makeRule(tenant, "slow", { ...slow, ...change, rule_version }));
    expect(await engine.hits(tenant)).toEqual([]);
  }
  expect(engine.limited).toEqual([["slow"]]);
  engine.nowMs += restMs;
  expect(await engine.hits(tenant)).toEqual(["slow"]);
});

test("rules: a hostile author who keeps saving many slow rules takes nothing from another tenant", async () => {
  const [hostile, other] = [await TestTenant.create(service.current), await TestTenant.create(service.current)];
  const { database } = service.current;
  await makeRule(other, "cheap", cheap);
  await database.query(sql`
    insert into rules (tenant_id, rule_id, rule_version, definition, updated_at, updated_by)
    select ${hostile.tenantId}::uuid, 'slow_' || n, 1, ${JSON.stringify(slow)}::jsonb, now(), 'somebody'
    from generate_series(1, 180) as n`);
  const engine = new Engine();
  let runs = 0;
  for (let events = 0; events < 4; events++) {
    await database.query(sql`update detection_settings set revision = revision + 1 where tenant_id = ${hostile.tenantId}`);
    runs += (await engine.hits(hostile, hostileText)).length;
    expect(await engine.hits(other)).toEqual(["cheap"]);
  }
  // Of 720 runs. The first event was cut short, and then all rules were paused.
  expect(runs).toBeGreaterThan(0);
  expect(runs).toBeLessThan(20);
  expect(new Set(engine.limited.flat()).size).toBe(180);
});

type Limited = { is_limited: boolean; limited_until?: string };

test("GET rules 200: every process and a metric show a limited rule as limited until it resumes", async () => {
  const tenant = await TestTenant.create(service.current);
  const { database, metrics } = service.current;
  await makeRule(tenant, "slow", slow);
  const engine = new Engine();
  let now = clock.now();
  const detector = { database, clock: { ...clock, now: () => now }, enrichment: new Enrichment([]), ruleSets: engine.sets };
  const send = async (activity_id: string) => {
    const at = clock.now();
    await database.transaction((tx) => makePartition(tx, at.slice(0, 10)));
    const activity = { activity_id, type: "page_view", origin: "server" as const, occurred_at: at, received_at: at };
    await database.transaction((tx) =>
      insertActivities(tx, tenant.tenantId, [newActivity({ ...activity, attributes: { a: hostileText } })]),
    );
    expect(await detectBatch(detector, tenant.tenantId)).toMatchObject({ scored: 1 });
  };
  const shown = async () => {
    const [one, all] = [await tenant.call("GET", "/rules/slow"), await tenant.call("GET", "/rules")];
    const { is_limited, limited_until } = one.json.data as Limited;
    const { rules } = all.json.data as { rules: (Limited & { rule_id: string })[] };
    expect(rules.filter((rule) => rule.is_limited).map(({ rule_id }) => rule_id)).toEqual(is_limited ? ["slow"] : []);
    const [, count] = /^casehound_rules_limited (\d+)$/m.exec(await metrics.text()) ?? [];
    return { is_limited, limited_until, count };
  };
  expect(await shown()).toEqual({ is_limited: false, limited_until: undefined, count: "0" });
  await send("first");
  const until = new Date(Date.parse(now) + restMs).toISOString();
  expect(await shown()).toEqual({ is_limited: true, limited_until: until, count: "1" });
  // A rule that is already paused is not written again.
  now = new Date(Date.parse(now) + 1_000).toISOString();
  await send("second");
  expect(await shown()).toEqual({ is_limited: true, limited_until: until, count: "1" });
  await database.query(sql`update rule_limits set limited_until = now() where tenant_id = ${tenant.tenantId}`);
  expect(await shown()).toEqual({ is_limited: false, limited_until: undefined, count: "0" });
});
