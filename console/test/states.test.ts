import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// A failed read is reported where the data is missing, and data read before stays.
const browser = useBrowser();
const service = useService();

const problem = { type: "bad-request", title: "Bad request", status: 400, detail: "Not today.", errors: null };

// Rejects matching requests until `unroute` is called.
async function refuse(page: Page, path: RegExp): Promise<{ count: number }> {
  const refused = { count: 0 };
  await page.route(path, (route) => {
    refused.count++;
    return route.fulfill({ status: 400, contentType: "application/problem+json", body: JSON.stringify(problem) });
  });
  return refused;
}

test("states: the queue reports that its next page failed, does not retry automatically, and continues on request", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const activities = Array.from({ length: 101 }, (_, index) => ({
    activity_id: randomUUID(),
    type: "fraud_report",
    occurred_at: new Date().toISOString(),
    website_account_id: `account-${index}`,
  }));
  await tenant.call("POST", "/activities", { body: { activities } });
  await expect.poll(() => tenant.list("status=OPEN"), patience).toHaveLength(101);
  const next = /\/cases\?.*cursor=/;
  const refused = await refuse(page, next);
  await visitor.goto();
  await page.getByText("First 100 cases").waitFor();
  await page.evaluate("document.querySelector('[role=grid]').scrollTo(0, 100_000)");
  await page.getByText("The next cases could not be loaded: Not today.").waitFor();
  expect(await page.getByRole("row").count()).toBeGreaterThan(1);
  await page.evaluate("document.querySelector('[role=grid]').scrollBy(0, -200)");
  await page.evaluate("document.querySelector('[role=grid]').scrollBy(0, 200)");
  await page.getByRole("row").last().click();
  expect(refused.count).toBe(1);
  await page.unroute(next);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("101 cases").waitFor();
  expect(await page.getByText("could not be loaded").count()).toBe(0);
});

test("states: a case that cannot be reread stays with its draft, and is marked as possibly out of date", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { case_id: id } = await tenant.openCase("ann");
  await visitor.goto();
  await visitor.expectFocused("ann");
  await visitor.expectLive();
  await visitor.press("Enter");
  await page.getByRole("heading", { name: "Audit trail" }).waitFor();
  await visitor.press("c");
  const reason = page.getByRole("dialog").getByLabel(/Reason/);
  await reason.fill("Called back.");
  const own = new RegExp(`/cases/${id}$`);
  await refuse(page, own);
  await tenant.report("ann");
  const stale = page.getByText(/^This may be out of date/);
  await stale.waitFor({ state: "attached" });
  expect(await reason.inputValue()).toBe("Called back.");
  await page.unroute(own);
  await visitor.press("Escape");
  await stale.getByRole("button", { name: "Try again" }).click();
  await page.getByText("version 2").first().waitFor();
  expect(await stale.count()).toBe(0);
});

test("states: an account's lists that fail to load say so and are read again on request", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.openCase("ann");
  const lists = /\/enduseraccounts\/ann\/(events|activities|sessions|links)|\/cases\?/;
  await refuse(page, lists);
  await visitor.goto("/accounts/ann");
  for (const what of ["The cases", "The activity", "The sessions", "The devices and addresses", "History"])
    await page.getByText(`${what} could not be loaded: Not today.`, { exact: true }).waitFor();
  await page.getByText("Who set the flags could not be loaded: Not today.").waitFor();
  expect(await page.getByText(/Never set|Switched off/).count()).toBe(0);
  await page.unroute(lists);
  const again = page.getByRole("button", { name: "Try again" });
  expect(await again.count()).toBe(5);
  for (let left = 4; left >= 0; left--) {
    await again.first().click();
    await expect.poll(() => again.count(), patience).toBe(left);
  }
  expect(await page.getByText("could not be loaded").count()).toBe(0);
  await page.getByText("Never set").first().waitFor();
});

test("states: a person who may not list cases sees that the queue is not available", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { scopes: ["read:enduseraccount"] });
  await visitor.goto();
  await visitor.page.getByText("The queue is not available to you").waitFor();
  expect(await visitor.page.getByRole("grid").count()).toBe(0);
});
