import { expect, test } from "vitest";
import { stub, useShop, type SentEvent } from "./shop.ts";

const site = useShop();
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;
const userOf = (event: SentEvent | undefined): string | undefined => event?.user._user_id?.value;

test("events: a first visit sends _first_open, _session_start and _page_view in the collector's format", async () => {
  const page = await site.visit("/shoes?email=a@b.example#size");
  await page.evaluate("casehound.flush()");
  const view = await site.shop.untilEvent("_page_view");
  expect(site.shop.types).toEqual(["_first_open", "_session_start", "_page_view"]);
  const { event_id, device_id, unique_id, timestamp, attributes, user, ...rest } = view;
  for (const id of [event_id, device_id, unique_id]) expect(id).toMatch(uuid);
  expect(user).toEqual({ _user_first_touch_timestamp: { value: expect.any(Number), set_timestamp: expect.any(Number) } });
  const start = Number(attributes["_session_start_timestamp"]);
  const stamp = new Date(start)
    .toISOString()
    .replaceAll(/[-:.Z]/g, "")
    .replace("T", "-");
  expect(attributes).toEqual({
    _session_id: `${unique_id.slice(-8)}-${stamp}`,
    _session_start_timestamp: start,
    _session_duration: timestamp - start,
    _session_number: 1,
    _page_title: "Shop /shoes",
    _page_url: `${site.shop.url}/shoes`,
    _latest_referrer: "",
    _page_referrer: "",
    _page_referrer_title: "",
    _entrances: 1,
  });
  expect(rest).toEqual({
    event_type: "_page_view",
    app_id: "ak_shop",
    host_name: "127.0.0.1",
    locale: "en-US",
    system_language: "en",
    country_code: "US",
    zone_offset: expect.any(Number),
    platform: "Web",
    screen_height: 720,
    screen_width: 1280,
    viewport_height: 720,
    viewport_width: 1280,
    sdk_name: "casehound-tag",
    sdk_version: "0.1.0",
  });
});

test("events: a log-in sends _profile_set with the user and then the summary of the input before it, at once", async () => {
  const page = await site.visit();
  await page.keyboard.type("abc");
  await page.evaluate('casehound.setUserId("user-42")');
  const summary = await site.shop.untilEvent("_user_engagement");
  expect(site.shop.types.slice(-2)).toEqual(["_profile_set", "_user_engagement"]);
  expect(userOf(site.shop.ofType("_profile_set")[0])).toBe("user-42");
  expect(userOf(summary)).toBe("user-42");
  expect(summary.attributes).toMatchObject({ _casehound_keys: 3 });
  expect(userOf(site.shop.ofType("_page_view")[0])).toBeUndefined();
});

test("events: setting the same user sends nothing; a log-out sends no user; a second user gets a new unique_id on the same device", async () => {
  const page = await site.visit();
  await page.evaluate('casehound.setUserId("A"); casehound.setUserId("A"); casehound.record("with_A")');
  await page.evaluate('casehound.setUserId(null); casehound.setUserId(null); casehound.record("with_none")');
  await page.evaluate('casehound.setUserId("B"); casehound.record("with_B"); casehound.flush()');
  await site.shop.untilEvent("with_B");
  const sets = site.shop.ofType("_profile_set");
  expect(sets.map(userOf)).toEqual(["A", undefined, "B"]);
  expect(["with_A", "with_none", "with_B"].map((type) => userOf(site.shop.ofType(type)[0]))).toEqual(["A", undefined, "B"]);
  const [first, second, third] = sets.map(({ unique_id }) => unique_id);
  expect(first).toBe(site.shop.ofType("_first_open")[0]?.unique_id);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
  expect(new Set(site.shop.events.map(({ device_id }) => device_id)).size).toBe(1);
  expect(new Set(site.shop.events.map(({ attributes }) => attributes["_session_id"])).size).toBe(1);
});

test("events: user, device and session persist across pages, and the session number does not grow", async () => {
  const first = await site.visit("/one");
  await first.evaluate('casehound.setUserId("A")');
  await site.shop.untilEvent("_profile_set");
  await first.goto(`${site.shop.url}/two`);
  await first.evaluate("casehound.flush()");
  const view = await site.shop.untilEvent("_page_view", 2);
  expect(userOf(view)).toBe("A");
  expect(view.attributes).toMatchObject({
    _page_referrer: `${site.shop.url}/one`,
    _page_referrer_title: "Shop /one",
    _entrances: 0,
    _session_number: 1,
    _latest_referrer: "",
  });
  expect(new Set(site.shop.events.map(({ device_id }) => device_id)).size).toBe(1);
  expect(site.shop.ofType("_first_open")).toHaveLength(1);
  expect(site.shop.ofType("_session_start")).toHaveLength(1);
});

test("events: record keeps flat attributes and items, truncates long ones, and cannot overwrite the tag's own", async () => {
  const page = await site.visit();
  await page.evaluate(`casehound.record("payment", {
    amount: 12.5, currency: "EUR", express: true, long: "x".repeat(1023) + "😀", nested: { a: 1 }, none: null, not: NaN, huge: 1e300,
    big: 10n, ["n".repeat(65)]: 1, _session_id: "forged", call() {},
  }, [{ id: "sku-1", price: 12.5, more: [] }])`);
  const many = 'Object.fromEntries(Array.from({ length: 100 }, (_, index) => ["a" + index, index]))';
  await page.evaluate(`casehound.record("many", ${many}, Array(100).fill({ id: 1 })); casehound.flush()`);
  const { attributes, items } = await site.shop.untilEvent("payment");
  const own = Object.entries(attributes).filter(([name]) => !name.startsWith("_"));
  expect(Object.fromEntries(own)).toEqual({ amount: 12.5, currency: "EUR", express: true, long: "x".repeat(1023) });
  expect(attributes["_session_id"]).not.toBe("forged");
  expect(items).toEqual([{ id: "sku-1", price: 12.5 }]);
  const wide = await site.shop.untilEvent("many");
  expect(Object.keys(wide.attributes).filter((name) => name.startsWith("a"))).toHaveLength(30);
  expect(wide.items).toHaveLength(20);
});

test("events: an event over 30 kB is sent without its attributes, with a warning in the console", async () => {
  const page = await site.visit();
  const warned = page.waitForEvent("console");
  const large = 'Object.fromEntries(Array.from({ length: 30 }, (_, index) => ["a" + index, "ü".repeat(1024)]))';
  await page.evaluate(`casehound.record("payment", ${large}); casehound.flush()`);
  expect((await warned).text()).toBe("casehound: payment is too large and is sent without its attributes");
  const { attributes } = await site.shop.untilEvent("payment");
  expect(Object.keys(attributes).filter((name) => name.startsWith("a"))).toEqual([]);
});

test("events: invalid calls only warn", async () => {
  const page = await site.visit();
  const warnings: string[] = [];
  page.on("console", (message) => warnings.push(message.text()));
  await page.evaluate(`
    for (const name of [undefined, null, 7, {}, "", "_page_view", "1a", "a b", "a".repeat(65)]) casehound.record(name);
    for (const id of [undefined, "", {}, true, "x".repeat(513)]) casehound.setUserId(id);
    const trap = { get amount() { throw new Error("trap"); } };
    casehound.record("trapped", trap);
    casehound.record("fine", "text", "text");
    casehound.flush();`);
  await site.shop.untilEvent("fine");
  expect(warnings).toHaveLength(14);
  expect(site.shop.types).toEqual(["_first_open", "_session_start", "_page_view", "fine"]);
});

test("events: the README's stub keeps early calls in order, even through methods that the page took from it", async () => {
  site.shop.head = `${stub}<script>
    casehound.setUserId("A"); casehound.record("early", { n: 1 }); var kept = casehound.record, object = casehound;</script>`;
  const page = await site.visit();
  await page.evaluate('kept("late", { n: 2 }); object.record("later"); casehound.flush()');
  await site.shop.untilEvent("later");
  expect(site.shop.types.slice(-5)).toEqual(["_profile_set", "_user_engagement", "early", "late", "later"]);
  expect(site.shop.events.slice(-3).map(userOf)).toEqual(["A", "A", "A"]);
});

test("events: a tag loaded twice runs once", async () => {
  site.shop.head = `<script data-app-key="ak_shop" src="${site.shop.collectorUrl}/tag.js"></script>`;
  const page = await site.visit();
  await page.evaluate('casehound.record("once"); casehound.flush()');
  await site.shop.untilEvent("once");
  expect(site.shop.types).toEqual(["_first_open", "_session_start", "_page_view", "once"]);
});

test("events: without an app key the tag warns and does nothing", async () => {
  site.shop.attributes = "";
  const page = await site.visitor.newPage();
  const warned = page.waitForEvent("console");
  await page.goto(site.shop.url);
  expect((await warned).text()).toBe("casehound: the script element needs the attribute data-app-key");
  expect(await page.evaluate("window.casehound")).toBeUndefined();
});
