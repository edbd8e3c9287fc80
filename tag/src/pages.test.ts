import { expect, test } from "vitest";
import { showPage, useShop } from "./shop.ts";

const site = useShop();
const minuteMs = 60_000;
const viewed = (): unknown[] => site.shop.ofType("_page_view").map(({ attributes }) => attributes["_page_url"]);

test.for([
  { browser: "a browser with the Navigation API", script: "" },
  { browser: "an older browser", script: "delete window.navigation" },
])(
  "pages: in $browser, each path of a single-page shop is one view with its title, and queries and fragments are not",
  async ({ script }) => {
    await site.visitor.addInitScript(script);
    const page = await site.visit("/home");
    await page.evaluate('history.pushState({}, "", "/shoes"); document.title = "Shoes"');
    await page.evaluate('history.pushState({}, "", "/shoes?size=43"); history.replaceState({}, "", "/shoes#top")');
    await page.evaluate('history.replaceState({}, "", "/cart"); casehound.record("add_to_cart")');
    await page.goBack();
    await page.waitForFunction('location.pathname === "/shoes"');
    await page.evaluate("casehound.flush()");
    await site.shop.untilEvent("_page_view", 4);
    expect(viewed()).toEqual(["/home", "/shoes", "/cart", "/shoes"].map((path) => site.shop.url + path));
    expect(site.shop.ofType("_page_view")[1]?.attributes).toMatchObject({
      _page_title: "Shoes",
      _page_referrer: `${site.shop.url}/home`,
      _page_referrer_title: "Shop /home",
      _entrances: 0,
    });
    const [added] = site.shop.ofType("add_to_cart");
    expect(added?.attributes["_page_url"]).toBe(`${site.shop.url}/cart`);
    const order = site.shop.types.filter((type) => ["_page_view", "add_to_cart"].includes(type));
    expect(order).toEqual(["_page_view", "_page_view", "_page_view", "add_to_cart", "_page_view"]);
  },
);

test("pages: wrapped history calls keep their results and errors", async () => {
  await site.visitor.addInitScript("delete window.navigation; history.original = history.pushState");
  const page = await site.visit("/home");
  await page.evaluate('history.pushState({ kept: 1 }, "", "/shoes")');
  expect(await page.evaluate("history.state")).toEqual({ kept: 1 });
  expect(await page.evaluate("history.pushState !== history.original")).toBe(true);
  const refused = page.evaluate('history.pushState({}, "", "https://elsewhere.example/")');
  await expect(refused).rejects.toThrow("SecurityError");
});

test("pages: a page left in a single-page shop gets its engagement under its own address", async () => {
  await site.visitor.clock.install();
  const page = await site.visit("/home");
  await page.clock.runFor(2000);
  await page.evaluate('history.pushState({}, "", "/shoes"); casehound.record("next"); casehound.flush()');
  const { attributes } = await site.shop.untilEvent("_user_engagement");
  expect(attributes["_page_url"]).toBe(`${site.shop.url}/home`);
  expect(attributes["_page_title"]).toBe("Shop /home");
  expect(attributes["_engagement_time_msec"]).toBeGreaterThanOrEqual(2000);
});

test("pages: scrolling past nine tenths sends one _scroll per page", async () => {
  const page = await site.visit("/home");
  await page.evaluate("scrollTo(0, 1000)");
  await page.evaluate("new Promise(requestAnimationFrame)");
  for (const top of [4000, 0, 4000]) {
    await page.evaluate(`scrollTo(0, ${top})`);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
  }
  await page.evaluate("casehound.record('end'); casehound.flush()");
  await site.shop.untilEvent("end");
  expect(site.shop.ofType("_scroll")).toHaveLength(1);
});

test("pages: a hidden page reports how long it was visible, and counts again only once it is shown", async () => {
  await site.visitor.clock.install();
  const page = await site.visit("/home");
  await page.clock.runFor(3000);
  await showPage(page, "hidden");
  await site.shop.untilEvent("_user_engagement");
  await page.clock.runFor(60_000);
  await showPage(page, "visible");
  await page.clock.runFor(1000);
  await showPage(page, "hidden");
  await site.shop.untilEvent("_user_engagement", 2);
  const [first, second] = site.shop
    .ofType("_user_engagement")
    .map(({ attributes }) => Number(attributes["_engagement_time_msec"]));
  expect(first).toBeGreaterThanOrEqual(3000);
  expect(first).toBeLessThan(50_000);
  expect(second).toBeGreaterThanOrEqual(1000);
  expect(second).toBeLessThan(50_000);
  expect(viewed()).toHaveLength(1);
});

test("pages: after 30 minutes of silence a new session begins, with its own page view", async () => {
  await site.visitor.clock.install();
  const page = await site.visit("/home");
  await page.clock.fastForward(29 * minuteMs);
  await page.evaluate('casehound.record("still")');
  await page.clock.fastForward(29 * minuteMs);
  await page.evaluate('casehound.record("same")');
  await page.clock.fastForward(31 * minuteMs);
  await page.evaluate('casehound.record("new_one"); casehound.flush()');
  await site.shop.untilEvent("new_one");
  const numbers = site.shop.events.map(({ event_type, attributes }) => [event_type, attributes["_session_number"]]);
  expect(numbers).toEqual([
    ["_first_open", 1],
    ["_session_start", 1],
    ["_page_view", 1],
    ["still", 1],
    ["same", 1],
    ["_session_start", 2],
    ["_page_view", 2],
    ["new_one", 2],
  ]);
  expect(new Set(site.shop.events.map(({ attributes }) => attributes["_session_id"])).size).toBe(2);
  expect(site.shop.ofType("_page_view").map(({ attributes }) => attributes["_entrances"])).toEqual([1, 1]);
});

test("pages: a page closed after hours belongs to its old session and does not prolong it", async () => {
  await site.visitor.clock.install();
  const page = await site.visit("/home");
  await page.clock.fastForward(300 * minuteMs);
  await showPage(page, "hidden");
  const { attributes } = await site.shop.untilEvent("_user_engagement");
  expect(attributes["_session_number"]).toBe(1);
  await page.evaluate('casehound.record("back"); casehound.flush()');
  expect((await site.shop.untilEvent("back")).attributes["_session_number"]).toBe(2);
});

test("pages: the referrer is sent without its query", async () => {
  const page = await site.visit("/home");
  await page.evaluate('location.href = "/next"');
  await page.waitForURL("**/next");
  await page.waitForFunction("window.casehound?.version !== undefined");
  await page.evaluate(`history.replaceState({}, "", "/next?token=secret"); location.href = "/last"`);
  await page.waitForURL("**/last");
  await page.waitForFunction("window.casehound?.version !== undefined");
  await page.evaluate('casehound.record("end"); casehound.flush()');
  const { attributes } = await site.shop.untilEvent("end");
  expect(attributes["_latest_referrer"]).toBe(`${site.shop.url}/next`);
  expect(JSON.stringify(site.shop.uploads.map(({ headers, body }) => [headers, body]))).not.toContain("secret");
});

test("pages: a prerendered page is not a view, and its calls wait until it is shown", async () => {
  await site.visitor.addInitScript('Object.defineProperty(document, "prerendering", { configurable: true, value: true })');
  const page = await site.visit("/home");
  await page.evaluate('casehound.record("early"); casehound.flush()');
  expect(await page.evaluate("Object.keys(localStorage)")).toEqual([]);
  await page.evaluate('document.dispatchEvent(new Event("prerenderingchange")); casehound.flush()');
  await site.shop.untilEvent("early");
  expect(site.shop.types).toEqual(["_first_open", "_session_start", "_page_view", "early"]);
});
