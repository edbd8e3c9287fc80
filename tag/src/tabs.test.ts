import { expect, test } from "vitest";
import { queueKeys, untilLeftBehind, useShop } from "./shop.ts";

const site = useShop();

test("tabs: two tabs are one device and one session", async () => {
  const tabs = [await site.visit("/one"), await site.visit("/two")];
  for (const tab of tabs) await tab.evaluate("casehound.flush()");
  await site.shop.untilEvent("_page_view", 2);
  expect(new Set(site.shop.events.map(({ device_id }) => device_id)).size).toBe(1);
  expect(new Set(site.shop.events.map(({ attributes }) => attributes["_session_id"])).size).toBe(1);
  expect(site.shop.ofType("_session_start")).toHaveLength(1);
});

test("tabs: the next visit delivers what two tabs could not, each event once", async () => {
  site.shop.answer = 503;
  const tabs = [await site.visit("/one"), await site.visit("/two")];
  for (const [index, tab] of tabs.entries()) await tab.evaluate(`casehound.record("tab_${index}")`);
  for (const tab of tabs) await tab.close();
  await site.shop.until(({ uploads }) => {
    const refused = uploads.flatMap(({ events }) => events).filter(({ event_type }) => event_type === "_user_engagement");
    return refused.length === 2;
  });
  site.shop.answer = 200;
  const next = await site.visit("/three");
  await untilLeftBehind(next, 2);
  await next.evaluate("casehound.flush()");
  await site.shop.untilEvent("_page_view", 3);
  const ids = site.shop.accepted.map(({ event_id }) => event_id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(site.shop.types.toSorted()).toEqual([
    "_first_open",
    "_page_view",
    "_page_view",
    "_page_view",
    "_session_start",
    "_user_engagement",
    "_user_engagement",
    "tab_0",
    "tab_1",
  ]);
  await next.waitForFunction(`${queueKeys}.length === 0`);
});

test("tabs: a tab leaves a live tab's queue alone, and takes it over once that tab has been silent", async () => {
  await site.visitor.clock.install();
  site.shop.answer = 503;
  const living = await site.visit("/one");
  await living.evaluate('casehound.record("of_the_living")');
  site.shop.answer = 200;
  const other = await site.visit("/two");
  // A crashed page does not release its queue, which only grows old.
  await other.evaluate(`localStorage["casehound.queue.ak_shop.crashed"] =
    JSON.stringify({ at: Date.now(), events: [{ event_id: "1", event_type: "of_the_crashed" }] })`);
  await other.evaluate("casehound.flush()");
  await site.shop.untilEvent("_page_view");
  expect(site.shop.types).toEqual(["_page_view"]);
  await other.clock.fastForward("11:00");
  await other.evaluate('casehound.record("later"); casehound.flush()');
  await site.shop.untilEvent("later");
  expect(site.shop.types).toContain("of_the_crashed");
  const keys = await other.evaluate(queueKeys);
  expect(keys).not.toContain("casehound.queue.ak_shop.crashed");
});

test("tabs: a page restored from the browser's cache is a view and keeps its queue", async () => {
  const page = await site.visit("/one");
  await page.evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))');
  await site.shop.untilEvent("_user_engagement");
  await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))');
  await page.evaluate('casehound.record("back"); casehound.flush()');
  await site.shop.untilEvent("back");
  expect(site.shop.types.slice(-2)).toEqual(["_page_view", "back"]);
});
