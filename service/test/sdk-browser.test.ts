import { expect, test, vi } from "vitest";
import { useBrowser } from "./shared-browser.ts";
import { useService } from "./harness.ts";
import { LossyProxy } from "./lossy-proxy.ts";
import { Customer, Visit, browserPace, likePeople, patience } from "./shop.ts";

vi.setConfig(browserPace);
// The events of a first visit to the log-in page with one log-in.
const newcomer = ["_first_open", "_session_start", "_page_view", "_profile_set", "login"];

// The SDK as npm delivers it, in a real Chromium, on a shop of another origin.
const service = useService();
const browser = useBrowser(likePeople);

async function openShop(config: Record<string, unknown> = {}): Promise<{ customer: Customer; visit: Visit }> {
  const customer = await Customer.create(service.current);
  customer.useClickstream(config);
  return { customer, visit: await Visit.begin(browser.current) };
}

test("clickstream: a visit over four pages arrives completely, each event once, with account, session and device", async () => {
  const { customer, visit } = await openShop();
  const { page } = visit;
  await page.goto(`${customer.shop.origin}/?token=secret#part`);
  await visit.follow("A teapot");
  await visit.press("Add to cart");
  await visit.follow("Sign in");
  await visit.signIn("ann");
  await page.evaluate(`ClickstreamAnalytics.setUserAttributes({ tier: "gold" })`);
  await visit.follow("Check out");
  await visit.press("Pay");
  await page.getByText("Thank you").waitFor();
  const stored = await customer.expectAll(visit);
  expect(new Set([...(await visit.statuses()), null])).toEqual(new Set([200, null]));
  expect(visit.complaints).toEqual([]);
  expect(await customer.quarantined()).toEqual([]);

  const types = stored.map((each) => each.type);
  for (const type of ["custom:add_to_cart", "login_succeeded", "payment"])
    expect(types.filter((each) => each === type)).toHaveLength(1);
  expect(types.filter((type) => type === "page_view")).toHaveLength(4);
  const [device] = visit.sent.values();
  expect(new Set(stored.map((each) => each.device_id))).toEqual(new Set([device?.device_id]));
  expect(new Set(stored.map((each) => each.session_id))).toEqual(new Set([device?.attributes["_session_id"]]));
  expect(stored.find((each) => each.type === "custom:add_to_cart")).toMatchObject({
    origin: "browser",
    attributes: { product: "teapot", price: 24.5 },
    user_agent: expect.stringContaining(" Chrome/141"),
    browser: { page_url: `${customer.shop.origin}/product` },
  });
  expect(stored.find((each) => each.type === "custom:add_to_cart")).not.toHaveProperty("website_account_id");
  for (const type of ["login_succeeded", "payment"]) {
    expect(stored.find((each) => each.type === type)).toMatchObject({ website_account_id: "ann" });
  }
  expect(JSON.stringify(stored)).not.toContain("secret");
});

test("clickstream: an event whose response is lost is sent again by the SDK and counted once", async () => {
  const { customer, visit } = await openShop();
  const proxy = await LossyProxy.open(service.current.port);
  customer.useClickstream({ endpoint: `${proxy.url}/collect/${customer.appKey}` });
  proxy.isLosing = true;
  await visit.page.goto(`${customer.shop.origin}/login`);
  await visit.signIn("ann");
  // The SDK tries each event three times and then keeps it for later.
  await visit.expectKept(newcomer);
  expect(visit.posts.length).toBeGreaterThanOrEqual(3 * visit.sent.size);
  expect(new Set(proxy.lost)).toEqual(new Set([200]));
  const before = await customer.expectAll(visit);
  expect(before.filter((each) => each.type === "login_succeeded")).toHaveLength(1);
  proxy.isLosing = false;
  await visit.signIn("ann");
  await visit.expectKept([]);
  const after = await customer.expectAll(visit);
  expect(after.filter((each) => each.type === "login_succeeded")).toHaveLength(2);
});

test("clickstream: in batch mode, the events that a closing page sends arrive", async () => {
  const { customer, visit } = await openShop({ sendMode: "Batch", sendEventsInterval: 600_000 });
  await visit.page.goto(`${customer.shop.origin}/login`);
  await visit.signIn("ann");
  expect(visit.posts).toEqual([]);
  await visit.page.close({ runBeforeUnload: true });
  await vi.waitFor(async () => {
    const stored = await customer.activities();
    expect(stored.map((each) => each.type)).toEqual(expect.arrayContaining(["page_view", "login_succeeded"]));
  }, patience);
});

test("clickstream: from an origin that the tenant does not allow, the browser sends nothing", async () => {
  const { customer, visit } = await openShop();
  const stranger = await Customer.create(service.current);
  stranger.shop.head = customer.shop.head;
  await visit.page.goto(`${stranger.shop.origin}/login`);
  await visit.signIn("ann");
  await visit.expectKept(newcomer);
  expect(await visit.statuses()).toEqual([null]);
  expect(await customer.activities()).toEqual([]);
  expect(await stranger.activities()).toEqual([]);
});

test("clickstream: a device that tries passwords on twelve users gets an open case with the reason; a shopper gets none", async () => {
  const { customer, visit } = await openShop();
  const shopper = await Visit.begin(browser.current);
  await shopper.page.goto(`${customer.shop.origin}/login`);
  await shopper.signIn("honest-ann");
  await shopper.follow("Check out");
  await shopper.press("Pay");
  await customer.expectAll(shopper);

  const users = Array.from({ length: 12 }, (_, n) => `victim-${n}`);
  await visit.page.goto(`${customer.shop.origin}/login`);
  for (const user of users) await visit.signIn(user, "wrong");
  await customer.expectAll(visit, shopper);
  const opened = await customer.expectCase(/accounts.* device/);
  expect([...users, "UNKNOWN"]).toContain(opened.website_account_id);
  expect(opened).toMatchObject({ status: "OPEN", details: { primary_fraud_label: "Bot" } });
  expect(opened.session_id).toBe([...visit.sent.values()][0]?.attributes["_session_id"]);
  expect(await customer.tenant.list("website_account_id=honest-ann")).toEqual([]);
});
