import type { View } from "@casehound/client";
import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { Browser } from "../../service/test/people.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

test("views: saved, opened, moved, changed and deleted by keyboard; the address and the chips show what a view filters", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("bob", "ann");
  await tenant.call("PUT", "/enduseraccounts/bob", { body: { is_blocked: true } });
  await visitor.goto("/?blocked=true&sort=oldest&changed=24h");
  await visitor.expectFocused("bob");
  await visitor.press("v");
  await page.getByRole("dialog", { name: "Save as a view" }).waitFor();
  await page.keyboard.type("Blocked today");
  await page.getByLabel("Shortcut").selectOption("1");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel("Name").press("Enter");
  await page.getByText("The view Blocked today was saved.").waitFor();
  const sidebar = page.getByRole("navigation", { name: "Saved views" });
  const link = sidebar.getByRole("link", { name: "Blocked today" });
  await expect.poll(() => link.textContent(), patience).toBe("Blocked today1");
  expect(await link.getAttribute("aria-current")).toBe("page");
  await visitor.goto();
  await visitor.expectFocused("ann");
  await link.waitFor();
  expect(await link.getAttribute("aria-current")).toBeNull();
  // Another digit after G does not close the case in focus.
  await visitor.press("g", "2");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await visitor.press("g", "1");
  await visitor.expectFocused("bob");
  await page.getByText("Account blocked", { exact: true }).waitFor();
  await page.getByText("Changed in the last 24 h", { exact: true }).waitFor();
  await visitor.press("Control+k");
  await page.keyboard.type("view blocked");
  await page.getByRole("option", { name: /Open the view Blocked today/ }).waitFor();
  await visitor.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await axeFindings(page)).toEqual([]);

  await visitor.press("v");
  await page.getByRole("dialog", { name: "Save as a view" }).waitFor();
  await page.keyboard.type("Everything");
  await visitor.press("Enter");
  await sidebar.getByRole("link", { name: "Everything" }).waitFor();
  await visitor.goto("/?status=all");
  await page.getByRole("button", { name: "Views" }).press("Enter");
  await page.getByRole("menuitem", { name: "Manage views" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("menuitem", { name: "Manage views" }).press("Enter");
  const manage = page.getByRole("dialog", { name: "Views" });
  await manage.getByRole("button", { name: "Move Everything up" }).press("Enter");
  await expect.poll(() => sidebar.getByRole("link").allTextContents(), patience).toEqual(["Everything1", "Blocked today1"]);
  expect(await axeFindings(page)).toEqual([]);
  await manage.getByRole("button", { name: "Edit Everything" }).press("Enter");
  await page.getByLabel("Replace its filters and sort order with the queue’s current ones").press("Space");
  await page.getByLabel(/^Share with everyone/).press("Space");
  expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel("Name").press("Enter");
  await expect.poll(() => sidebar.getByRole("link", { name: /Everything/ }).textContent(), patience).toBe("Everything2");
  // The list is refreshed before the dialog closes, and a modal dialog keeps the focus.
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const lead = await Browser.join(tenant, "lead");
  const seen = (await lead.call("GET", "/views")).json.data as { views: View[] };
  expect(seen.views).toMatchObject([{ name: "Everything", filter: {}, sort: "-overall_risk_score", is_own: false }]);
  await page.getByRole("button", { name: "Views" }).press("Enter");
  await page.getByRole("menuitem", { name: "Manage views" }).press("Enter");
  await manage.getByRole("button", { name: "Delete Everything" }).press("Enter");
  await page.getByRole("dialog", { name: "Delete Everything?" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole("dialog", { name: "Delete Everything?" }).getByRole("button", { name: "Delete" }).press("Enter");
  await expect.poll(() => sidebar.getByRole("link").count(), patience).toBe(1);
  expect(visitor.complaints).toEqual([]);
});

test("views: one that a colleague shares appears live, and one with filters that the menu does not offer shows them all", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  await visitor.report("bob");
  await visitor.goto();
  await visitor.expectLive();
  const filter = {
    claimed_by: "Eve \u202e",
    min_score: 2,
    max_score: 5,
    updated_within_hours: 72,
    created_after: "2026-01-01T00:00:00.000Z",
    closed_by: "crm",
  };
  const name = "A \u202ename";
  await tenant.call("POST", "/views", { body: { name, filter, sort: "created_at", is_shared: true, key: 7 } });
  const link = page.getByRole("navigation", { name: "Saved views" }).getByRole("link", { name: "A [U+202E]name" });
  await link.waitFor();
  await link.press("Enter");
  for (const chip of ["Claimed by Eve [U+202E]", "Risk 2 or higher", "Changed in the last 72 h", "Closed by crm"])
    await page.getByText(chip, { exact: true }).waitFor();
  await page.getByText(/^Opened since/).waitFor();
  await page.getByText("No cases match these filters").waitFor();
  expect(await link.getAttribute("aria-current")).toBe("page");
  expect(visitor.complaints).toEqual([]);
});
