import { expect, test, vi } from "vitest";
import { saveLinks } from "../../service/src/db/links.ts";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// What the queue updates automatically while others work.
const browser = useBrowser();
const service = useService();

test("queue: new cases wait behind a button, and the focused row does not move", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("bob", "ann");
  await visitor.goto();
  await visitor.expectFocused("ann");
  await visitor.press("j");
  await visitor.expectFocused("bob");
  const row = page.locator('[role=row][data-focused="true"]');
  const before = await row.boundingBox();
  await visitor.expectLive();
  await tenant.openCase("new-one");
  await page.getByRole("button", { name: "1 new" }).waitFor();
  expect(await row.boundingBox()).toEqual(before);
  const [grid, pill] = await Promise.all([
    page.getByRole("grid").boundingBox(),
    page.getByRole("button", { name: "1 new" }).boundingBox(),
  ]);
  expect(pill?.y).toBeGreaterThanOrEqual((grid?.y ?? 0) + (grid?.height ?? 0));
  expect(await page.getByText("new-one").count()).toBe(0);
  await page.getByRole("button", { name: "1 new" }).click();
  await page.getByRole("row").filter({ hasText: "new-one" }).waitFor();
  await visitor.expectFocused("bob");
  expect(visitor.complaints).toEqual([]);
});

test("queue: a colleague's close shows in the row, in place", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("bob", "ann");
  await visitor.goto();
  await visitor.expectFocused("ann");
  await visitor.expectLive();
  const [bob] = await tenant.list("website_account_id=bob");
  await tenant.put(bob?.case_id ?? "", { status: "CLOSED", case_version: 1 });
  await page.getByRole("row").filter({ hasText: "bob" }).getByText("Closed").waitFor();
  await visitor.expectFocused("ann");
  expect(visitor.complaints).toEqual([]);
});

test("queue: a page of rows is one request; a colleague's flag, new evidence and the view counts update automatically", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const accounts = Array.from({ length: 12 }, (_, index) => `account-${index}`);
  await Promise.all(accounts.map((account) => tenant.report(account)));
  await expect.poll(() => tenant.list("status=OPEN"), patience).toHaveLength(12);
  const seen = { first_seen: "2026-11-01T00:00:00.000Z", last_seen: "2026-11-02T00:00:00.000Z" };
  const links = accounts.map((a) => ({ kind: "account-device" as const, a, b: "shared-device", ...seen }));
  await tenant.service.database.transaction((tx) => saveLinks(tx, tenant.tenantId, links));
  const read: string[] = [];
  page.on("request", (request) => read.push(new URL(request.url()).pathname));
  await visitor.goto();
  await visitor.expectLive();
  const rowOf = (account: string) => page.getByRole("row").filter({ has: page.getByText(account, { exact: true }) });
  const linkedOf = (account: string) => rowOf(account).getByRole("gridcell").nth(5).textContent();
  for (const account of accounts) await expect.poll(() => linkedOf(account), patience).toBe("11");
  expect(read.filter((path) => path.endsWith("/cases/digests"))).toHaveLength(1);
  expect(read.filter((path) => path.endsWith("/cases/counts"))).toHaveLength(1);
  await tenant.call("PUT", "/enduseraccounts/account-3", { body: { is_quarantined: true, is_blocked: true } });
  await rowOf("account-3").getByText("Quarantined").waitFor();
  await tenant.report("account-5", { attributes: { label: "Bot" } });
  await rowOf("account-5").getByText("New evidence").waitFor();
  await page.getByRole("button", { name: "Open, highest risk 12" }).waitFor();
  await page.getByRole("button", { name: "Blocked accounts with open cases 1" }).click();
  await page.getByText("1 case", { exact: true }).waitFor();
  await visitor.expectFocused("account-3");
  await page.getByRole("button", { name: "New evidence 1" }).click();
  await visitor.expectFocused("account-5");
  await page.getByText("1 case", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove the filter New evidence" }).click();
  await page.getByText("12 cases").waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("queue: the list is read again after the stream has lost its position", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("ann");
  let isHeld = true;
  // A position past the end of the log, which the service answers with a reset.
  await page.route("**/events/stream?**", (route) => {
    const headers = { ...route.request().headers(), "last-event-id": "1000000" };
    return isHeld ? route.abort() : route.fallback({ headers });
  });
  await visitor.goto();
  await visitor.expectFocused("ann");
  await tenant.openCase("bob");
  isHeld = false;
  const bob = page.getByRole("row").filter({ hasText: "bob" });
  await bob.waitFor();
  expect(await bob.count()).toBe(1);
  await visitor.expectFocused("ann");
  expect(visitor.complaints).toEqual([]);
});

test("queue: a flag shows at once, and reverts with the service's message if it is rejected", async () => {
  const granted = ["read:cases", "read:case", "read:enduseraccount", "create:activities", "read:metrics"];
  const visitor = await Visitor.create(browser.current, service.current, { granted });
  const { tenant } = visitor;
  await visitor.report("ann");
  await visitor.goto();
  await visitor.expectBlockRefused();
  expect((await tenant.call("GET", "/enduseraccounts/ann")).json.data).toMatchObject({ is_blocked: false });
});

test("queue: an empty queue says when the last event arrived", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.goto();
  await page.getByText("No events received yet. Is the site connected?").waitFor();
  const open = await tenant.openCase("ann");
  await tenant.put(open.case_id, { status: "CLOSED", case_version: 1 });
  await visitor.goto();
  await page.getByText("No open cases").waitFor();
  await page.getByText(/The last event arrived \d+ (s|min) ago\./).waitFor();
  expect(visitor.complaints).toEqual([]);
});
