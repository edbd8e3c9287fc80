import { expect, test, vi } from "vitest";
import { saveLinks, type Link } from "../../service/src/db/links.ts";
import { useService, type TestTenant } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { visible } from "../src/parts/visible.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// The links screen in a real Chromium, against the real service.
const browser = useBrowser();
const service = useService();

const hostile = `"><img src=x onerror="document.title='owned'"><b>id</b>{{7*7}}\u202e`;

const shown = visible(hostile);

async function share(tenant: TestTenant, kind: "device" | "ip", value: string, accounts: string[]): Promise<void> {
  const stored: Link["kind"] = `account-${kind}`;
  const seen = { first_seen: "2026-11-01T00:00:00.000Z", last_seen: "2026-11-10T00:00:00.000Z" };
  const links = accounts.map((a) => ({ kind: stored, a, b: value, ...seen }));
  await tenant.service.database.transaction((tx) => saveLinks(tx, tenant.tenantId, links));
}

// Ann and Bob have open cases. The rarest item is a device that Ann shares with Eve.
async function withLinks(person: Parameters<typeof Visitor.create>[2] = {}): Promise<Visitor> {
  const visitor = await Visitor.create(browser.current, service.current, person);
  const { tenant } = visitor;
  await visitor.report("ann", "bob");
  await tenant.call("PUT", "/enduseraccounts/bob", { body: { is_blocked: true } });
  await share(tenant, "device", "laptop", ["ann", "eve"]);
  await share(tenant, "ip", "192.0.2.7", ["ann", "bob", "eve"]);
  await share(tenant, "device", "kiosk", ["bob", "fay", "gus", "hal"]);
  await tenant.call("POST", "/enduseraccounts", { body: { website_account_id: "fay" } });
  return visitor;
}

function rowsOf({ page }: Visitor): Promise<string[]> {
  return page.locator("[role=row] [role=gridcell]:first-child").allTextContents();
}

async function expectFocused({ page }: Visitor, value: string): Promise<void> {
  await expect
    .poll(() => page.locator("[role=row][data-focused=true] [role=gridcell]:first-child").textContent(), patience)
    .toBe(value);
}

const inFocus = ({ page }: Visitor) => page.getByRole("complementary", { name: "Item in focus" });

test("links: the most suspicious come first; the keyboard leads from a device to its accounts, to an open case, and back to the same row", async () => {
  const visitor = await withLinks();
  const { page } = visitor;
  await visitor.goto("/links");
  await expectFocused(visitor, "laptop");
  expect(await rowsOf(visitor)).toEqual(["laptop", "192.0.2.7", "kiosk"]);
  await visitor.press("j");
  await expectFocused(visitor, "192.0.2.7");
  const pane = inFocus(visitor);
  await pane.getByRole("listitem").filter({ hasText: "bob" }).getByText("Blocked").waitFor();
  expect(await pane.getByRole("listitem").count()).toBe(3);
  await page.waitForURL(/at=ip/);
  await visitor.press("Enter");
  await expect.poll(() => page.evaluate("document.activeElement.textContent"), patience).toBe("ann");
  await visitor.press("Escape");
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('role')"), patience).toBe("grid");
  await visitor.press("Enter", "Tab", "Tab", "Tab", "Enter");
  await page.getByRole("heading", { name: "ann", level: 1 }).waitFor();
  await page.goBack();
  await expectFocused(visitor, "192.0.2.7");
  expect(visitor.complaints).toEqual([]);
});

test("links: an account id in the table, the pane and the bar links to its screen; its cases have a link of their own", async () => {
  const visitor = await withLinks();
  const { page } = visitor;
  await visitor.goto("/links");
  await expectFocused(visitor, "laptop");
  const kiosk = page.getByRole("row").filter({ hasText: "kiosk" });
  await kiosk.getByRole("link", { name: "gus", exact: true }).click();
  await page.getByRole("heading", { name: "gus", level: 1 }).waitFor();
  await page.goBack();
  // The click followed the link and did not select the row.
  await expectFocused(visitor, "laptop");
  const pane = inFocus(visitor);
  const cases = pane.getByRole("link", { name: "Cases of ann" });
  await cases.waitFor();
  expect(await cases.getAttribute("href")).toBe("/?account=ann&status=all");
  await pane.getByRole("link", { name: "ann", exact: true }).click();
  await page.waitForURL(/\/accounts\/ann$/);
  await visitor.goto("/links?account=fay");
  await page.getByRole("search").locator("..").getByRole("link", { name: "fay", exact: true }).click();
  await page.getByRole("heading", { name: "fay", level: 1 }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("links: the graph shows the same table, loads on demand, and every node can be reached by key", async () => {
  const visitor = await withLinks();
  const { page } = visitor;
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(request.url()));
  await visitor.goto("/links");
  await expectFocused(visitor, "laptop");
  expect(fetched.filter((url) => url.includes("/Graph"))).toEqual([]);
  await visitor.press("g");
  await page.waitForURL(/view=graph/);
  const graph = page.getByRole("group", { name: /^Graph of 6 accounts and 3 devices and addresses/ });
  await graph.waitFor();
  expect(fetched.filter((url) => url.includes("/Graph"))).toHaveLength(1);
  const pressed = () => graph.locator("[role=button][aria-pressed=true]").getAttribute("aria-label");
  expect(await pressed()).toBe("Device laptop, 2 accounts");
  await visitor.press("j", "j");
  await expect.poll(pressed, patience).toBe("Device kiosk, 4 accounts");
  await graph.locator("[role=button][aria-pressed=true]").focus();
  const seen = new Set<string>();
  for (const key of ["Left", "Up", "Right", "Down", "Left", "Down", "Right", "Up"].flatMap((each) =>
    Array.from({ length: 5 }, () => each),
  )) {
    await visitor.press(`Arrow${key}`);
    seen.add((await pressed()) ?? "");
  }
  expect([...seen].filter((name) => name.startsWith("Account")).length).toBeGreaterThan(2);
  await graph.getByRole("button", { name: /^Account bob, selected account, open case of risk \d, flagged, 2 links$/ }).click();
  await inFocus(visitor).getByRole("heading", { name: "bob" }).waitFor();
  await page.waitForURL(/at=account/);
  await visitor.press("Enter");
  await inFocus(visitor).getByRole("button", { name: /kiosk/ }).click();
  await inFocus(visitor).getByRole("heading", { name: "kiosk" }).waitFor();
  await visitor.press("g");
  await expectFocused(visitor, "kiosk");
  expect(visitor.complaints).toEqual([]);
});

test("links: the account, the cases and the kind are in the address, and an empty result says so", async () => {
  const visitor = await withLinks();
  const { page, tenant } = visitor;
  await visitor.goto("/links");
  await expectFocused(visitor, "laptop");
  await visitor.press("/");
  await page.keyboard.type("fay");
  await visitor.press("Enter");
  await page.waitForURL(/account=fay/);
  await page.getByText("Around fay").waitFor();
  await expect.poll(() => rowsOf(visitor), patience).toEqual(["kiosk"]);
  await page.getByRole("link", { name: "Addresses" }).click();
  await page.getByText("Account fay shares no address with another account.").waitFor();
  const [bob] = await tenant.list("website_account_id=bob");
  await visitor.goto(`/links?cases=${bob?.case_id}&kind=device`);
  await page.getByText("Around one case").waitFor();
  await expect.poll(() => rowsOf(visitor), patience).toEqual(["kiosk"]);
  await page.getByRole("link", { name: "Back to the riskiest open cases" }).click();
  await expect.poll(() => rowsOf(visitor), patience).toEqual(["laptop", "kiosk"]);
  await visitor.goto("/links?account=nobody");
  await page.getByText("Nothing is shared").waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("links: a graph too large to draw is cut and says so; the pane pages through all accounts of an item", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("ann");
  const crowd = Array.from({ length: 70 }, (_, index) => `crowd-${String(index).padStart(2, "0")}`);
  await share(tenant, "ip", "192.0.2.1", ["ann", ...crowd]);
  await visitor.goto("/links");
  await page.getByText(/^Not everything is shown/).waitFor();
  const items = inFocus(visitor).getByRole("listitem");
  await expect.poll(() => items.count(), patience).toBe(50);
  await inFocus(visitor).getByRole("button", { name: "Show more accounts" }).click();
  await expect.poll(() => items.count(), patience).toBe(71);
  expect(visitor.complaints).toEqual([]);
});

test("links: table, pane and graph have no axe findings, and markup in ids stays text, in either theme", async () => {
  const visitor = await withLinks();
  const { page, tenant } = visitor;
  await tenant.openCase(hostile);
  await share(tenant, "device", `${hostile}d`, [hostile, `${hostile}2`]);
  await visitor.goto("/links");
  await expect.poll(() => rowsOf(visitor), patience).toContain(`${shown}d`);
  await inFocus(visitor).getByRole("listitem").first().waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.goto(`/links?account=${encodeURIComponent(hostile)}`);
  await inFocus(visitor)
    .getByRole("heading", { name: `${shown}d` })
    .waitFor();
  await inFocus(visitor).getByText(`${shown}2`, { exact: true }).waitFor();
  await visitor.press("g");
  await page.getByRole("group", { name: /^Graph/ }).waitFor();
  await page.getByRole("button", { name: `Account ${shown}2, 1 links` }).click();
  await inFocus(visitor)
    .getByRole("heading", { name: `${shown}2` })
    .waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await visitor.goto("/links?account=nobody");
  await page.getByText("Nothing is shared").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await page.title()).toBe("Casehound");
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test("links: a person who may not see accounts sees that the screen is not available, and has no link to it", async () => {
  const visitor = await Visitor.create(browser.current, service.current, { scopes: ["read:cases"] });
  await visitor.goto("/links");
  await visitor.page.getByText("The links screen is not available to you").waitFor();
  expect(await visitor.page.getByRole("link", { name: "Links", exact: true }).count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});
