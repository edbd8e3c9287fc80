import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { clock } from "../../service/src/clock.ts";
import { insertOutcomes } from "../../service/src/db/outcomes.ts";
import { statement } from "../../service/src/db/postgres/sql.ts";
import { addRuleSubjects } from "../../service/src/db/rules.ts";
import type { ModelSettings } from "../../service/src/domain/model.ts";
import { drawDay } from "../../service/src/engine/random-checks.ts";
import { dayBefore, insertDecided, noonBefore, type Decided } from "../../service/test/decided.ts";
import { useOwnDatabase, useService, type TestTenant } from "../../service/test/harness.ts";
import { apply } from "../../service/test/labels-lab.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { readRule } from "./detection-lab.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// The settings below the models. No engine runs here, because it would draw random checks itself.
const browser = useBrowser();
const service = useService({ databaseUrl: useOwnDatabase("console_model_settings"), roles: new Set(["api"]) });

const path = "/detection?tab=models";

// Closes cases about subjects that the rule hit: first the frauds, then the false ones.
async function decideHits(tenant: TestTenant, rule_id: string, { frauds, all }: { frauds: number; all: number }): Promise<void> {
  const [at, decided_at] = [noonBefore(2), noonBefore(1)];
  const subjects = Array.from({ length: all }, (_, index) => `account:${rule_id}-${index}`);
  const last_activity = { activity_id: randomUUID(), occurred_at: at, sentence: "It was." };
  const hits = subjects.map((subject) => ({ rule_id, is_shadow: false, subject, hits: 1, at, last_activity }));
  const outcomes = subjects.map((subject, index) => ({
    case_id: randomUUID(),
    case_version: 2,
    subject,
    website_account_id: subject,
    disposition: index < frauds ? "CONFIRMED_FRAUD" : "FALSE_POSITIVE",
    decided_at,
    decided_by: "ada",
  }));
  await tenant.service.database.transaction(async (tx) => {
    await addRuleSubjects(tx, tenant.tenantId, hits);
    await insertOutcomes(tx, tenant.tenantId, outcomes);
  });
}

async function releasedOf(tenant: TestTenant): Promise<string[]> {
  const { settings }: { settings: ModelSettings } = (await tenant.call("GET", "/models")).json.data;
  return settings.released_rules;
}

test("models: rules that models may overrule are listed by precision, and a switch keeps what a colleague switched", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await decideHits(tenant, "stuffing_device", { frauds: 1, all: 4 });
  await decideHits(tenant, "impossible_travel", { frauds: 1, all: 2 });
  // Without the stream, the page does not know what the colleague does.
  await page.route("**/events/stream*", (route) => route.abort());
  await visitor.goto(path);
  const section = page.getByRole("region", { name: "Rules that models may overrule" });
  const rows = section.getByRole("listitem");
  await rows.first().waitFor();
  const [stuffing, travel] = await Promise.all(["stuffing_device", "impossible_travel"].map((id) => readRule(tenant, id)));
  const texts = await rows.allInnerTexts();
  expect(texts[0]).toMatch(new RegExp(`^${stuffing?.name}\\s+25% · 1 closed as fraud, 3 as false`));
  expect(texts[1]).toMatch(new RegExp(`^${travel?.name}\\s+50% · 1 closed as fraud, 1 as false`));
  expect(texts[2]).toContain("Precision not known yet");
  await section.getByRole("button", { name: /^Show \d+ more$/ }).click();
  expect(await axeFindings(page)).toEqual([]);
  const colleagues = { body: { released_rules: ["impossible_travel"] } };
  expect((await tenant.call("PUT", "/models/settings", colleagues)).status).toBe(200);
  const toggle = section.getByRole("switch", { name: `May overrule ${stuffing?.name}` });
  await toggle.press("Space");
  await page.getByText(`Models may overrule ${stuffing?.name}. Past scores do not change.`).waitFor();
  expect(await section.locator('[role=switch][aria-checked="true"]').count()).toBe(2);
  expect(await releasedOf(tenant)).toEqual(["impossible_travel", "stuffing_device"]);
  await toggle.press("Space");
  await page.getByText(`Models may no longer overrule ${stuffing?.name}.`).waitFor();
  expect(await releasedOf(tenant)).toEqual(["impossible_travel"]);
  expect(visitor.complaints).toEqual([]);
});

function paid(count: number, score: number): Decided[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "payment",
    website_account_id: `payer-${score}-${index}`,
    received_at: noonBefore(1),
    score,
    decision: { v: 1, l: 0, f: {} },
  }));
}

// Random checks need a day in the past, so they are drawn as if they had been turned on two days ago.
async function drawChecks(tenant: TestTenant): Promise<void> {
  const { database } = tenant.service;
  await insertDecided(tenant, [...paid(50, 1), ...paid(60, 4)]);
  const sooner = "update detection_settings set random_checked_on = random_checked_on - 2 where tenant_id = $1";
  await database.query(statement(sooner, [tenant.tenantId]));
  const found = `
    insert into labels (tenant_id, id_key, source, case_id, received_at, y, weight, event_at, labelled_at, known_at, actor)
    select tenant_id, id_key, 'api', '00000000-0000-0000-0000-000000000000', received_at, 1, 1, received_at, now(), now(), 'shop'
    from activities
    where tenant_id = $1 and score = 4`;
  await database.query(statement(found, [tenant.tenantId]));
  expect(await drawDay({ database, clock }, tenant.tenantId, dayBefore(1))).toBe(10);
}

// Closes all but one: one as fraud, the others as false.
async function decideChecks(tenant: TestTenant): Promise<void> {
  const [, ...cases] = await tenant.list("status=OPEN");
  for (const [index, { case_id, case_version }] of cases.entries()) {
    const disposition = index === 0 ? "CONFIRMED_FRAUD" : "FALSE_POSITIVE";
    expect((await tenant.put(case_id, { case_version, status: "CLOSED", disposition })).status).toBe(200);
  }
  await apply(tenant);
}

test("models: random checks are set by their number a day, and their outcomes say in words which share of frauds is found", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.goto(path);
  const section = page.getByRole("region", { name: "Random checks" });
  await section.getByText("Not known, because there were no random checks.").waitFor();
  const field = section.getByLabel("Checks a day");
  await field.fill("101");
  await section.getByText("A whole number from 0 to 100").waitFor();
  expect(await section.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  expect(await axeFindings(page)).toEqual([]);
  await field.fill("10");
  await field.press("Enter");
  await page.getByText("10 cases are opened at random each day.").waitFor();
  await section.getByText("Not known yet. The first cases are opened the day after").waitFor();
  await drawChecks(tenant);
  await page.reload();
  await section.getByText("Payments and transfers: not known yet. 10 checks are waiting for a decision.").waitFor();
  await decideChecks(tenant);
  await page.reload();
  const estimates = section.getByRole("list", { name: "Estimates" }).getByRole("listitem");
  await expect
    .poll(() => estimates.allInnerTexts(), patience)
    .toEqual([
      "Of all fraudulent payments and transfers, about 92% are found (at least 69% with 95% confidence), from 9 checks. About 6 were missed. 1 more check is waiting for a decision.",
    ]);
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test("models: people who may not change these settings see them and who may, and a rejection is shown", async () => {
  const reader = await Visitor.create(browser.current, service.current, { scopes: ["read:rules", "read:models"] });
  const { page, tenant } = reader;
  expect((await tenant.call("PUT", "/random-checks", { body: { per_day: 1 } })).status).toBe(200);
  await reader.goto(path);
  await page.getByText("Only leads and admins can change this.").waitFor();
  await page.getByText("Only leads and admins can change the number.").waitFor();
  await page.getByText("1 case is opened at random each day.").waitFor();
  await page.getByText("May not overrule").first().waitFor();
  expect(await page.getByRole("switch").count()).toBe(0);
  expect(await page.getByLabel("Checks a day").count()).toBe(0);
  const lead = { scopes: ["read:rules", "read:models", "manage:models"], granted: ["read:rules", "read:models"] };
  const other = await Visitor.open(browser.current, tenant, lead);
  await other.goto(path);
  await other.page.getByRole("switch").first().click();
  await other.page.getByText("Not changed: The token lacks the scope manage:models.").waitFor();
  await other.page.getByLabel("Checks a day").fill("0");
  await other.page.getByRole("button", { name: "Save" }).click();
  await other.page.getByText("Not saved: The token lacks the scope manage:models.").waitFor();
  expect(await releasedOf(tenant)).toEqual(["instrument_known_fraud", "payee_known_fraud"]);
  expect([...reader.complaints, ...other.complaints]).toEqual([]);
});
