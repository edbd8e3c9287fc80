import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
// Selecting rows of the queue, and what fits in a row.
const browser = useBrowser();
const service = useService();

test("queue: one box selects all shown rows and shows a partial selection; Shift selects a range", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page } = visitor;
  await visitor.report("eve", "dan", "cid", "bob", "ann");
  await visitor.goto();
  await visitor.expectFocused("ann");
  const all = page.getByRole("checkbox", { name: "Select all 5 shown" });
  const isPartly = () => all.evaluate((box) => (box as unknown as { indeterminate: boolean }).indeterminate);
  const boxOf = (account: string) => page.getByRole("checkbox", { name: `Select the case of ${account}` });
  const status = page.getByRole("status").filter({ hasText: /cases/ });
  await boxOf("bob").click();
  await boxOf("dan").click({ modifiers: ["Shift"] });
  await status.getByText("5 cases, 3 selected").waitFor();
  expect([await boxOf("cid").isChecked(), await boxOf("ann").isChecked(), await isPartly()]).toEqual([true, false, true]);
  expect(await page.evaluate("String(getSelection())")).toBe("");
  await all.click();
  await status.getByText("5 cases, 5 selected").waitFor();
  expect([await all.isChecked(), await isPartly()]).toEqual([true, false]);
  await all.click();
  await status.getByText("5 cases", { exact: true }).waitFor();
  expect([await all.isChecked(), await isPartly()]).toEqual([false, false]);
  expect(visitor.complaints).toEqual([]);
});

test("queue: with four rows selected, keys close those and never the fifth in focus, and the pane says so", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("eve", "dan", "cid", "bob", "ann");
  await visitor.goto();
  await visitor.expectPeek("ann");
  for (const _each of [1, 2, 3, 4]) await visitor.press("x", "j");
  await visitor.expectPeek("eve");
  const pane = page.getByRole("complementary", { name: "The case in focus" });
  await pane.getByText(/4 cases are selected/).waitFor();
  expect(await pane.getByRole("button", { name: /Close/ }).count()).toBe(0);
  expect(await axeFindings(page)).toEqual([]);
  await visitor.press("b");
  await page.getByText(/Flags are set one account at a time/).waitFor();
  expect((await tenant.call("GET", "/enduseraccounts/eve")).json).toMatchObject({ data: { is_blocked: false } });
  await visitor.press("1");
  const dialog = page.getByRole("dialog", { name: "Close 4 cases" });
  expect(await dialog.getByRole("radio", { name: /Confirmed fraud/ }).isChecked()).toBe(true);
  // What was typed is there again after the dialog was closed.
  await dialog.getByLabel(/Reason/).fill("One gang.");
  await visitor.press("Escape", "3");
  expect(await dialog.getByLabel(/Reason/).inputValue()).toBe("One gang.");
  expect(await dialog.getByRole("radio", { name: /Inconclusive/ }).isChecked()).toBe(true);
  await visitor.press("1", "Control+Enter");
  await dialog.getByText("4 of 4 done, 4 closed").waitFor();
  expect((await tenant.list("status=OPEN")).map(({ website_account_id }) => website_account_id)).toEqual(["eve"]);
  const [closed] = await tenant.list("website_account_id=ann");
  expect((await tenant.read(closed?.case_id ?? "")).current_state).toMatchObject({
    disposition: "CONFIRMED_FRAUD",
    reason: "One gang.",
  });
  expect(visitor.complaints).toEqual([]);
});

test("queue, case and search: a case without an account is named by what it is about", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.openDeviceCase("kiosk");
  await tenant.openDeviceCase("terminal");
  await visitor.goto();
  await page.getByRole("checkbox", { name: "Select all 2 shown" }).click();
  await visitor.press("1");
  const dialog = page.getByRole("dialog", { name: "Close 2 cases" });
  await visitor.press("Control+Enter");
  await dialog.getByText("2 of 2 done, 2 closed").waitFor();
  const results = dialog.getByRole("list", { name: "Results" });
  for (const name of ["Device kiosk", "Device terminal"]) await results.getByText(name).waitFor();
  const { case_id } = await tenant.openDeviceCase("door");
  await visitor.goto(`/cases/${case_id}`);
  await page.locator("summary", { hasText: "Similar cases" }).click();
  await page.getByRole("list", { name: "Similar cases" }).getByRole("link", { name: "Device kiosk" }).waitFor();
  await visitor.press("Control+k");
  await page.keyboard.type("termin");
  await page
    .getByRole("group", { name: "Cases" })
    .getByRole("option", { name: /Device terminal/ })
    .waitFor();
  expect(visitor.complaints).toEqual([]);
});

test.each([1440, 1024])("queue: three flags leave enough room for the account's id, %i px", async (width) => {
  const visitor = await Visitor.create(browser.current, service.current, { width });
  const { page, tenant } = visitor;
  const account = "an-account-with-a-long-name@shop.example";
  await tenant.openCase(account);
  const body = { is_blocked: true, is_quarantined: true, is_fraudulent: true };
  await tenant.call("PUT", `/enduseraccounts/${encodeURIComponent(account)}`, { body });
  await visitor.goto();
  const row = page.getByRole("row").filter({ hasText: account });
  await row.getByTitle("Fraudulent").waitFor();
  const room = await row.getByTitle(account).evaluate((name) => name.getBoundingClientRect().width);
  expect(room).toBeGreaterThanOrEqual(6.5 * 16 - 1);
  const cell = await row.getByRole("gridcell").nth(3).boundingBox();
  const last = await row.getByTitle("Fraudulent").boundingBox();
  expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual((cell?.x ?? 0) + (cell?.width ?? 0) + 4);
});

test.each([1440, 1366, 1280, 1024])("queue: the summary of each case can be read beside the pane, %i px", async (width) => {
  const visitor = await Visitor.create(browser.current, service.current, { width });
  const { page, tenant } = visitor;
  await tenant.openCase("ann");
  await visitor.goto();
  await page.getByRole("complementary", { name: "The case in focus" }).getByText("ann").first().waitFor();
  const cell = await page.getByRole("row").filter({ hasText: "ann" }).getByRole("gridcell").nth(4).boundingBox();
  expect(cell?.width).toBeGreaterThanOrEqual(250);
});

test.each([390, 800])(
  "queue: on a narrow screen the case in focus is below the list, and both can be read, %i px",
  async (width) => {
    const visitor = await Visitor.create(browser.current, service.current, { width });
    const { page } = visitor;
    await visitor.report("bob@shop.example", "ann@shop.example");
    await visitor.goto();
    await visitor.expectPeek("ann@shop.example");
    const row = page.getByRole("row").filter({ hasText: "ann" });
    const [name, summary, pane, list] = await Promise.all([
      row.getByTitle("ann@shop.example").boundingBox(),
      row.getByRole("gridcell").nth(4).boundingBox(),
      page.getByRole("complementary", { name: "The case in focus" }).boundingBox(),
      page.getByRole("grid").boundingBox(),
    ]);
    expect(name?.width).toBeGreaterThanOrEqual(100);
    expect(summary?.width).toBeGreaterThanOrEqual(200);
    expect(pane?.width).toBeGreaterThanOrEqual(300);
    expect(pane?.y).toBeGreaterThan((list?.y ?? 0) + 4 * (summary?.height ?? 0));
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    await row.getByRole("checkbox").click();
    for (const part of [row.getByRole("gridcell").last(), page.getByRole("button", { name: "Close 1 selected" })]) {
      const box = await part.boundingBox();
      expect((box?.x ?? width) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    }
    expect(visitor.complaints).toEqual([]);
  },
);

test("palette: keeps its size while a person types", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page } = visitor;
  await visitor.goto();
  await page.getByText("No open cases").waitFor();
  await visitor.press("Control+k");
  const dialog = page.getByRole("dialog", { name: "Find anything" });
  const before = await dialog.boundingBox();
  await page.keyboard.type("light");
  await page.getByRole("option", { name: "Use the light theme" }).waitFor();
  expect(await dialog.boundingBox()).toEqual(before);
});
