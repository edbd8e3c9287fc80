import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// A screen shows what its address says, and requests what it shows.
const browser = useBrowser();
const service = useService();

// The queries sent to the case list, without paging parameters.
function askedOf({ page }: Visitor): string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (!pathname.endsWith("/cases")) return;
    searchParams.delete("limit");
    asked.push(decodeURIComponent(searchParams.toString()));
  });
  return asked;
}

const chipsOf = ({ page }: Visitor) => page.getByRole("button", { name: /^Remove the filter / });

async function expectChips(visitor: Visitor, names: string[]): Promise<void> {
  await expect
    .poll(() => chipsOf(visitor).evaluateAll((all) => all.map((each) => each.getAttribute("aria-label"))), patience)
    .toEqual(names.map((name) => `Remove the filter ${name}`));
}

const standard = "status=OPEN";
const nonsense = "score=99&score_max=0&label=Cat&blocked=1&evidence=yes&changed=2y&sort=luck&case=7";

test.each([
  ["status=NONSENSE&min_score=99", "", ["Open"], standard],
  [nonsense, "", ["Open"], standard],
  ["status=CLOSED&status=closed", "", ["Open"], standard],
  ["status=closed&label=Bot&score=x", "?status=closed&label=Bot", ["Closed", "Bot"], "status=CLOSED&label=Bot"],
  ["score=4&score_max=9", "?score=4", ["Open", "Risk 4 or higher"], "status=OPEN&min_score=4"],
])("queue: the address ?%s is read as %j, and the chips and the request match it", async (given, stays, chips, asks) => {
  const visitor = await Visitor.create(browser.current, service.current);
  const asked = askedOf(visitor);
  await visitor.goto(`/?${given}`);
  await visitor.page.getByText(/No open cases|No cases match these filters/).waitFor();
  await expectChips(visitor, chips);
  await expect.poll(() => decodeURIComponent(new URL(visitor.page.url()).search), patience).toBe(stays);
  expect([...new Set(asked)]).toEqual([`${asks}&sort=-overall_risk_score`]);
  expect(visitor.complaints).toEqual([]);
});

test("queue: two lower bounds on the last change are two chips, and the request has both", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const asked = askedOf(visitor);
  await visitor.goto("/?changed=7d&changed_from=2020-01-01");
  await visitor.page.getByText("No cases match these filters").waitFor();
  expect(await chipsOf(visitor).count()).toBe(3);
  expect(asked[0]).toContain("updated_within_hours=168");
  expect(asked[0]).toContain("updated_since=2020-01-01T00:00:00.000Z");
  await visitor.goto("/?changed=7d&changed_from=2099-01-01");
  await visitor.page.getByText("No cases match these filters").waitFor();
  expect(asked.at(-1)).toContain("updated_since=2099-01-01T00:00:00.000Z");
});

test.each([
  ["/links?kind=cat&view=list&account=", "/links"],
  ["/overview?days=8&tables=cats", "/overview"],
  ["/detection?tab=cats&state=maybe&label=Cat&sort=luck", "/detection"],
  ["/people?find=&more=1", "/people"],
  ["/developers?scenario=cats", "/developers"],
  ["/accounts/UNKNOWN?event=&tab=1", "/accounts/UNKNOWN"],
])("addresses: a parameter that the screen does not read is removed, %s", async (given, stays) => {
  const visitor = await Visitor.create(browser.current, service.current);
  await visitor.goto(given);
  await visitor.page.getByRole("heading", { level: 1 }).waitFor({ state: "attached" });
  await expect.poll(() => visitor.page.url().slice(visitor.origin.length), patience).toBe(stays);
  expect(visitor.complaints).toEqual([]);
});

test("addresses: the queue's address update does not cancel a navigation to another screen", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page } = visitor;
  await visitor.report("ann", "bob");
  const held = Promise.withResolvers<void>();
  await page.route("**/assets/AccountScreen-*.js", async (route) => {
    await held.promise;
    await route.continue();
  });
  await visitor.goto();
  await visitor.expectFocused("bob");
  await visitor.press("Control+k");
  await page.keyboard.type("ann");
  await page.getByRole("group", { name: "Accounts" }).getByRole("option", { name: /^ann/ }).waitFor();
  await visitor.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await visitor.press("j");
  await visitor.expectFocused("ann");
  // Longer than the delay between the focus and the address.
  await page.waitForTimeout(600);
  held.resolve();
  await page.getByRole("heading", { level: 1, name: "ann" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/accounts/ann");
});
