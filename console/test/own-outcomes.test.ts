import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

test("own outcomes: an admin adds one; it is offered with its outcome by keyboard, shown wherever the outcome is, and filtered by", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("bob", "cid", "ann");
  await visitor.goto("/detection?tab=closing");
  await page.getByRole("button", { name: "Add an outcome" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Card testing");
  expect(await axeFindings(page)).toEqual([]);
  await visitor.press("Enter");
  await page.getByRole("list", { name: "Custom outcomes" }).getByText("Card testing").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("2");
  await dialog.getByRole("radio", { name: /False positive/ }).waitFor();
  expect(await dialog.getByRole("combobox", { name: /More specific outcome/ }).count()).toBe(0);
  await visitor.press("1");
  await dialog.getByRole("combobox", { name: /More specific outcome/ }).waitFor();
  await visitor.press("Tab", "C", "a");
  expect(await axeFindings(page)).toEqual([]);
  await visitor.press("Control+Enter");
  await page.getByText("Closed the case of ann as confirmed fraud (Card testing).").waitFor();
  const [closed] = await tenant.list("own_disposition=Card%20testing");
  expect(closed?.website_account_id).toBe("ann");

  await visitor.press("x", "j", "x", "1");
  await dialog.getByRole("combobox", { name: /More specific outcome/ }).selectOption("Card testing");
  await visitor.press("Control+Enter");
  await dialog.getByText("2 of 2 done, 2 closed").waitFor();
  expect(await tenant.list("own_disposition=Card%20testing")).toHaveLength(3);

  await visitor.goto(`/cases/${closed?.case_id ?? ""}`);
  await page.getByText("Confirmed fraud (Card testing)", { exact: true }).first().waitFor();
  await page.getByText(/Closed the case: confirmed fraud \(Card testing\)/).waitFor();
  await visitor.goto("/?status=closed");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page
    .getByRole("menuitemradio", { name: "Card testing" })
    .or(page.getByRole("menuitem", { name: "Card testing" }))
    .click();
  await page.getByRole("row", { name: /bob/ }).getByText("Confirmed fraud (Card testing)").waitFor();
  expect(visitor.complaints).toEqual([]);
});
