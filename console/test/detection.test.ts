import { expect, test, vi } from "vitest";
import { ended, holdBacktest, readBacktest, startBacktest, useRunner } from "../../service/test/backtest-lab.ts";
import { saveRuleLimits } from "../../service/src/db/rule-limits.ts";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";
import { changeRule, expression, fill, hostile, id, made, name, putRule, quarantine, readRule } from "./detection-lab.ts";

vi.setConfig(consolePace);
// The rules screen in a real Chromium, against the real service.
const browser = useBrowser();
const service = useService();
useRunner(service);

const visit = (person?: Parameters<typeof Visitor.create>[2]) => Visitor.create(browser.current, service.current, person);

test("detection: a rule is found, opened, edited and saved by keyboard, and its versions show what changed", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  await visitor.goto("/detection");
  await page.getByRole("link", { name }).waitFor();
  await visitor.press("/");
  await page.keyboard.type("stuffing from one dev");
  await expect.poll(() => page.locator("[data-rule]").count(), patience).toBe(1);
  expect(page.url()).toContain("text=stuffing");
  await visitor.press("Escape", "j", "Enter");
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await visitor.press("e");
  await page.getByLabel("Sentence").fill("Log-ins failed on one device: ");
  await page.getByLabel("Filter the fields").fill("failed_accounts_1h");
  await page.getByRole("button", { name: "Insert device.failed_accounts_1h" }).press("Enter");
  await expect
    .poll(() => page.getByLabel("Sentence").inputValue(), patience)
    .toBe("Log-ins failed on one device: {device.failed_accounts_1h}");
  await visitor.press("Control+Enter");
  await page.getByText(`${name} is saved as version 2.`).waitFor();
  expect(await readRule(tenant)).toMatchObject({
    rule_version: 2,
    sentence: "Log-ins failed on one device: {device.failed_accounts_1h}",
  });
  const versions = page.getByRole("region", { name: "Versions" });
  await versions.locator("ins").first().waitFor();
  expect(await versions.locator("del").allTextContents()).not.toEqual([]);
  expect(visitor.complaints).toEqual([]);
});

test("detection: a fault is marked at its position, the draft survives a reload, and nothing changes", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  await visitor.goto(`/detection/${id}?edit=true`);
  const wrong = "event.value > 3 &&\n  device.acounts_1h >= 5";
  await page.getByLabel("Expression").fill(wrong);
  await page.getByLabel("Shadow").check();
  await page.getByRole("button", { name: /Save/ }).click();
  await page.getByText("Line 2, column 10:").waitFor();
  expect(await page.locator("mark").textContent()).toBe("acounts_1h");
  const area = page.locator("textarea").first();
  expect(await area.evaluate((each) => each.ownerDocument.activeElement === each)).toBe(true);
  expect(await area.getAttribute("aria-invalid")).toBe("true");
  expect(await readRule(tenant)).toMatchObject({ rule_version: 1, state: "on" });
  await page.getByRole("button", { name: /Try it on/ }).click();
  await page.getByText("The backtest did not start: see the expression above.").waitFor();
  await page.reload();
  expect(await page.getByLabel("Expression").inputValue()).toBe(wrong);
  await page.getByLabel("Expression").fill("device.accounts_1h >= 5");
  expect(await page.locator("mark").count()).toBe(0);
  await page.getByRole("button", { name: /Save/ }).click();
  await page.getByText("is saved as version 2").waitFor();
  expect(await readRule(tenant)).toMatchObject({ rule_version: 2, state: "shadow", expression: "device.accounts_1h >= 5" });
  expect(visitor.complaints).toEqual([]);
});

test("detection: a version conflict keeps the draft, shows what changed, and continuing undoes nobody's change", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  await visitor.goto(`/detection/${id}?edit=true`);
  await page.getByLabel("Name").fill("My own name");
  await changeRule(tenant, { weight: 1.2, name: "Their name" });
  await visitor.press("Control+Enter");
  const strip = page.getByRole("alert").filter({ hasText: "version 1 to 2" });
  await strip.waitFor();
  expect(await strip.textContent()).toContain("except in the fields that you also changed: name.");
  expect(await strip.locator("ins").allTextContents()).toContain("1.2");
  expect(await page.getByLabel("Name").inputValue()).toBe("My own name");
  expect(await readRule(tenant)).toMatchObject({ rule_version: 2, name: "Their name" });
  await page.reload();
  await strip.waitFor();
  await strip.getByRole("button", { name: "Continue with my draft" }).click();
  expect(await page.getByLabel("Weight").inputValue()).toBe("1.2");
  await page.getByLabel("Name").press("Control+Enter");
  await page.getByText("My own name is saved as version 3.").waitFor();
  expect(await readRule(tenant)).toMatchObject({ rule_version: 3, name: "My own name", weight: 1.2 });
  expect(visitor.complaints).toEqual([]);
});

test("detection: a new rule is tried on the last 30 days, the result survives a reload, and it switches on without a warning", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  await fill(tenant);
  await visitor.goto("/detection");
  await page.getByRole("link", { name }).waitFor();
  await visitor.press("n");
  await page.getByRole("heading", { level: 1, name: "New rule" }).waitFor();
  await page.getByLabel("Name").fill("Many at once");
  await page.getByLabel("Id", { exact: true }).fill(id);
  await page.getByLabel("Expression").fill(expression);
  await page.getByLabel("Sentence").fill("{device.accounts_1h} accounts.");
  await page.getByRole("button", { name: /Try it on the last 30 days/ }).click();
  await page.getByText("Run on 4 decisions").waitFor();
  await page.reload();
  const tried = page.getByRole("region", { name: "Try it" });
  await tried.getByText("Run on 4 decisions").waitFor();
  expect(await tried.locator("dd").allTextContents()).toEqual(expect.arrayContaining(["3", "2"]));
  expect(await tried.getByRole("img", { name: "3 hits in 30 days, at most 2 on one day" }).count()).toBe(1);
  expect(await tried.getByRole("link", { name: "ann" }).getAttribute("href")).toBe("/accounts/ann");
  await page.getByRole("button", { name: /Save/ }).click();
  await page.getByText("Another rule has this id.").waitFor();
  expect(await readRule(tenant)).toMatchObject({ rule_version: 1, name });
  await page.getByLabel("Id", { exact: true }).fill("many_at_once");
  await page.getByRole("button", { name: /Save/ }).click();
  await page.getByRole("button", { name: /Many at once is shadow/ }).click();
  await page.getByRole("menuitem", { name: /^On/ }).click();
  await page.getByText("Many at once is on.").waitFor();
  expect(await readRule(tenant, "many_at_once")).toMatchObject({ rule_version: 2, state: "on", expression });
  expect(visitor.complaints).toEqual([]);
});

test("detection: switching on an untried rule warns but is allowed, and undo switches it back", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  await putRule(tenant, "untried", made);
  await visitor.goto("/detection?state=off");
  const dialog = page.getByRole("dialog", { name: "Switch on without a backtest?" });
  const press = async (button: string) => {
    await page.getByRole("button", { name: /Many at once is off/ }).click();
    await page.getByRole("menuitem", { name: /^On/ }).click();
    await dialog.getByRole("button", { name: button }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await press("Close this dialog");
  expect(await readRule(tenant, "untried")).toMatchObject({ rule_version: 1, state: "off" });
  await press("Switch on anyway");
  await page.getByText("Many at once is on.").waitFor();
  expect(await readRule(tenant, "untried")).toMatchObject({ rule_version: 2, state: "on" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Many at once is off.").waitFor();
  expect(await readRule(tenant, "untried")).toMatchObject({ rule_version: 3, state: "off" });
  await press("Try it first");
  await page.waitForURL(/untried\?backtest=/);
  expect(await readRule(tenant, "untried")).toMatchObject({ rule_version: 3, state: "off" });
  expect(visitor.complaints).toEqual([]);
});

test("detection: a running backtest shows its progress after a reload and can be cancelled", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  await putRule(tenant, "held", made);
  const { backtest_id: held } = await holdBacktest(tenant, { expression, days: 30 });
  await visitor.goto(`/detection/held?backtest=${held}`);
  await page.getByRole("progressbar", { name: "Backtest progress" }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText(/The backtest was cancelled/).waitFor();
  expect(await readBacktest(tenant, held)).toMatchObject({ status: "CANCELLED" });
  await visitor.goto("/detection/held?backtest=nothing");
  await page.getByText("This backtest is no longer stored.").waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("detection: a reader is offered no changes, and a person without read access sees that the screen is not available", async () => {
  const reader = await visit({ scopes: ["read:rules"] });
  await reader.goto("/detection");
  await reader.page.getByRole("link", { name }).waitFor();
  expect(await reader.page.getByRole("link", { name: /New rule/ }).count()).toBe(0);
  await reader.goto(`/detection/${id}?edit=true`);
  await reader.page.getByRole("heading", { name: "Versions" }).waitFor();
  await reader.press("e");
  expect(await reader.page.getByRole("button", { name: /Edit|Try it on|Change its state|Save/ }).count()).toBe(0);
  await reader.goto("/detection/new-rule");
  await reader.page.getByText("Not available to you").waitFor();
  await reader.goto("/detection?tab=thresholds");
  expect(await reader.page.getByLabel("Score 3 from").isDisabled()).toBe(true);
  await reader.goto("/detection?tab=not-accepted");
  await reader.page.getByText("Not available to you").waitFor();
  const other = await Visitor.open(browser.current, reader.tenant, { scopes: ["read:cases"] });
  await other.goto(`/detection/${id}`);
  await other.page.getByText("Not available to you").waitFor();
  expect([...reader.complaints, ...other.complaints]).toEqual([]);
});

test("detection: thresholds out of order are rejected at their field, and a colleague's change is shown before it is overwritten", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  const read = async () => (await tenant.call("GET", "/thresholds")).json.data as object;
  // Hold the stream. If it reported the change before the response, the page would not let this person save.
  await page.route("**/events/stream*", () => {});
  await visitor.goto("/detection?tab=thresholds");
  const save = page.getByRole("button", { name: "Save the thresholds" });
  await page.getByLabel("Score 3 from").fill("0.5");
  await save.click();
  await page.getByText("must be more than the threshold of score 2").waitFor();
  expect(await read()).toMatchObject({ score_3: 2.5, thresholds_version: 1 });
  await page.getByLabel("Score 3 from").fill("2.8");
  const theirs = { score_2: 1, score_3: 2.5, score_4: 4, score_5: 7, thresholds_version: 1 };
  expect((await tenant.call("PUT", "/thresholds", { body: theirs })).status).toBe(200);
  await save.click();
  await page.getByText(/score 5 from 6 to 7/).waitFor();
  expect(await page.getByLabel("Score 3 from").inputValue()).toBe("2.8");
  await page.getByRole("button", { name: "Continue with mine" }).click();
  await save.click();
  await page.getByText("The thresholds are saved.").waitFor();
  expect(await read()).toMatchObject({ score_3: 2.8, score_5: 7, thresholds_version: 3 });
  expect(visitor.complaints).toEqual([]);
});

test("detection: markup in rules, accounts and quarantined input stays text", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  await putRule(tenant, "hostile", { ...made, name: hostile, sentence: hostile.replaceAll(/[{}]/g, "") });
  await fill(tenant, hostile);
  await quarantine(tenant, [{ reason: "not-json", excerpt: hostile }]);
  const { backtest_id: done } = await startBacktest(tenant, { expression, label: "hostile" });
  await ended(tenant, done);
  await visitor.goto("/detection?text=onerror");
  expect(await page.locator("[data-rule]").textContent()).toBe(hostile);
  await visitor.goto(`/detection/hostile?backtest=${done}`);
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(hostile);
  await page.getByRole("link", { name: hostile }).waitFor();
  await visitor.goto("/detection?tab=not-accepted&reason=not-json");
  await page.getByText(hostile).waitFor();
  expect(await page.title()).toBe("Casehound");
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test("detection: its screens have no axe findings, in either theme", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  await fill(tenant);
  await putRule(tenant, "own", made);
  await putRule(tenant, "own", { ...made, weight: 2, expression: `${expression} && event.value > 3`, rule_version: 1 });
  await quarantine(tenant, [
    { reason: "not-json", excerpt: "no" },
    { reason: "wrong-hash", excerpt: "h" },
  ]);
  const { backtest_id: done } = await startBacktest(tenant, { expression });
  await ended(tenant, done);
  const found: Record<string, string[]> = {};
  const look = async (path: string, wait: string) => {
    await visitor.goto(path);
    await page.getByText(wait).first().waitFor();
    found[path] = await axeFindings(page);
  };
  await look("/detection", name);
  await look(`/detection/own?backtest=${done}`, "Run on 4 decisions");
  await look("/detection?tab=thresholds", "From evidence to score");
  await look("/detection?tab=not-accepted", "Not JSON");
  await look("/detection/new-rule", "device.accounts_1h");
  await visitor.goto("/detection/own?edit=true");
  await page.getByLabel("Expression").fill("event.nothing == 1");
  await page.getByRole("button", { name: /Save/ }).click();
  await page.locator("mark").waitFor();
  found["fault"] = await axeFindings(page);
  await putRule(tenant, "own", { ...made, rule_version: 2 });
  // The stream reports the change before anything is sent.
  await page.getByText("version 2 to 3").waitFor();
  found["conflict"] = await axeFindings(page);
  await page.getByRole("button", { name: "Continue with my draft" }).click();
  await page.getByRole("radio", { name: /^On/ }).check();
  await page.getByRole("button", { name: /Save/ }).click();
  await page.getByRole("dialog").waitFor();
  found["warning"] = await axeFindings(page);
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((each) => [each, []])));
  expect(visitor.complaints).toEqual([]);
});

test("detection: a paused rule is marked in the list and on its own page, and other rules are not", async () => {
  const visitor = await visit();
  const { page, tenant } = visitor;
  const now = Date.now();
  const [limited_at, limited_until] = [now, now + 300_000].map((at) => new Date(at).toISOString()) as [string, string];
  await tenant.service.database.transaction((tx) =>
    saveRuleLimits(tx, tenant.tenantId, { rule_ids: [id], limited_at, limited_until }),
  );
  await visitor.goto("/detection");
  await page.getByRole("link", { name }).waitFor();
  expect(await page.getByRole("row").filter({ hasText: "Limited" }).getByRole("link").allTextContents()).toEqual([name]);
  await page.getByRole("link", { name }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  expect(await page.getByText("Its patterns take too long. It is paused until").count()).toBe(1);
  expect(visitor.complaints).toEqual([]);
});
