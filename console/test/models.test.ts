import { readFile } from "node:fs/promises";
import { hash } from "node:crypto";
import { expect, test, vi } from "vitest";
import { statement } from "../../service/src/db/postgres/sql.ts";
import type { Comparison, Figures, Model } from "../../service/src/domain/model.ts";
import { useOwnDatabase, useService, type TestTenant } from "../../service/test/harness.ts";
import { amountModel, insertTestModel, noFigures } from "../../service/test/models-lab.ts";
import { insertPaid, paymentsOf } from "../../service/test/training-lab.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// The models screen. No engine runs here, because it would train, measure and retire models automatically.
const browser = useBrowser();
const service = useService({ databaseUrl: useOwnDatabase("console_models"), roles: new Set(["api"]) });

const path = "/detection?tab=models";

function measured(auc: number, cases_per_day: number): Comparison["model"] {
  return { auc, average_precision: auc - 0.2, recall: auc - 0.3, precision: auc - 0.1, cases_per_day };
}

const days = Array.from({ length: 7 }, (_, index) => ({
  day: `2026-11-0${index + 1}`,
  rows: 1200 + index,
  frauds: 5 + index,
  average_precision: 0.7 + index / 100,
  average_precision_before: index === 0 ? null : 0.6,
  found: 4 + index,
  found_before: 3 + index,
}));
const comparison: Comparison = {
  from: "2026-11-01T00:00:00.000Z",
  until: "2026-11-08T00:00:00.000Z",
  rows: 8421,
  frauds: 56,
  calibration_error: 0.013,
  model: measured(0.941, 52.4),
  before: measured(0.902, 31.2),
  days,
};
const figures: Figures = { trees: 200, rows: 60_214, frauds: 412, offset: 0.4, held_out: comparison };
const drift = (index: number) => ({
  measured_at: new Date(Date.now() - 240_000).toISOString(),
  cases_per_day: 34,
  fields: { "event.value": index, "account.device_is_new": 0.08 },
});

// Payments have a champion, a challenger and an earlier champion. Log-ins have nothing.
async function insertModels(tenant: TestTenant, index = 0.12) {
  const before = await insertTestModel(tenant, { model: amountModel({ limit: 1 }), figures, at: "2026-10-01T03:00:00.000Z" });
  await retire(tenant, before);
  const champion = await insertTestModel(tenant, {
    model: amountModel({ limit: 2 }),
    figures: { ...figures, drift: drift(index) },
    at: "2026-10-20T03:00:00.000Z",
  });
  const challenger = await insertTestModel(tenant, {
    model: amountModel({ limit: 3 }),
    state: "CHALLENGER",
    figures: { ...figures, shadow: comparison },
    at: "2026-11-10T03:00:00.000Z",
  });
  return { before, champion, challenger };
}

async function retire(tenant: TestTenant, id: string): Promise<void> {
  expect((await tenant.call("POST", `/models/${id}/retire`)).status).toBe(200);
}

async function stateOf(tenant: TestTenant, id: string): Promise<Model["state"]> {
  return ((await tenant.call("GET", `/models/${id}`)).json.data as Model).state;
}

test("models: without a model the screen says how many labels there are and how many are needed", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.goto(path);
  await page.getByRole("heading", { name: "There are no labels yet" }).waitFor();
  const rows = page.getByRole("list", { name: "Labels" }).getByRole("listitem");
  expect(await rows.allInnerTexts()).toHaveLength(3);
  await insertPaid(tenant, paymentsOf({ count: 12, days: 2, fraudShare: 1 }));
  await page.reload();
  await page.getByRole("heading", { name: "There is no model yet" }).waitFor();
  await rows.getByText("12 of 50 known frauds needed · 12 labels").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test("models: shows champion and challenger with their figures; before a promotion, a rollback or a retirement, a dialog says what changes", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { before, champion, challenger } = await insertModels(tenant);
  await visitor.goto(path);
  const section = page.getByRole("region", { name: "Payments and transfers" });
  const next = section.getByRole("article", { name: `Challenger ${challenger.slice(0, 12)}` });
  await next.getByText("The number of cases a day would change by more than 25 %.").waitFor();
  const cells = await next.getByRole("row").filter({ hasText: "AUC" }).getByRole("cell").allTextContents();
  expect(cells).toEqual(["0.941", "0.902", "+0.039"]);
  await next.getByText("By day").click();
  expect(await next.getByRole("row").filter({ hasText: "2026-11-01" }).getByRole("cell").allTextContents()).toEqual([
    "1,200",
    "5",
    "0.700",
    "–",
    "4",
    "3",
  ]);
  const dialog = page.getByRole("dialog");
  await next.getByRole("button", { name: "Promote" }).press("Enter");
  await dialog.getByText("the number of cases a day changes from 31.2 to 52.4").waitFor();
  expect(await dialog.textContent()).toContain(`The champion ${champion.slice(0, 12)} is retired.`);
  expect(await axeFindings(page)).toEqual([]);
  await visitor.press("Escape");
  expect(await stateOf(tenant, challenger)).toBe("CHALLENGER");
  await next.getByRole("button", { name: "Promote" }).press("Enter");
  await dialog.getByRole("button", { name: "Promote" }).press("Enter");
  await page.getByText(`${challenger.slice(0, 12)} is the champion.`).waitFor();
  const now = section.getByRole("article", { name: `Champion ${challenger.slice(0, 12)}` });
  await now.getByRole("button", { name: "Roll back" }).click();
  expect(await dialog.textContent()).toContain(`From now on, ${champion.slice(0, 12)} rates payments and transfers.`);
  await dialog.getByRole("button", { name: "Roll back" }).click();
  const again = section.getByRole("article", { name: `Champion ${champion.slice(0, 12)}` });
  await again.getByRole("button", { name: "Retire" }).click();
  await dialog.getByText("the rules alone decide").waitFor();
  await dialog.getByRole("button", { name: "Retire" }).click();
  await section.getByText("No champion").waitFor();
  expect(await Promise.all([before, champion, challenger].map((id) => stateOf(tenant, id)))).toEqual(Array(3).fill("RETIRED"));
  expect(visitor.complaints).toEqual([]);
});

test("models: a colleague's change shows at once, and the hash of a downloaded model is its id", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { champion } = await insertModels(tenant);
  await visitor.goto(path);
  const card = page.getByRole("article", { name: `Champion ${champion.slice(0, 12)}` });
  const waiting = page.waitForEvent("download");
  await card.getByRole("button", { name: /^Download/ }).click();
  const download = await waiting;
  expect(download.suggestedFilename()).toBe(`value-${champion.slice(0, 12)}.json`);
  expect(hash("sha256", await readFile(await download.path(), "utf8"))).toBe(champion);
  await retire(tenant, champion);
  await page.getByText("No champion").waitFor();
});

test("models: a change in the number of known frauds is a banner that names both numbers", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const frauds_per_day = { last_7_days: 12, before: 3 };
  await insertTestModel(visitor.tenant, { figures: { ...figures, drift: { ...drift(0.1), is_drifted: true, frauds_per_day } } });
  await visitor.goto(path);
  const banner = visitor.page.getByRole("status").filter({ hasText: "differ from what the champion learned" });
  await banner.filter({ hasText: "12 known frauds a day in the last 7 days, and 3 before" }).waitFor();
  expect(await banner.count()).toBe(1);
});

test("models: if the champion has drifted, a banner names the fields; otherwise there is no banner", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await insertModels(tenant, 0.41);
  await visitor.goto(path);
  const banner = page.getByRole("status").filter({ hasText: "differ from what the champion learned" });
  await banner.filter({ hasText: "Amount" }).waitFor();
  await page.getByText("Fields that changed most").click();
  const fields = page.getByRole("list", { name: "Drift by field" }).getByRole("listitem");
  await expect
    .poll(() => fields.allTextContents(), patience)
    .toEqual([expect.stringMatching(/^Amount.*0\.41$/), expect.stringMatching(/0\.08$/)]);
  const calm = await Visitor.create(browser.current, service.current);
  await insertModels(calm.tenant);
  await calm.goto(path);
  await calm.page.getByText("Drift: at most 0.12").waitFor();
  expect(await calm.page.getByText("differ from what the champion learned").count()).toBe(0);
});

test("models: Train now queues a run for each moment, shows its progress, and a run without a model says why", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.goto(path);
  await page.getByText("No model has been trained yet.").waitFor();
  await visitor.press("t");
  await page.getByText("The training run is queued.").waitFor();
  const bar = page.getByRole("progressbar", { name: "Training: Payments and transfers" });
  await bar.waitFor();
  expect(await page.getByRole("button", { name: /Train now/ }).isDisabled()).toBe(true);
  const update = (text: string) => tenant.service.database.query(statement(text, [tenant.tenantId]));
  await update(
    `update model_runs set status = 'RUNNING', progress = '{"phase":"training","percent":64,"begun":1}' where tenant_id = $1`,
  );
  await page.getByText("Training, 64 %").first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await update("update model_runs set status = 'DONE', reason = 'Too few.' where tenant_id = $1");
  await page.getByText("No new model. Too few.").first().waitFor();
  expect(await page.getByRole("button", { name: /Train now/ }).isEnabled()).toBe(true);
  expect(visitor.complaints).toEqual([]);
});

test("models: a reader sees figures and the reason why there are no buttons; without read access the tab is not available", async () => {
  const reader = await Visitor.create(browser.current, service.current, { scopes: ["read:rules", "read:models"] });
  await insertModels(reader.tenant);
  await reader.goto(path);
  await reader.page.getByText("Only leads and admins can train, promote and retire models.").waitFor();
  await reader.page.getByText("1 earlier model").click();
  await reader.press("t");
  expect(await reader.page.getByRole("button", { name: /Promote|Roll back|Retire|Train/ }).count()).toBe(0);
  const other = await Visitor.open(browser.current, reader.tenant, { scopes: ["read:rules"] });
  await other.goto(path);
  await other.page.getByText("Not available to you").waitFor();
  expect([...reader.complaints, ...other.complaints]).toEqual([]);
});

test.each(["light", "dark"] as const)("models: the screen has no axe findings with everything open, %s", async (theme) => {
  const visitor = await Visitor.create(browser.current, service.current, { theme });
  const { page, tenant } = visitor;
  await insertModels(tenant, 0.41);
  await insertTestModel(tenant, { moment: "entry", state: "CHALLENGER", figures: noFigures });
  await visitor.goto(path);
  await page.getByText("There are no figures").waitFor();
  for (const summary of await page.locator("summary").all()) await summary.click();
  expect(await axeFindings(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});
