import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { useService, type TestTenant } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

async function withThings(): Promise<Visitor> {
  const visitor = await Visitor.create(browser.current, service.current);
  const { tenant } = visitor;
  const [opened] = await Promise.all([tenant.openCase("anna.smith@example.com"), tenant.openCase("bob")]);
  await tenant.put(opened.case_id, { status: "CLOSED", case_version: 1, reason: "The bank confirmed the chargeback." });
  const base = { occurred_at: new Date().toISOString(), device_id: "dev-77", ip: "203.0.113.7" };
  const activities = ["bob", "cid"].map((website_account_id) => ({
    ...base,
    activity_id: randomUUID(),
    type: "payment",
    amount: 5,
    currency: "EUR",
    payee_id: "payee-9",
    order_id: `order-${website_account_id}`,
    website_account_id,
  }));
  await tenant.call("POST", "/activities", { body: { activities } });
  await expect.poll(() => found(tenant, "order-"), patience).toBe(2);
  return visitor;
}

async function found(tenant: TestTenant, text: string): Promise<number> {
  const { data }: { data: { orders: unknown[] } } = (await tenant.call("GET", `/search?q=${text}`)).json;
  return data.orders.length;
}

test("palette: finds an account, a case, a device, a payee and an order by a part, and offers nothing that does not exist", async () => {
  const visitor = await withThings();
  const { page } = visitor;
  await visitor.goto();
  await visitor.expectFocused("bob");
  const open = async (text: string) => {
    await visitor.press("Control+k");
    await page.keyboard.type(text);
  };
  await open("smith@ex");
  await page
    .getByRole("group", { name: "Accounts" })
    .getByRole("option", { name: /^anna\.smith/ })
    .waitFor();
  await visitor.press("Enter");
  await page.waitForURL("**/accounts/anna.smith*");
  await open("bank confirmed");
  await page
    .getByRole("group", { name: "Cases" })
    .getByRole("option", { name: /The bank confirmed the chargeback\./ })
    .waitFor();
  await visitor.press("Enter");
  await page.waitForURL("**/cases/*");
  await open("dev-7");
  await page
    .getByRole("group", { name: "Devices" })
    .getByRole("option", { name: /dev-77.*2 accounts/ })
    .waitFor();
  await visitor.press("Enter");
  await page.waitForURL("**/links?*");
  await page.getByRole("complementary", { name: "Item in focus" }).getByRole("heading", { name: "dev-77" }).waitFor();
  await open("payee-9");
  await page
    .getByRole("group", { name: "Payees" })
    .getByRole("option", { name: /paid by cid/ })
    .waitFor();
  await visitor.press("ArrowDown", "Enter");
  await page.waitForURL("**/accounts/cid");
  await open("no such thing");
  await page.getByRole("status").getByText("No matches").waitFor();
  expect(await page.getByRole("option").count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test("palette: a pasted id and Enter at once opens it, before the results are shown", async () => {
  const visitor = await withThings();
  const { page, tenant } = visitor;
  const [bob] = await tenant.list("website_account_id=bob");
  await visitor.goto();
  await visitor.expectFocused("bob");
  await visitor.press("Control+k");
  await page.keyboard.insertText(bob?.case_id ?? "");
  await visitor.press("Enter");
  await page.waitForURL(`**/cases/${bob?.case_id}`);
  expect(visitor.complaints).toEqual([]);
});

test("queue: / searches, an account filters the queue, and Escape leaves the field", async () => {
  const visitor = await withThings();
  const { page } = visitor;
  await visitor.goto();
  await visitor.expectFocused("bob");
  await visitor.press("/");
  await page.keyboard.type("203.0.113.0/24");
  await page.getByRole("option", { name: /203\.0\.113\.7.*2 accounts/ }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.press("Escape");
  await page.getByRole("listbox").waitFor({ state: "detached" });
  await visitor.press("/");
  await page.getByRole("combobox", { name: "Search" }).fill("bob");
  await page.getByRole("option", { name: /^bob/ }).waitFor();
  await visitor.press("Enter");
  await page.waitForURL("**account=bob**");
  await page.getByText("Account bob", { exact: true }).waitFor();
  await visitor.press("/");
  await page.keyboard.type("nobody at all");
  await page.getByText("No matches").first().waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("queue: CSV downloads the list as filtered, and the case's file can be saved", async () => {
  const visitor = await withThings();
  const { page, tenant } = visitor;
  await visitor.goto("/?status=closed");
  await visitor.expectFocused("anna.smith@example.com");
  const [list] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  expect(list.suggestedFilename()).toMatch(/-cases-\d{4}-\d\d-\d\d\.csv$/);
  const lines = (await readFile(await list.path(), "utf8")).trim().split("\r\n");
  const [closed] = await tenant.list("status=CLOSED");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(closed?.case_id);
  await visitor.goto(`/cases/${closed?.case_id}`);
  const button = page.getByRole("button", { name: "Save the case as a file" });
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  expect(file.suggestedFilename()).toBe(`case-${closed?.case_id}-v2.html`);
  expect(await readFile(await file.path(), "utf8")).toContain("The bank confirmed the chargeback.");
  expect(visitor.complaints).toEqual([]);
});
