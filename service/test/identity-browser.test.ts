import { expect, test, vi } from "vitest";
import type { RecordedActivity } from "../src/domain/activity.ts";
import { useBrowser } from "./shared-browser.ts";
import { makeSecret, tokenOf } from "./identity.ts";
import { Customer, Visit, browserPace, likePeople, patience } from "./shop.ts";
import { useCollector } from "./site.ts";

vi.setConfig(browserPace);
// No engine runs, so the verdicts can be read where the collector stores them.
const service = useCollector();
const browser = useBrowser(likePeople);

async function openShop(): Promise<{ customer: Customer; visit: Visit; sign: (accountId: string) => string }> {
  const customer = await Customer.create(service.current);
  const { secret } = await makeSecret(customer.tenant);
  return { customer, visit: await Visit.begin(browser.current), sign: (accountId) => tokenOf({ secret, accountId }) };
}

// Returns as soon as the last one is stored.
async function untilStored(customer: Customer, last: string): Promise<RecordedActivity[]> {
  return vi.waitFor(async () => {
    const stored = await customer.activities();
    expect(stored.map((each) => each.type)).toContain(`custom:${last}`);
    return stored.toSorted((a, b) => (a.occurred_at < b.occurred_at ? -1 : 1));
  }, patience);
}

function verdictsOf(stored: RecordedActivity[], ...names: string[]): (string | undefined)[] {
  return names.map((name) => stored.find((each) => each.type === `custom:${name}`)?.identity);
}

test("identity: with the unmodified Clickstream SDK, a global attribute signs every later event until it is removed", async () => {
  const { customer, visit, sign } = await openShop();
  customer.useClickstream();
  const token = sign("ann");
  await visit.page.goto(customer.shop.origin);
  await visit.page.evaluate(`
    ClickstreamAnalytics.setUserId("ann");
    ClickstreamAnalytics.record({ name: "before" });
    ClickstreamAnalytics.setGlobalAttributes({ casehound_identity: "${token}" });
    ClickstreamAnalytics.record({ name: "signed_ann", attributes: { amount: 5 } });
    ClickstreamAnalytics.setUserId("bob");
    ClickstreamAnalytics.record({ name: "stale" });
    ClickstreamAnalytics.setGlobalAttributes({ casehound_identity: "${sign("bob")}" });
    ClickstreamAnalytics.record({ name: "signed_bob" });
    ClickstreamAnalytics.setUserId(null);
    ClickstreamAnalytics.record({ name: "nobody" });
    ClickstreamAnalytics.setGlobalAttributes({ casehound_identity: null });
    ClickstreamAnalytics.setUserId("bob");
    ClickstreamAnalytics.record({ name: "removed" });`);
  const stored = await untilStored(customer, "removed");
  const all = await customer.expectAll(visit);
  expect(verdictsOf(all, "before", "signed_ann", "stale", "signed_bob", "nobody", "removed")).toEqual([
    undefined,
    "signed",
    "bad-token",
    "signed",
    undefined,
    undefined,
  ]);
  expect(JSON.stringify([stored, all])).not.toContain(token.split(".")[2]);
  expect(all.find((each) => each.type === "custom:signed_ann")?.attributes).toEqual({ amount: 5 });
  expect(await customer.quarantined()).toEqual([]);
});

test("identity: the Clickstream SDK sends a user attribute only with its _profile_set event", async () => {
  const { customer, visit, sign } = await openShop();
  customer.useClickstream();
  await visit.page.goto(customer.shop.origin);
  await visit.page.evaluate(`
    ClickstreamAnalytics.setUserId("ann");
    ClickstreamAnalytics.setUserAttributes({ casehound_identity: "${sign("ann")}" });
    ClickstreamAnalytics.record({ name: "after" });`);
  await untilStored(customer, "after");
  const stored = await customer.expectAll(visit);
  const profiles = stored.filter((each) => each.type === "custom:_profile_set").map((each) => each.identity ?? "none");
  expect(profiles.toSorted()).toEqual(["none", "signed"]);
  expect(verdictsOf(stored, "after")).toEqual([undefined]);
});

test("identity: with the tag, every event of the user is signed across pages; a token for another user is bad", async () => {
  const { customer, visit, sign } = await openShop();
  await customer.useTag();
  await visit.page.goto(customer.shop.origin);
  await visit.page.waitForFunction("window.casehound?.version !== undefined");
  await visit.page.evaluate(`casehound.setUserId("ann", { token: "${sign("ann")}" }); casehound.record("first")`);
  await visit.page.goto(`${customer.shop.origin}/product`);
  await visit.page.waitForFunction("window.casehound?.version !== undefined");
  await visit.page.evaluate(`casehound.record("second"); casehound.setUserId("bob", { token: "${sign("ann")}" });
    casehound.record("stolen"); casehound.setUserId(null); casehound.record("last"); casehound.flush()`);
  const stored = await untilStored(customer, "last");
  expect(verdictsOf(stored, "first", "second", "stolen", "last")).toEqual(["signed", "signed", "bad-token", undefined]);
  const views = stored.filter((each) => each.type === "page_view");
  expect(views.map((each) => [each.website_account_id, each.identity])).toEqual([
    [undefined, undefined],
    ["ann", "signed"],
  ]);
  expect(await customer.quarantined()).toEqual([]);
  expect(visit.complaints).toEqual([]);
});
