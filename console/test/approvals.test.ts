import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { requested, seen, setApprovals } from "../../service/test/approving.ts";
import { useService } from "../../service/test/harness.ts";
import { Browser } from "../../service/test/people.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

const dialog = ({ page }: Visitor) => page.getByRole("dialog");

test("approvals: one person requests the close in the dialog, another sees exactly what it applies and approves it by keyboard", async () => {
  const ada = await Visitor.create(browser.current, service.current, { name: "Ada Lovelace" });
  const { tenant } = ada;
  await setApprovals(tenant, { blocking: true });
  const found = await tenant.openCase("ann");
  const ben = await Visitor.open(browser.current, tenant, { name: "Ben Okri" });
  await ben.goto("/approvals");
  await ben.page.getByText("No pending approval requests").waitFor();
  expect(await axeFindings(ben.page)).toEqual([]);
  await ada.goto(`/cases/${found.case_id}`);
  await ada.page.getByRole("button", { name: "Close the case" }).waitFor();
  await ada.press("c");
  await dialog(ada).getByRole("button", { name: "Close the case" }).waitFor();
  await ada.press("1");
  await dialog(ada).getByRole("checkbox", { name: /Block/ }).check();
  await dialog(ada)
    .getByText("A second person must approve this, because it blocks an account. Ben Okri can approve it.")
    .waitFor();
  await dialog(ada).getByRole("textbox", { name: "Message to the approver" }).fill("Please check the order.");
  expect(await axeFindings(ada.page)).toEqual([]);
  await dialog(ada).getByRole("button", { name: "Request approval" }).click();
  await ada.page.getByText("Ada Lovelace requested approval to close this case").waitFor();
  expect((await tenant.read(found.case_id)).status).toBe("OPEN");
  const entry = ben.page.getByRole("link", { name: /Ada Lovelace: Close a case/ });
  await entry.waitFor();
  await ben.page.setViewportSize({ width: 390, height: 800 });
  await ben.press("j");
  await ben.press("Enter");
  await dialog(ben).getByText("Please check the order.").waitFor();
  await dialog(ben).getByText("Confirmed fraud", { exact: true }).waitFor();
  await dialog(ben).getByText(`version ${found.case_version}`).waitFor();
  expect(await axeFindings(ben.page)).toEqual([]);
  expect(await ben.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
  await ben.page.keyboard.type("I agree.");
  await ben.press("Control+Enter");
  await ben.page.getByText("Approved and applied.").waitFor();
  const closed = await tenant.read(found.case_id);
  expect(closed).toMatchObject({ status: "CLOSED", end_user_is_blocked: true });
  expect(closed.current_state.approved_by).toContain("Ben Okri");
  await ada.goto("/inbox");
  await ada.page.getByRole("link", { name: /Ben Okri approved your request/ }).waitFor();
});

test("approvals: admins choose in Detection, Closing; a request whose case has changed says so and cannot be approved", async () => {
  const ada = await Visitor.create(browser.current, service.current, { name: "Ada Lovelace" });
  const { tenant, page } = ada;
  await ada.goto("/detection?tab=closing");
  await page.getByRole("checkbox", { name: "Closing many cases" }).check();
  await page.getByRole("spinbutton", { name: "More than" }).fill("1");
  await page.getByRole("button", { name: "Add an amount" }).click();
  expect(await axeFindings(page)).toEqual([]);
  const section = page.getByRole("region", { name: "Changes that need a second person" });
  await section.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved. The new settings apply from now on.").waitFor();
  const { data } = (await tenant.call("GET", "/approval-settings")).json;
  expect(data).toMatchObject({ bulk_over: 1, bulk_minutes: 60, amounts: [{ currency: "EUR", above: 1000 }] });
});

test("approvals: the dialog shows the outcome of an own disposition, and until when and why a value is listed", async () => {
  const ben = await Visitor.create(browser.current, service.current, { name: "Ben Okri" });
  const { tenant } = ben;
  const own_dispositions = [{ name: "Mule account", disposition: "CONFIRMED_FRAUD" }];
  await tenant.call("PUT", "/dispositions", { body: { own_dispositions, dispositions_version: 1 } });
  await tenant.call("POST", "/lists", { body: { name: "devices", type: "device", kind: "block" } });
  const ada = await Browser.join(tenant, "investigator", { name: "Ada Lovelace" });
  const found = await tenant.openCase("ann");
  const list_entries = [{ list: "devices", value: "d-1", expires_at: "2096-05-04T12:00:00.000Z", reason: "Seen with mules." }];
  const { approval_id } = await requested(ada, { cases: seen([found]), own_disposition: "Mule account", list_entries });
  await ben.goto(`/approvals?open=${approval_id}`);
  const applied = ben.page.getByRole("region", { name: "What would be applied" });
  await applied.getByText(/Mule account/).waitFor();
  await applied.getByText(/d-1 to devices, until .*2096.*: Seen with mules\./).waitFor();
  expect((await tenant.read(found.case_id)).status).toBe("OPEN");
});

test("approvals: Ctrl Enter in the message requests approval of closing many cases; an open request keeps its tab", async () => {
  const ada = await Visitor.create(browser.current, service.current, { name: "Ada Lovelace" });
  const { tenant, page } = ada;
  await setApprovals(tenant, { bulk_over: 1 });
  await tenant.openCase("ann");
  await tenant.openCase("bob");
  await Visitor.open(browser.current, tenant, { name: "Ben Okri" });
  await Visitor.open(browser.current, tenant, { name: "Cy Young" });
  await ada.goto("/");
  await page.getByRole("checkbox", { name: "Select all 2 shown" }).check();
  await ada.press("1");
  await dialog(ada)
    .getByText("because it exceeds the number of cases that one person may close. Ben Okri or Cy Young can approve it.")
    .waitFor();
  const message = dialog(ada).getByRole("textbox", { name: "Message to the approver" });
  await message.fill("The same attack.");
  await message.press("Control+Enter");
  await dialog(ada).waitFor({ state: "detached" });
  await ada.goto("/approvals");
  await page.getByText("and 1 more").waitFor();
  await page.getByRole("link", { name: "Ada Lovelace: Close 2 cases" }).click();
  await dialog(ada).getByText("The same attack.").waitFor();
  expect(await page.locator("nav [aria-current=page]", { hasText: /^(Pending|All)$/ }).allTextContents()).toEqual(["Pending"]);
});

test("approvals and inbox: a case without an account is named by what it is about", async () => {
  const ada = await Visitor.create(browser.current, service.current, { name: "Ada Lovelace" });
  const { tenant } = ada;
  const found = await tenant.openDeviceCase("kiosk");
  const ben = await Browser.join(tenant, "investigator", { name: "Ben Okri" });
  const { approval_id } = await requested(ben, { cases: seen([found]) });
  await ada.goto(`/approvals?open=${approval_id}`);
  await dialog(ada).getByRole("link", { name: "Device kiosk" }).waitFor();
  const { case_id, case_version } = found;
  const handover = { case_version, handed_to: "admin", text: "Please look." };
  await ben.call("POST", `/cases/${case_id}/handover`, { body: handover, key: randomUUID() });
  await ada.goto("/inbox");
  await ada.page.getByRole("link", { name: /Ben Okri handed a case over to the admins: Device kiosk/ }).waitFor();
  expect(ada.complaints).toEqual([]);
});
