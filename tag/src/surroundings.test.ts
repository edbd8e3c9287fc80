import type { Frame, Page } from "playwright-core";
import { expect, test } from "vitest";
import { tagScript } from "./script.ts";
import { showPage, useShop } from "./shop.ts";

const site = useShop();

// A sandboxed frame has no storage: every access throws.
async function frameWithoutStorage(page: Page): Promise<Frame> {
  await page.evaluate(`const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts"; frame.src = "/framed"; document.body.prepend(frame);`);
  const frame = await page.waitForEvent("frameattached", { timeout: 1 }).catch(() => page.frames()[1]);
  if (frame === undefined) throw new Error("no frame");
  await frame.waitForFunction("window.casehound?.version !== undefined");
  return frame;
}

test("surroundings: with storage blocked the tag works from memory, with one device for the page", async () => {
  const frame = await frameWithoutStorage(await site.visit());
  await expect(frame.evaluate("localStorage")).rejects.toThrow("SecurityError");
  await frame.evaluate('casehound.setUserId("A"); casehound.record("one"); casehound.record("two"); casehound.flush()');
  await site.shop.untilEvent("two");
  const framed = site.shop.events.filter(({ attributes }) => String(attributes["_page_url"]).endsWith("/framed"));
  expect(framed.map(({ event_type }) => event_type)).toEqual([
    "_first_open",
    "_session_start",
    "_page_view",
    "_profile_set",
    "_user_engagement",
    "one",
    "two",
  ]);
  expect(new Set(framed.map(({ device_id }) => device_id)).size).toBe(1);
});

test("surroundings: with storage full the tag works from memory and leaves the page's own data alone", async () => {
  await site.visitor.addInitScript(`for (let size = 2 ** 22; size >= 1; size /= 2) {
    try { for (let n = 0; n < 8; n++) localStorage["page" + size + n] = "x".repeat(size); } catch {}
  }`);
  const page = await site.visit();
  const before = await page.evaluate("JSON.stringify(localStorage).length");
  await page.evaluate('casehound.record("one"); casehound.record("two"); casehound.flush()');
  await site.shop.untilEvent("two");
  expect(site.shop.types).toEqual(["_first_open", "_session_start", "_page_view", "one", "two"]);
  expect(new Set(site.shop.events.map(({ device_id }) => device_id)).size).toBe(1);
  expect(await page.evaluate("JSON.stringify(localStorage).length")).toBe(before);
});

test("surroundings: corrupted storage is replaced", async () => {
  await site.visitor.addInitScript(`for (const name of ["device", "user", "session", "sequence", "queue.ak_shop.x"]) {
    try { localStorage["casehound." + name] = "{spoiled"; } catch {}
  }`);
  const page = await site.visit();
  await page.evaluate('casehound.record("one"); casehound.flush()');
  await site.shop.untilEvent("one");
  expect(site.shop.types).toEqual(["_first_open", "_session_start", "_page_view", "one"]);
});

test("surroundings: a page without TLS has no digest, so its requests carry no hash", async () => {
  const page = await site.visitor.newPage();
  const sent: URL[] = [];
  await page.route("http://shop.test/**", async (route) => {
    const url = new URL(route.request().url());
    if (url.pathname === "/tag.js") return route.fulfill({ contentType: "text/javascript", body: tagScript() });
    if (url.pathname.startsWith("/collect/")) sent.push(url);
    return route.fulfill({ contentType: "text/html", body: '<script src="/tag.js" data-app-key="ak/1"></script>' });
  });
  await page.goto("http://shop.test/");
  expect(await page.evaluate("crypto.subtle")).toBeUndefined();
  const answered = page.waitForResponse((response) => response.url().includes("/collect/"));
  await page.evaluate("casehound.flush()");
  await answered;
  expect(sent[0]?.pathname).toBe("/collect/ak%2F1");
  expect([...(sent[0]?.searchParams.keys() ?? [])]).toEqual([
    "platform",
    "appId",
    "event_bundle_sequence_id",
    "upload_timestamp",
  ]);
});

test("surroundings: its listeners cannot block the page's scrolling", async () => {
  await site.visitor.addInitScript(`window.listened = [];
    const original = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (type, listener, options) {
      window.listened.push([type, options?.passive === true]);
      return original.call(this, type, listener, options);
    };`);
  const page = await site.visit();
  const listened = (await page.evaluate("listened")) as [string, boolean][];
  expect(listened.filter(([, isPassive]) => isPassive).map(([type]) => type)).toEqual([
    "pointerdown",
    "pointermove",
    "keydown",
    "wheel",
    "scroll",
  ]);
  expect(listened.map(([type]) => type).filter((type) => /unload/.test(type))).toEqual([]);
});

test("surroundings: a page that cannot send anything gets no error", async () => {
  await site.visitor.addInitScript(`window.tries = 0;
    window.fetch = () => { window.tries++; throw new Error("no requests here"); };
    Object.defineProperty(Navigator.prototype, "sendBeacon", { value: undefined });`);
  const page = await site.visit();
  await page.evaluate('casehound.record("one"); casehound.flush()');
  await page.waitForFunction("tries === 1");
  await showPage(page, "hidden");
  await page.waitForFunction("tries === 2");
  expect(site.shop.uploads).toEqual([]);
});
