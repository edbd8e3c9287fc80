import type { Page, Request } from "playwright-core";
import { expect, onTestFinished, test, vi } from "vitest";
import { launchBrowser } from "../../service/test/browser.ts";
import { TestTenant, useService } from "../../service/test/harness.ts";
import { Browser as Joined } from "../../service/test/people.ts";
import { Guest, makePerson } from "./people-rig.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
// Several tabs of one browser, and the connection they share.
const browser = useBrowser();
const service = useService();

type Tabs = { visitor: Visitor; tabs: Page[]; streams: Request[] };

// Opens tabs of one person. The first one leads.
async function openTabs(count: number, prepare?: (visitor: Visitor) => Promise<unknown>): Promise<Tabs> {
  const visitor = await Visitor.create(browser.current, service.current);
  await visitor.report("ann");
  await prepare?.(visitor);
  const context = visitor.page.context();
  const streams: Request[] = [];
  context.on("request", (request) => request.url().includes("/events/stream") && streams.push(request));
  const tabs = [visitor.page];
  await openTab(visitor, visitor.page);
  while (tabs.length < count) {
    const tab = await context.newPage();
    tab.setDefaultTimeout(patience.timeout);
    tabs.push(tab);
    await openTab(visitor, tab);
  }
  return { visitor, tabs, streams };
}

async function openTab(visitor: Visitor, tab: Page): Promise<void> {
  await tab.goto(visitor.origin);
  await expectState(tab, "Live");
  await rowOf(tab, "ann").waitFor();
}

async function expectState(tab: Page, words: string): Promise<void> {
  await tab.getByRole("status").getByText(words, { exact: true }).waitFor();
}

function rowOf(tab: Page, account: string) {
  return tab.getByRole("row").filter({ hasText: account });
}

async function expectNew(tabs: Page[], count: number): Promise<void> {
  for (const tab of tabs) await tab.getByRole("button", { name: `${count} new`, exact: true }).waitFor();
}

// Holds the tab's stream request until the test releases it.
async function holdStream(tab: Page): Promise<{ asked: Promise<string>; letGo: () => void }> {
  const asked = Promise.withResolvers<string>();
  const held = Promise.withResolvers<void>();
  await tab.route("**/events/stream?**", async (route) => {
    asked.resolve(route.request().url());
    await held.promise;
    await route.fallback();
  });
  return { asked: asked.promise, letGo: held.resolve };
}

function lockNames(tab: Page): Promise<string[]> {
  return tab.evaluate("navigator.locks.query().then(({ held }) => held.map(({ name }) => name))");
}

function turn(tab: Page, type: "pagehide" | "pageshow"): Promise<unknown> {
  return tab.evaluate(`dispatchEvent(new PageTransitionEvent("${type}", { persisted: true }))`);
}

test("live: seven tabs of a browser share one stream, and each learns of a new case", async () => {
  const { visitor, tabs, streams } = await openTabs(7);
  await visitor.tenant.openCase("bob");
  await expectNew(tabs, 1);
  await visitor.tenant.openCase("cid");
  await expectNew(tabs, 2);
  expect(streams.map((request) => request.frame().page() === visitor.page)).toEqual([true]);
  expect(visitor.complaints).toEqual([]);
});

test("live: when the leading tab closes, the next one continues after the last event and misses nothing", async () => {
  const { visitor, tabs, streams } = await openTabs(3);
  const [leading, next, last] = tabs as [Page, Page, Page];
  await visitor.tenant.openCase("bob");
  await expectNew(tabs, 1);
  const { asked, letGo } = await holdStream(next);
  await leading.close();
  expect(new URL(await asked).searchParams.get("after")).toMatch(/^\d+$/);
  await expectState(last, "Not live");
  await visitor.tenant.openCase("cid");
  letGo();
  await expectNew([next, last], 2);
  await visitor.tenant.openCase("dan");
  await expectNew([next, last], 3);
  expect(streams).toHaveLength(2);
});

test("live: an event between a tab's first read and its first stream is delivered", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("ann");
  const { asked, letGo } = await holdStream(page);
  await visitor.goto();
  await asked;
  await rowOf(page, "ann").waitFor();
  await tenant.openCase("bob");
  letGo();
  await expectNew([page], 1);
  expect(await rowOf(page, "bob").count()).toBe(0);
});

test("live: a leading tab in the back-forward cache gives up the lead, and catches up when it is restored", async () => {
  const { visitor, tabs, streams } = await openTabs(2);
  const [first, second] = tabs as [Page, Page];
  await turn(first, "pagehide");
  await expect.poll(() => streams.length, patience).toBe(2);
  await expectState(second, "Live");
  await visitor.tenant.openCase("bob");
  await expectNew([second], 1);
  await turn(first, "pageshow");
  await rowOf(first, "bob").waitFor();
  await expectState(first, "Live");
  await visitor.tenant.openCase("cid");
  await expectNew([first], 1);
  expect(streams).toHaveLength(2);
});

test("live: a tab does not miss an event that arrives while it opens", async () => {
  const { visitor, tabs } = await openTabs(1);
  const tab = await visitor.page.context().newPage();
  tab.setDefaultTimeout(patience.timeout);
  // A tab that cannot send on the channel yet.
  await tab.addInitScript(`{
    const held = [];
    const post = BroadcastChannel.prototype.postMessage;
    BroadcastChannel.prototype.postMessage = function (said) { held.push([this, said]); };
    globalThis.letGo = () => {
      BroadcastChannel.prototype.postMessage = post;
      for (const [channel, said] of held) post.call(channel, said);
    };
  }`);
  await tab.goto(visitor.origin);
  await rowOf(tab, "ann").waitFor();
  await visitor.tenant.openCase("bob");
  await expectNew(tabs, 1);
  expect(await tab.getByText("Live", { exact: true }).count()).toBe(0);
  await tab.evaluate("letGo()");
  await expectState(tab, "Live");
  await rowOf(tab, "bob").waitFor();
});

test("live: a tab that hears nothing from the leading tab does not show itself as live", async () => {
  const { visitor, tabs } = await openTabs(1);
  const [name = ""] = await lockNames(visitor.page);
  const mute = await visitor.page.context().newPage();
  await mute.goto(`${visitor.origin}/v2/openapi.json`);
  const hasLock = mute.evaluate(
    `new Promise((resolve) => void navigator.locks.request(${JSON.stringify(name)}, () => (resolve(), new Promise(() => {}))))`,
  );
  await expect.poll(() => mute.evaluate("navigator.locks.query().then(({ pending }) => pending.length)"), patience).toBe(1);
  await tabs[0]?.close();
  await hasLock;
  const tab = await mute.context().newPage();
  tab.setDefaultTimeout(patience.timeout);
  await tab.goto(visitor.origin);
  await expectState(tab, "Not live");
  await mute.close();
  await expectState(tab, "Live");
});

test("live: without Web Locks, as over plain HTTP, each tab has its own stream", async () => {
  const { visitor, tabs, streams } = await openTabs(2, ({ page }) =>
    page.context().addInitScript("delete Navigator.prototype.locks"),
  );
  expect(await tabs[0]?.evaluate("'locks' in navigator")).toBe(false);
  await visitor.tenant.openCase("bob");
  await expectNew(tabs, 1);
  expect(streams).toHaveLength(2);
  expect(visitor.complaints).toEqual([]);
});

test("live: when the session ends, every tab of that person says so; another person's tab has its own stream", async () => {
  const tenant = await TestTenant.create(service.current);
  const [ada, grace] = [await makePerson(tenant, "lead"), await makePerson(tenant, "lead", { name: "Grace Hopper" })];
  const first = await Guest.signedIn(browser.current, ada);
  const second = await first.anotherTab();
  const third = await first.anotherTab();
  for (const guest of [first, second, third]) {
    await guest.goto();
    await expectState(guest.page, "Live");
  }
  await third.choose("Sign out");
  for (const { page } of [first, second]) await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
  await third.signIn(grace.email);
  await expectState(third.page, "Live");
  const names = await lockNames(third.page);
  expect(names).toHaveLength(2);
  for (const { userId } of [ada, grace]) {
    const own = names.filter((name) => name.includes(userId) && name.includes(tenant.slug));
    expect(own).toHaveLength(1);
  }
});

test("live: over plain HTTP from another machine, a new case appears and can be closed", async () => {
  const tenant = await TestTenant.create(service.current);
  const elsewhere = await launchBrowser(["--host-resolver-rules=MAP console.lan 127.0.0.1"]);
  onTestFinished(() => elsewhere.close());
  const context = await elsewhere.newContext();
  const { cookie } = await Joined.join(tenant, "investigator");
  const [name = "", value = ""] = cookie.split("=");
  await context.addCookies([{ name, value, domain: "console.lan", path: "/", httpOnly: true, sameSite: "Strict" }]);
  const page = await context.newPage();
  page.setDefaultTimeout(patience.timeout);
  await page.goto(`http://console.lan:${service.current.port}/`);
  await expectState(page, "Live");
  expect(await page.evaluate("isSecureContext")).toBe(false);
  const { case_id } = await tenant.openCase("ann");
  await page.getByRole("button", { name: "1 new", exact: true }).click();
  await rowOf(page, "ann").click();
  await page.getByRole("button", { name: /Close the case/ }).waitFor();
  await page.keyboard.press("1");
  await page
    .getByRole("dialog")
    .getByLabel(/Reason/)
    .fill("Seen.");
  await page.keyboard.press("Control+Enter");
  await expect.poll(async () => (await tenant.read(case_id)).status, patience).toBe("CLOSED");
});

test("live: offline is shown at once, and after reconnecting the pane and the stream recover by themselves", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  await visitor.report("dan", "cid", "bob", "ann");
  await visitor.goto();
  await visitor.expectPeek("ann");
  await visitor.expectLive();
  await page.context().setOffline(true);
  await expectState(page, "Not live");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const pane = page.getByRole("complementary", { name: "The case in focus" });
  await pane.getByText("The service cannot be reached.").waitFor();
  await page.context().setOffline(false);
  await visitor.expectPeek("dan");
  await visitor.expectLive();
  await tenant.openCase("eve");
  await page.getByRole("button", { name: "1 new" }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test("clock: all times of a case have 24 hours, and the zone is named", async () => {
  const visitor = await Visitor.create(browser.current, service.current);
  const { page, tenant } = visitor;
  const { case_id } = await tenant.openCase("ann");
  await visitor.goto(`/cases/${case_id}`);
  await page.getByText(/Times are in (UTC|GMT)/).waitFor();
  const shown = await page.locator("time").evaluateAll((all) => all.map((each) => `${each.textContent ?? ""} ${each.title}`));
  expect(shown.length).toBeGreaterThan(4);
  expect(shown.filter((words) => /[AP]M/.test(words))).toEqual([]);
  expect(shown.filter((words) => /:\d\d /.test(words) && !/UTC|GMT/.test(words))).toEqual([]);
});
