import { expect, onTestFinished, test, vi } from "vitest";
import { launchBrowser } from "./browser.ts";
import { useBrowser } from "./shared-browser.ts";
import { useService } from "./harness.ts";
import { Customer, Visit, browserPace, likePeople, patience } from "./shop.ts";

vi.setConfig(browserPace);
// Our own tag in a real Chromium: the snippet as the API returns it, on a shop of another origin.
const service = useService();
const browser = useBrowser(likePeople);

async function openShop(): Promise<{ customer: Customer; visit: Visit }> {
  const customer = await Customer.create(service.current);
  await customer.useTag();
  return { customer, visit: await Visit.begin(browser.current) };
}

async function countOf(customer: Customer): Promise<Record<string, number>> {
  const counts = Object.groupBy(await customer.activities(), ({ type, website_account_id: user }) =>
    user ? `${type} ${user}` : type,
  );
  return Object.fromEntries(Object.entries(counts).map(([name, found = []]) => [name, found.length]));
}

test("tag: events of a page that closes at once arrive, each exactly once, with account, session and device", async () => {
  const { customer, visit } = await openShop();
  await visit.page.goto(`${customer.shop.origin}/product?token=secret#part`);
  await visit.press("Add to cart");
  await visit.follow("Sign in");
  await visit.signIn("ann");
  await visit.follow("Check out");
  await visit.press("Pay");
  await visit.page.getByText("Thank you").waitFor();
  await visit.page.close({ runBeforeUnload: true });
  const once = { "custom:add_to_cart": 1, page_view: 2, "page_view ann": 1, "login_succeeded ann": 1, "payment ann": 1 };
  await vi.waitFor(async () => expect(await countOf(customer)).toMatchObject(once), patience);
  const stored = await customer.expectAll(visit);
  expect(await customer.quarantined()).toEqual([]);
  expect(visit.complaints).toEqual([]);
  expect(new Set(stored.map((each) => each.device_id))).toEqual(new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)]));
  expect(new Set(stored.map((each) => each.session_id)).size).toBe(1);
  expect(stored.find((each) => each.type === "custom:add_to_cart")).toMatchObject({
    origin: "browser",
    attributes: { product: "teapot", price: 24.5 },
    browser: { page_url: `${customer.shop.origin}/product` },
  });
  expect(JSON.stringify(stored)).not.toContain("secret");
});

test("tag: a device that tries passwords on twelve users gets an open case with the reason; a shopper gets none", async () => {
  const { customer, visit } = await openShop();
  const shopper = await Visit.begin(browser.current);
  await shopper.page.goto(`${customer.shop.origin}/login`);
  await shopper.signIn("honest-ann");
  await shopper.follow("Check out");
  await shopper.press("Pay");
  await shopper.page.close({ runBeforeUnload: true });

  const users = Array.from({ length: 12 }, (_, n) => `victim-${n}`);
  await visit.page.goto(`${customer.shop.origin}/login`);
  for (const user of users) await visit.signIn(user, "wrong");
  await visit.page.close({ runBeforeUnload: true });
  const once = Object.fromEntries(users.map((user) => [`login_failed ${user}`, 1]));
  await vi.waitFor(async () => expect(await countOf(customer)).toMatchObject(once), patience);
  const opened = await customer.expectCase(/accounts.* device/);
  expect([...users, "UNKNOWN"]).toContain(opened.website_account_id);
  expect(opened).toMatchObject({ status: "OPEN", details: { primary_fraud_label: "Bot" } });
  expect(await customer.tenant.list("website_account_id=honest-ann")).toEqual([]);
});

test("tag: a log-in by an automated browser opens a case for that account", async () => {
  const customer = await Customer.create(service.current);
  await customer.useTag();
  const driven = await launchBrowser(likePeople.filter((flag) => flag.startsWith("--user-agent")));
  onTestFinished(() => driven.close());
  const visit = await Visit.begin(driven);
  await visit.page.goto(`${customer.shop.origin}/login`);
  await visit.signIn("ann");
  await visit.page.close({ runBeforeUnload: true });
  const opened = await customer.expectCase(/Automation reported by the browser: yes/);
  expect(opened).toMatchObject({ website_account_id: "ann", details: { primary_fraud_label: "Bot" } });
});
