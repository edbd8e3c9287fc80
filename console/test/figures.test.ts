import { readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

test("figures: an empty period says so; closes appear by person with links to the closed cases, and as CSV", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { width: 1280 });
  const { page, tenant } = visitor;
  await visitor.goto("/team?days=7");
  expect(await page.getByText("No cases were closed in this period.").first().textContent()).toBeTruthy();
  await page.getByText(/^No payment is evidence/).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.report("bob", "ann");
  for (const { case_id, case_version } of await tenant.list("status=OPEN"))
    await tenant.put(case_id, { status: "CLOSED", case_version, disposition: "CONFIRMED_FRAUD" });
  await page.reload();
  const people = page.getByRole("region", { name: "Closed by person, table" });
  const row = people.getByRole("row").filter({ hasText: tenant.clientId });
  const shown = async () => (await row.getByRole("cell").allTextContents()).slice(0, 6);
  await expect.poll(shown, patience).toEqual(["", "2", "2", "0", "0", "0"]);
  await row.getByRole("img", { name: "1 of 7 days with closes, at most 2 on one day" }).waitFor();
  await page.getByRole("region", { name: "Precision of rules and models, table" }).getByText("Reported fraud").waitFor();
  await page.getByRole("region", { name: "Closed by person and day, table" }).getByText(tenant.clientId).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV: Closed by person", exact: true }).press("Enter");
  const file = await (await downloading).path();
  expect(await readFile(file, "utf8")).toMatch(new RegExp(`^closed_by,closed,.*\\r\\n${tenant.clientId},2,2,`));
  await row.getByRole("link").press("Enter");
  await page.getByText(`Closed by ${tenant.clientId}`, { exact: true }).waitFor();
  await page.getByText("2 cases", { exact: true }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("figures: without the scope, there is no entry, and the address says so", async () => {
  const scopes = ["read:cases", "read:case", "read:metrics"];
  const visitor = await Visitor.create(browser.current, service.current, { scopes });
  await visitor.goto("/team");
  await visitor.page.getByText(/The team's figures/).waitFor();
  expect(await visitor.page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Team" }).count()).toBe(0);
});
