import { createHash } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { queueKeys, showPage, untilLeftBehind, useShop, type Upload } from "./shop.ts";

const site = useShop();
const hashOf = (body: string): string => createHash("sha256").update(body).digest("hex").slice(0, 8);
const sentAt = ({ url }: Upload): number => Number(url.searchParams.get("upload_timestamp"));

// Advances the page's clock until the collector has received this many requests.
async function runUntilUploads(page: Page, count: number): Promise<void> {
  while (site.shop.uploads.length < count) await page.clock.runFor(1000);
}

test("delivery: a batch is one request to the key's address, without preflight and cookies, with the right hash", async () => {
  const page = await site.visit();
  await page.evaluate('casehound.record("gruß", {}); casehound.record("payment", { note: "grüße 😀" }); casehound.flush()');
  await site.shop.untilEvent("payment");
  const upload = site.shop.uploads.at(-1);
  expect(site.shop.preflights).toEqual([]);
  expect(upload?.url.pathname).toBe("/collect/ak_shop");
  expect(Object.fromEntries(upload?.url.searchParams ?? [])).toEqual({
    platform: "Web",
    appId: "ak_shop",
    event_bundle_sequence_id: String(site.shop.uploads.length),
    upload_timestamp: expect.stringMatching(/^\d{13}$/),
    hashCode: hashOf(upload?.body ?? ""),
  });
  expect(upload?.headers).toMatchObject({ origin: site.shop.url, "content-type": "text/plain;charset=UTF-8" });
  expect(upload?.headers.cookie).toBeUndefined();
  expect(await site.visitor.cookies()).toEqual([]);
});

test("delivery: an endpoint that the page names is used as it is", async () => {
  site.shop.attributes = `async data-app-key="ak_shop" data-endpoint="${site.shop.collectorUrl}/proxied/collect/ak_shop"`;
  const page = await site.visit();
  await page.evaluate("casehound.flush()");
  await site.shop.untilEvent("_page_view");
  expect(site.shop.uploads[0]?.url.pathname).toBe("/proxied/collect/ak_shop");
});

test("delivery: events are sent after 5 seconds, and at once if there are 50", async () => {
  await site.visitor.clock.install();
  const page = await site.visit();
  await page.clock.runFor(5000);
  await page.waitForFunction(`${queueKeys}.length === 0`);
  expect(site.shop.types).toContain("_page_view");
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.evaluate('for (let n = 0; n < 50; n++) casehound.record("click")');
  await page.clock.runFor(1);
  await site.shop.untilEvent("click", 50);
  expect(site.shop.uploads.at(-1)?.events).toHaveLength(50);
});

test("delivery: a page that closes delivers its events without waiting for a hash", async () => {
  const page = await site.visit();
  await page.evaluate('casehound.record("last_click")');
  await page.close();
  await site.shop.untilEvent("_user_engagement");
  expect(site.shop.types).toEqual(["_first_open", "_session_start", "_page_view", "last_click", "_user_engagement"]);
  expect(site.shop.uploads.at(-1)?.url.searchParams.has("hashCode")).toBe(false);
});

test("delivery: a page that is hidden does not resend what is in flight", async () => {
  site.shop.answer = "none";
  const page = await site.visit();
  await page.evaluate("casehound.flush()");
  await site.shop.until(({ uploads }) => uploads.length === 1);
  await page.evaluate('casehound.record("meanwhile")');
  await showPage(page, "hidden");
  await site.shop.until(({ uploads }) => uploads.length === 2);
  expect(site.shop.uploads[1]?.events.map(({ event_type }) => event_type)).toEqual(["meanwhile", "_user_engagement"]);
});

test("delivery: a beacon is used if requests cannot outlive their page", async () => {
  await site.visitor.addInitScript(`delete Request.prototype.keepalive;
    const beacon = navigator.sendBeacon;
    navigator.sendBeacon = function (url, body) { localStorage.beacons = Number(localStorage.beacons ?? 0) + 1; return beacon.call(this, url, body); };`);
  const page = await site.visit("/one");
  await page.goto(`${site.shop.url}/two`);
  await site.shop.untilEvent("_user_engagement");
  expect(await page.evaluate("localStorage.beacons")).toBe("1");
});

test("delivery: events recorded offline are delivered by the next visit, each once", async () => {
  const first = await site.visit("/one");
  await site.visitor.setOffline(true);
  // A closing page may be online again before it ends. Then its last request arrives but is not accepted.
  site.shop.answer = 503;
  await first.evaluate('casehound.record("offline_1"); casehound.record("offline_2"); casehound.flush()');
  await first.close();
  await site.visitor.setOffline(false);
  const second = await site.visit("/two");
  await untilLeftBehind(second, 1);
  const since = Date.now();
  site.shop.answer = 200;
  await second.evaluate("casehound.flush()");
  await site.shop.until(({ types }) => types.includes("offline_2") && types.filter((type) => type === "_page_view").length === 2);
  const ids = site.shop.uploads
    .filter((upload) => sentAt(upload) >= since)
    .flatMap(({ events }) => events.map(({ event_id }) => event_id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(site.shop.types.filter((type) => type.startsWith("offline"))).toEqual(["offline_1", "offline_2"]);
  await second.waitForFunction(`${queueKeys}.length === 0`);
});

test("delivery: a page that comes back online sends at once", async () => {
  const page = await site.visit();
  await site.visitor.setOffline(true);
  await page.evaluate('casehound.record("offline"); casehound.flush()');
  await site.visitor.setOffline(false);
  await site.shop.untilEvent("offline");
  expect(site.shop.ofType("offline")).toHaveLength(1);
});

test("delivery: 503 keeps the events, and the pauses between attempts grow until 200", async () => {
  await site.visitor.clock.install();
  site.shop.answer = 503;
  const page = await site.visit();
  await page.evaluate('casehound.record("payment")');
  await runUntilUploads(page, 4);
  const times = site.shop.uploads.map(sentAt);
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(5000 * 2 ** index);
  site.shop.answer = 200;
  await runUntilUploads(page, 5);
  expect(site.shop.ofType("payment")).toHaveLength(1);
  await page.waitForFunction(`${queueKeys}.length === 0`);
});

test("delivery: a request without a response is abandoned after 20 seconds and retried", async () => {
  await site.visitor.clock.install();
  site.shop.answer = "none";
  const page = await site.visit();
  await page.evaluate("casehound.flush()");
  await site.shop.until(({ uploads }) => uploads.length === 1);
  site.shop.answer = 200;
  await runUntilUploads(page, 2);
  const [first = 0, second = 0] = site.shop.uploads.map(sentAt);
  // The page's clock also runs by itself, so the times are not exact.
  expect(Math.round((second - first) / 1000)).toBeGreaterThanOrEqual(25);
  expect(site.shop.types).toEqual(["_first_open", "_session_start", "_page_view"]);
});

test("delivery: a long outage keeps the newest 500 events, and sends them in requests of up to 60 kB", async () => {
  site.shop.answer = 503;
  const page = await site.visit();
  await page.evaluate('for (let n = 0; n < 600; n++) casehound.record("click", { n })');
  await site.shop.until(({ uploads }) => uploads.length > 0);
  site.shop.answer = 200;
  for (let sent = -1; sent < site.shop.events.length;) {
    sent = site.shop.events.length;
    const { length } = site.shop.uploads;
    await page.evaluate("casehound.flush()");
    if (sent < 500) await site.shop.until(({ uploads }) => uploads.length > length);
  }
  const numbers = site.shop.ofType("click").map(({ attributes }) => attributes["n"]);
  expect(numbers).toEqual(Array.from({ length: 500 }, (_, index) => index + 100));
  for (const { body } of site.shop.uploads) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(60_000);
});
