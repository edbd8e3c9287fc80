import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { insertOutcomes } from "../src/db/outcomes.ts";
import { addRuleHits, addRuleSubjects, type RuleHits, type RuleSubject } from "../src/db/rules.ts";
import type { RuleReport } from "../src/domain/rule-report.ts";
import type { MeasuredRule } from "../src/domain/rule.ts";
import { dayBefore, makeRule, noonBefore, selectAll } from "./decided.ts";
import { TestTenant, expectProblem, useService } from "./harness.ts";

const service = useService();

async function newTenant(): Promise<TestTenant> {
  const tenant = await TestTenant.create(service.current);
  for (const id of ["own_rule", "other_rule", "third_rule"]) await makeRule(tenant, id);
  return tenant;
}

async function report(tenant: TestTenant, query = ""): Promise<RuleReport> {
  const answer = await tenant.call("GET", `/rules/own_rule/report${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

function addHits(tenant: TestTenant, hits: Partial<RuleHits>[]): Promise<void> {
  const rows = hits.map((each) => ({ rule_id: "own_rule", is_shadow: false, day: dayBefore(0), hits: 1, ...each }));
  return service.current.database.transaction((tx) => addRuleHits(tx, tenant.tenantId, rows));
}

type Subject = Partial<RuleSubject> & { subject: string };

function addSubjects(tenant: TestTenant, hits: Subject[]): Promise<void> {
  const rows = hits.map(({ at = noonBefore(1), ...each }) => {
    const last_activity = { activity_id: `of-${each.subject}`, occurred_at: at, sentence: "It was." };
    return { rule_id: "own_rule", is_shadow: false, hits: 1, last_activity, ...each, at };
  });
  return service.current.database.transaction((tx) => addRuleSubjects(tx, tenant.tenantId, rows));
}

test("GET rule report 200: without hits, every day shows zeros", async () => {
  const tenant = await newTenant();
  const none = { confirmed: 0, false_positives: 0, inconclusive: 0, precision: null };
  expect(await report(tenant)).toEqual({
    rule_id: "own_rule",
    days: 7,
    hits_per_day: [6, 5, 4, 3, 2, 1, 0].map((days) => ({ day: dayBefore(days), hits: 0, shadow_hits: 0 })),
    subjects: 0,
    shadow_subjects: 0,
    precision: none,
    shadow_precision: none,
    examples: [],
    overlap: [],
  });
});

test("rule hits: they add up by day, for on and shadow, even if a batch repeats a rule; the list counts seven days", async () => {
  const tenant = await newTenant();
  await addHits(tenant, [{ hits: 2 }, { hits: 3 }, { is_shadow: true, hits: 7 }, { day: dayBefore(6), hits: 10 }]);
  await addHits(tenant, [{ hits: 4 }, { day: dayBefore(7), hits: 1000 }, { rule_id: "other_rule", hits: 5 }]);
  await addHits(tenant, []);
  const days = (await report(tenant, "?days=8")).hits_per_day;
  expect(days.filter((each) => each.hits + each.shadow_hits > 0)).toEqual([
    { day: dayBefore(7), hits: 1000, shadow_hits: 0 },
    { day: dayBefore(6), hits: 10, shadow_hits: 0 },
    { day: dayBefore(0), hits: 9, shadow_hits: 7 },
  ]);
  const { rules } = (await tenant.call("GET", "/rules")).json.data as { rules: MeasuredRule[] };
  const counted = rules.filter((rule) => rule.hits_7d + rule.shadow_hits_7d > 0);
  expect(counted).toMatchObject([
    { rule_id: "other_rule", hits_7d: 5, shadow_hits_7d: 0 },
    { rule_id: "own_rule", hits_7d: 19, shadow_hits_7d: 7 },
  ]);
});

const activity = (id: string) => ({ activity_id: id, occurred_at: noonBefore(1), sentence: id });

test("rule subjects: hits add up, first and last follow the times of the hits, and the last activity is the latest one", async () => {
  const tenant = await newTenant();
  await addSubjects(tenant, [
    { subject: "s", at: noonBefore(3), last_activity: activity("middle") },
    { subject: "s", at: noonBefore(2), last_activity: activity("late"), hits: 2 },
    { subject: "s", at: noonBefore(4), last_activity: activity("early") },
  ]);
  await addSubjects(tenant, [{ subject: "s", at: noonBefore(5), last_activity: activity("earliest") }]);
  const text = "select hits, first_at, last_at, last_activity from rule_subjects where tenant_id = $1";
  expect(await selectAll(service.current.database, text, [tenant.tenantId])).toEqual([
    { hits: 5, first_at: noonBefore(5), last_at: noonBefore(2), last_activity: activity("late") },
  ]);
  await addSubjects(tenant, [{ subject: "s", at: noonBefore(1), last_activity: activity("latest") }]);
  expect(await selectAll(service.current.database, text, [tenant.tenantId])).toMatchObject([
    { hits: 6, first_at: noonBefore(5), last_at: noonBefore(1), last_activity: { activity_id: "latest" } },
  ]);
});

const said = (subject: string, disposition: string) => ({ subject, disposition, case_version: 2, decided_at: noonBefore(0) });

test("GET rule report 200: subjects, precision, examples and overlap cover those hit in these days", async () => {
  const tenant = await newTenant();
  await addSubjects(tenant, [
    { subject: "account:1", at: noonBefore(1), hits: 3 },
    { subject: "account:2", at: noonBefore(2) },
    { subject: "account:2", at: noonBefore(2), rule_id: "other_rule" },
    { subject: "account:1", at: noonBefore(6), rule_id: "other_rule" },
    { subject: "account:1", at: noonBefore(6), rule_id: "other_rule", is_shadow: true },
    { subject: "account:1", at: noonBefore(3), rule_id: "third_rule", is_shadow: true },
    { subject: "account:3", at: noonBefore(3), is_shadow: true },
    { subject: "account:4", at: noonBefore(8) },
    { subject: "account:4", at: noonBefore(1), rule_id: "third_rule" },
    { subject: "account:2", at: noonBefore(9), rule_id: "third_rule" },
  ]);
  await service.current.database.transaction((tx) =>
    insertOutcomes(
      tx,
      tenant.tenantId,
      [said("account:1", "CONFIRMED_FRAUD"), said("account:3", "FALSE_POSITIVE"), said("account:4", "FALSE_POSITIVE")].map(
        (each) => ({ ...each, case_id: randomUUID(), website_account_id: "x", decided_by: "x" }),
      ),
    ),
  );
  const found = await report(tenant);
  expect(found).toMatchObject({
    subjects: 2,
    shadow_subjects: 1,
    precision: { confirmed: 1, false_positives: 0, precision: 1 },
    shadow_precision: { confirmed: 0, false_positives: 1, precision: 0 },
    overlap: [
      { rule_id: "other_rule", subjects: 2 },
      { rule_id: "third_rule", subjects: 1 },
    ],
  });
  const example = { hits: 1, sentence: "It was." };
  expect(found.examples).toEqual([
    { ...example, subject: "account:1", is_shadow: false, hits: 3, activity_id: "of-account:1", occurred_at: noonBefore(1) },
    { ...example, subject: "account:2", is_shadow: false, activity_id: "of-account:2", occurred_at: noonBefore(2) },
    { ...example, subject: "account:3", is_shadow: true, activity_id: "of-account:3", occurred_at: noonBefore(3) },
  ]);
  const { rules } = (await tenant.call("GET", "/rules")).json.data as { rules: MeasuredRule[] };
  expect(rules.find((rule) => rule.rule_id === "own_rule")).toMatchObject({
    outcomes_7d: { confirmed: 1, false_positives: 0, precision: 1 },
    precision: { confirmed: 1, false_positives: 1, precision: 0.5 },
  });
  expect(await report(tenant, "?days=90")).toMatchObject({
    subjects: 3,
    precision: { confirmed: 1, false_positives: 1 },
    overlap: [
      { rule_id: "third_rule", subjects: 3 },
      { rule_id: "other_rule", subjects: 2 },
    ],
  });
});

const secondsAfterNoon = (count: number) => new Date(Date.parse(noonBefore(1)) + count * 1000).toISOString();

test("GET rule report 200: shows the twenty subjects hit last as examples, with the account if there is one", async () => {
  const tenant = await newTenant();
  await addSubjects(
    tenant,
    Array.from({ length: 30 }, (_, index) => ({
      subject: `account:${index}`,
      at: secondsAfterNoon(index),
      is_shadow: index % 3 === 0,
      last_activity: {
        activity_id: "a",
        website_account_id: String(index),
        occurred_at: secondsAfterNoon(index),
        sentence: "It was.",
      },
    })),
  );
  const { examples } = await report(tenant);
  const wanted = Array.from({ length: 20 }, (_, index) => String(29 - index));
  expect(examples.map((each) => each.website_account_id)).toEqual(wanted);
});

test("GET rule report 400 and 404: days outside 1 to 90 are rejected, and unknown rules are not found", async () => {
  const tenant = await newTenant();
  for (const days of ["0", "91", "-1", "1.5", "x", ""]) {
    expectProblem(await tenant.call("GET", `/rules/own_rule/report?days=${days}`), 400, "bad-request");
  }
  for (const path of ["/rules/absent", "/rules/absent/report", "/rules/absent/history", "/rules/No-Rule/report"]) {
    const problem = expectProblem(await tenant.call("GET", path), 404, "item-not-found");
    expect(problem.detail).toBe(`Rule not found: ${path.split("/")[2]}`);
  }
  expect((await report(tenant, "?days=1")).hits_per_day).toHaveLength(1);
});
