import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { saveLinks } from "../../service/src/db/links.ts";
import { roleScopes } from "../../service/src/domain/role.ts";
import { useService, type TestTenant } from "../../service/test/harness.ts";
import { Browser as Colleague } from "../../service/test/people.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

const hostile = `a/b?c#d"><img src=x onerror="document.title='owned'">{{7*7}}`;
const off = { is_blocked: false, is_quarantined: false, is_fraudulent: false };

async function readAccount(tenant: TestTenant, id: string): Promise<Record<string, unknown>> {
  return (await tenant.call("GET", `/enduseraccounts/${encodeURIComponent(id)}`)).json.data;
}

// Two accounts on one device, and an address that only the first one used.
async function makeLinks(tenant: TestTenant, [one, other]: [string, string]): Promise<void> {
  const at = new Date().toISOString();
  const seen = { first_seen: at, last_seen: at };
  await tenant.service.database.transaction((tx) =>
    saveLinks(tx, tenant.tenantId, [
      { ...seen, a: one, kind: "account-device", b: "device-1" },
      { ...seen, a: other, kind: "account-device", b: "device-1" },
      { ...seen, a: one, kind: "account-ip", b: "192.0.2.7" },
    ]),
  );
}

test("account: the palette finds it by id; a flag set by key shows at once, and the history names who set it", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("ann");
  const grace = await Colleague.join(tenant, "investigator", { name: "Grace Hopper" });
  await grace.call("PUT", "/enduseraccounts/ann", { body: { is_quarantined: true } });
  await visitor.goto();
  await visitor.expectFocused("ann");
  await visitor.press("Control+k");
  await page.keyboard.type("ann");
  await page.getByRole("group", { name: "Accounts" }).getByRole("option", { name: /^ann/ }).waitFor();
  await visitor.press("Enter");
  await page.getByRole("heading", { level: 1, name: "ann" }).waitFor();
  await page.getByText(/On by Grace Hopper/).waitFor();
  await visitor.press("b");
  const history = page.getByRole("table", { name: "History" });
  await history.getByText("Blocked on").waitFor();
  expect(await page.getByRole("switch", { name: /Blocked/ }).getAttribute("aria-checked")).toBe("true");
  await page.getByText(/On by Ada Investigator/).waitFor();
  expect(await readAccount(tenant, "ann")).toMatchObject({ is_blocked: true, is_quarantined: true });
  expect(visitor.complaints).toEqual([]);
});

test("account: a rejected flag reverts with the service's message, and nothing changes", async () => {
  const granted = ["read:enduseraccount", "read:cases", "read:case"];
  const visitor = await Visitor.create(browser.current, service.current, { granted });
  const { tenant } = visitor;
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "ann" } });
  await visitor.goto("/accounts/ann");
  await visitor.expectBlockRefused();
  expect(await readAccount(tenant, "ann")).toMatchObject(off);
});

test("account: the CRM id is edited in place; a rejected value stays in the field and changes nothing", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "ann", crm_account_id: "CRM-1" } });
  await visitor.goto("/accounts/ann");
  await page.getByRole("button", { name: "Edit the CRM id" }).press("Enter");
  const field = page.getByLabel("CRM id", { exact: true });
  const long = "x".repeat(5000);
  await field.fill(long);
  await visitor.press("Enter");
  await page.getByText(/^Not changed:/).waitFor();
  expect(await field.inputValue()).toBe(long);
  expect(await readAccount(tenant, "ann")).toMatchObject({ crm_account_id: "CRM-1" });
  await field.fill("CRM-2");
  await visitor.press("Enter");
  await page.getByText("CRM-2").waitFor();
  await page.getByRole("table", { name: "History" }).getByText("Changed the CRM id").waitFor();
  expect(await readAccount(tenant, "ann")).toMatchObject({ crm_account_id: "CRM-2" });
});

test("account: every case has its outcome; devices and addresses show how many accounts share them and link to the links screen", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const first = await tenant.openCase("ann");
  const verdict = { status: "CLOSED", case_version: first.case_version, disposition: "CONFIRMED_FRAUD", reason: "Stolen card." };
  await tenant.put(first.case_id, verdict);
  await tenant.openCase("ann");
  await makeLinks(tenant, ["ann", "bob"]);
  await visitor.goto("/accounts/ann");
  const rows = page.getByRole("table", { name: "Cases" }).locator("tbody tr");
  await rows.nth(1).getByText("Confirmed fraud").waitFor();
  expect(await rows.nth(0).textContent()).toContain("not decided yet");
  expect(await rows.nth(1).textContent()).toContain("Stolen card.");
  const shared = page.getByRole("link", { name: "shared with 1 other" });
  expect(await shared.getAttribute("href")).toBe("/links?account=ann");
  expect(await page.getByText("not shared").count()).toBe(1);
  await page.getByRole("region", { name: "Activity" }).getByText("Fraud reported").first().waitFor();
  await shared.click();
  await page.getByText("Around ann").waitFor();
  await page.goBack();
  await shared.waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("account: the placeholder, a missing and an erased account each say what they are and offer no changes", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const found = await tenant.openCase("ann");
  expect((await tenant.call("DELETE", "/enduseraccounts/ann")).status).toBe(204);
  const { website_account_id: pseudonym } = await tenant.read(found.case_id);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "bob", crm_account_id: "CRM-7" } });
  const expectWords = async (path: string, words: string | RegExp) => {
    await visitor.goto(path);
    await page.getByText(words).first().waitFor();
    expect(await page.getByRole("switch").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Edit the CRM id" }).count()).toBe(0);
  };
  await expectWords("/accounts/UNKNOWN", "This is not an account.");
  await expectWords("/accounts/ann", "Account not found");
  await expectWords("/accounts/CRM-7", "But it is the CRM id of");
  await expectWords(`/accounts/${pseudonym}`, "This account was erased by");
  await page.getByRole("table", { name: "History" }).getByText("Erased the account").waitFor();
  await page.getByRole("table", { name: "Cases" }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("account: a case without an account links to no account screen, from the queue or the case", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.report(undefined, { device_id: "device-1" });
  await expect.poll(() => tenant.list("website_account_id=UNKNOWN"), patience).toHaveLength(1);
  await visitor.goto();
  await page.getByRole("complementary", { name: "The case in focus" }).getByText("This case is not about one account").waitFor();
  const toAccounts = page.locator('a[href^="/accounts/"]');
  expect(await toAccounts.count()).toBe(0);
  await visitor.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Device device-1" }).waitFor();
  await page.getByRole("heading", { name: "Audit trail" }).waitFor();
  expect(await toAccounts.count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test("account: does not guess who set a flag before the entries read so far; reading more entries shows it", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "ann" } });
  await tenant.call("PUT", "/enduseraccounts/ann", { body: { is_blocked: true } });
  for (let change = 0; change < 201; change++)
    await tenant.call("PUT", "/enduseraccounts/ann", { body: { crm_account_id: `CRM-${change}` } });
  await visitor.goto("/accounts/ann");
  const flags = page.getByRole("region", { name: "Flags" }).getByRole("listitem");
  await flags.nth(0).getByText("On since before the entries below").waitFor();
  await flags.nth(1).getByText("Off since before the entries below").waitFor();
  await page.getByRole("button", { name: "Show earlier entries" }).click();
  await flags
    .nth(0)
    .getByText(/^On by /)
    .waitFor();
  await flags.nth(1).getByText("Never set").waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("account: markup in an id, a device or attributes stays text; the case links to the account", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { case_id: id } = await tenant.openCase(hostile);
  await tenant.report(hostile, { device_id: hostile, attributes: { label: "Bot", note: hostile } });
  await tenant.call("PUT", `/enduseraccounts/${encodeURIComponent(hostile)}`, { body: { crm_account_id: hostile } });
  await visitor.goto(`/cases/${id}`);
  await page.getByRole("region", { name: "Who" }).getByRole("link", { name: hostile }).click();
  await page.getByRole("heading", { name: "Devices and addresses" }).waitFor();
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(hostile);
  await page.getByRole("region", { name: "Facts" }).getByText(hostile).waitFor();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: hostile }).waitFor();
  await page.getByRole("region", { name: "Activity" }).getByText(hostile).first().waitFor();
  expect(await page.title()).toBe("Casehound");
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test("account: shows what the role does not allow as not available", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { scopes: ["read:enduseraccount"] });
  const { page, tenant } = visitor;
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "ann" } });
  await visitor.goto("/accounts/ann");
  await page.getByText("Not available: your role does not allow listing cases.").waitFor();
  expect(await page.getByRole("switch", { name: /Blocked/ }).isDisabled()).toBe(true);
  expect(await page.getByRole("button", { name: "Edit the CRM id" }).count()).toBe(0);
  await visitor.press("b");
  expect(await readAccount(tenant, "ann")).toMatchObject(off);
});

test("account: has no axe findings, in either theme", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const found: Record<string, string[]> = {};
  const look = async (name: string) => {
    found[name] = await axeFindings(page);
  };
  const session_id = randomUUID();
  await tenant.report("ann", { session_id, device_id: "device-1" });
  await tenant.openCase("ann");
  await tenant.call("PUT", "/enduseraccounts/ann", { body: { is_blocked: true } });
  await makeLinks(tenant, ["ann", "bob"]);
  await visitor.goto("/accounts/ann");
  await page.getByText(/^On/).waitFor();
  await page.getByRole("region", { name: "Sessions" }).getByRole("button").click();
  await page.getByRole("button", { name: "Edit the CRM id" }).click();
  await page.getByRole("link", { name: "shared with 1 other" }).waitFor();
  await look("account");
  await visitor.goto("/accounts/UNKNOWN");
  await page.getByText("This is not an account.").waitFor();
  await look("unknown");
  await visitor.goto("/accounts/nobody");
  await page.getByText("Account not found").waitFor();
  await look("absent");
  expect(found).toEqual({ account: [], unknown: [], absent: [] });
});

test("account: an admin erases it after typing its id; nobody else is offered that", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { case_id } = await tenant.openCase("ann");
  await visitor.goto("/accounts/ann");
  await page.getByRole("button", { name: "Erase this account…" }).click();
  const dialog = page.getByRole("dialog", { name: "Erase the account" });
  await dialog.getByLabel(/Type the account's id/).fill("an");
  await visitor.press("Enter");
  await dialog.getByText("This is not the account's id.").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await readAccount(tenant, "ann")).toMatchObject({ website_account_id: "ann" });
  await dialog.getByLabel(/Type the account's id/).fill("ann");
  await dialog.getByRole("button", { name: "Erase for good" }).click();
  await page.getByText("Erased the account ann.").waitFor();
  expect((await tenant.call("GET", "/enduseraccounts/ann")).status).toBe(404);
  expect((await tenant.read(case_id)).website_account_id).toMatch(/^erased-/);
  await tenant.openCase("bob");
  const lead = await Visitor.open(browser.current, tenant, { scopes: roleScopes.lead });
  await lead.goto("/accounts/bob");
  await lead.page.getByRole("heading", { name: "Devices and addresses" }).waitFor();
  expect(await lead.page.getByRole("button", { name: /Erase/ }).count()).toBe(0);
  expect([...visitor.complaints, ...lead.complaints]).toEqual([]);
});
