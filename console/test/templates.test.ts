import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

const templates = [
  { name: "Card tested", text: "A stolen card was tested.", disposition: "CONFIRMED_FRAUD" },
  { name: "Robot of ours", text: "Our own robot.", labels: ["Bot"] },
  { name: "Known customer", text: "We know this customer.", labels: ["Organic"], disposition: "FALSE_POSITIVE" },
];

test("templates: / offers those that fit the case and the outcome, by keyboard, also for many cases", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.call("PUT", "/reason-templates", { body: { templates, templates_version: 1 } });
  await visitor.report("bob", "cid", "ann");
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.press("c");
  const dialog = page.getByRole("dialog");
  const options = dialog.getByRole("listbox", { name: "Templates" }).getByRole("option");
  await dialog.getByText("offers templates").waitFor();
  // Without an outcome, all templates for the label are offered.
  await visitor.press("/");
  await expect.poll(() => options.count(), patience).toBe(2);
  expect(await axeFindings(page)).toEqual([]);
  await visitor.press("Escape");
  expect(await options.count()).toBe(0);
  expect(await dialog.count()).toBe(1);
  await dialog.getByRole("textbox").pressSequentially("k");
  expect(await options.allInnerTexts()).toEqual([expect.stringContaining("Known customer")]);
  await visitor.press("Enter");
  expect(await dialog.getByRole("textbox").inputValue()).toBe("We know this customer.");
  expect(await dialog.getByRole("radio", { name: /False positive/ }).isChecked()).toBe(true);
  await dialog.getByRole("textbox").pressSequentially(" And/or ");
  expect(await options.count()).toBe(0);
  await dialog.getByRole("textbox").pressSequentially("/");
  expect(await options.allInnerTexts()).toEqual([expect.stringContaining("Known customer")]);
  await visitor.press("ArrowDown", "Tab");
  const reason = "We know this customer. And/or We know this customer.";
  expect(await dialog.getByRole("textbox").inputValue()).toBe(reason);
  await visitor.press("Control+Enter");
  await page.getByText("Closed the case of ann as false positive.").waitFor();
  const [closed] = await tenant.list("website_account_id=ann");
  expect((await tenant.read(closed?.case_id ?? "")).current_state.reason).toBe(reason);

  await visitor.press("x", "j", "x", "1");
  await dialog.getByText("Close 2 cases", { exact: true }).first().waitFor();
  await visitor.press("/");
  expect(await options.allInnerTexts()).toEqual([expect.stringContaining("Card tested")]);
  await visitor.press("Enter");
  expect(await dialog.getByRole("textbox").inputValue()).toBe("A stolen card was tested.");
  expect(visitor.complaints).toEqual([]);
});

test("templates: an admin adds, edits, moves and deletes them; a colleague's change is not overwritten", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const read = async () => (await tenant.call("GET", "/reason-templates")).json.data as { templates: { name: string }[] };
  await tenant.call("PUT", "/reason-templates", { body: { templates: templates.slice(0, 2), templates_version: 1 } });
  await visitor.goto("/detection?tab=closing");
  await page.getByRole("button", { name: "Add a template" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Travelling");
  await dialog.getByRole("textbox", { name: "Text" }).fill("The customer is travelling.");
  await dialog.getByRole("checkbox", { name: "Account Takeover" }).check();
  await dialog.getByRole("combobox", { name: "Outcome" }).selectOption("FALSE_POSITIVE");
  expect(await axeFindings(page)).toEqual([]);
  const theirs = templates.slice(0, 1);
  await tenant.call("PUT", "/reason-templates", { body: { templates: theirs, templates_version: 2 } });
  // Until the page has read the colleague's version, saving is refused, and the text stays.
  const saved = async () => {
    if ((await dialog.count()) > 0) await dialog.getByRole("button", { name: "Save" }).click();
    return dialog.count();
  };
  await expect.poll(saved, patience).toBe(0);
  expect((await read()).templates.map(({ name }) => name)).toEqual(["Card tested", "Travelling"]);
  await page.getByRole("button", { name: "Move Travelling up" }).click();
  await expect.poll(async () => (await read()).templates[0]?.name, patience).toBe("Travelling");
  await page.getByRole("button", { name: "Delete Card tested" }).click();
  await dialog.getByRole("button", { name: "Delete" }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect
    .poll(async () => (await read()).templates, patience)
    .toEqual([
      {
        name: "Travelling",
        text: "The customer is travelling.",
        labels: ["Account Takeover"],
        disposition: "FALSE_POSITIVE",
      },
    ]);
  expect(await axeFindings(page)).toEqual([]);
});
