import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { send } from "./harness.ts";
import { Site, useCollector } from "./site.ts";

// Replays what the real SDK sent from real browsers.
const folder = join(import.meta.dirname, "captures");
const service = useCollector();
const origin = "http://localhost:5600";

type Request = { method: string; url: string; rawHeaders: [string, string][]; body_raw: string };
type Event = { event_id: string; event_type: string; timestamp: number };

function requestsOf(file: string): Request[] {
  return (JSON.parse(readFileSync(join(folder, file), "utf8")) as { requests: Request[] }).requests;
}

const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
// These headers belong to the connection, not to the request.
const ofConnection = new Set(["host", "connection", "content-length", "accept-encoding"]);

// Sends all requests at once, because a browser does not wait for responses either.
function replay(site: Site, file: string): Promise<number[]> {
  return Promise.all(
    requestsOf(file).map(async ({ method, url, rawHeaders, body_raw: rawBody }) => {
      const kept = rawHeaders.map(([name, value]) => [name.toLowerCase(), value] as const);
      const headers = Object.fromEntries(kept.filter(([name]) => !ofConnection.has(name)));
      const path = url.replace("/collect", `/collect/${site.key}`);
      const answer = await send(service.current.port, method, path, { headers, ...(method === "POST" && { rawBody }) });
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
      return answer.status;
    }),
  );
}

function eventsOf(file: string): Event[] {
  return requestsOf(file).flatMap(({ body_raw: body }) => (body === "" ? [] : (JSON.parse(body) as Event[])));
}

test("captures: all seven files exist, with 164 events under 152 ids", () => {
  expect(files).toHaveLength(7);
  const events = files.flatMap(eventsOf);
  expect([events.length, new Set(events.map((each) => each.event_id)).size]).toEqual([164, 152]);
});

// Every event names a tenant of the captured site, except for some in the bad-names scenario that omit it.
const expected: Record<string, { kept: number; counts: Record<string, number> }> = {
  "bad_names.json": { kept: 8, counts: { "foreign-tenant-id": 7 } },
  "batch_visit.json": { kept: 18, counts: { "foreign-tenant-id": 18 } },
  "bot_script.json": { kept: 83, counts: { "foreign-tenant-id": 83 } },
  "firefox_immediate.json": { kept: 8, counts: { "foreign-tenant-id": 8 } },
  "immediate_status_503.json": { kept: 5, counts: { "foreign-tenant-id": 17 } },
  "immediate_visit.json": { kept: 17, counts: { "foreign-tenant-id": 17 } },
  "users_logout_switch.json": { kept: 13, counts: { "foreign-tenant-id": 13 } },
};

// The captures come from a script in a headless browser on a differently named site, and are replayed later.
const innocent = new Set(["foreign-tenant-id", "screen-equals-viewport", "clock-shifted"]);

test.each(files)("captures: %s replayed twice stores every event once", async (file) => {
  const site = await Site.create(service.current, { allowed_origins: [origin] });
  const requests = requestsOf(file);
  const statuses = requests.map(({ method }) => (method === "POST" ? 200 : 204));
  expect(await replay(site, file)).toEqual(statuses);
  const stored = await site.stored();
  const ids = [...new Set(eventsOf(file).map((each) => each.event_id))];
  expect(stored.map((each) => each.activity_id).toSorted()).toEqual(ids.toSorted());
  expect(stored).toHaveLength(expected[file]?.kept ?? -1);
  expect(await site.counts()).toEqual(expected[file]?.counts);
  expect((await site.quarantined()).quarantine).toHaveLength(1);
  expect(stored.flatMap((each) => each.browser?.signs ?? []).filter((sign) => !innocent.has(sign))).toEqual([]);
  expect(stored.flatMap((each) => [each.browser?.page_url, each.browser?.referrer]).join()).not.toMatch(/[?#]/);
  expect(await replay(site, file)).toEqual(statuses);
  // Compare everything, including the time of receipt: the second replay stored nothing.
  expect(await site.stored()).toEqual(stored);
});

test("captures: the steps of a visit in a real browser become canonical events", async () => {
  const site = await Site.create(service.current, { allowed_origins: [origin] });
  await replay(site, "immediate_visit.json");
  const stored = await site.stored();
  const types = stored.map((each) => each.type);
  expect(new Set(types)).toEqual(
    new Set([
      "custom:_first_open",
      "custom:_session_start",
      "page_view",
      "custom:_user_engagement",
      "custom:_search",
      "custom:_scroll",
      "custom:_click",
      "custom:_profile_set",
      "login_succeeded",
      "custom:add_to_cart",
      "payment",
    ]),
  );
  const payment = stored.find((each) => each.type === "payment");
  expect(payment).toMatchObject({
    activity_id: "59991fe9-51ca-4901-b395-8535c9f059eb",
    website_account_id: "user-42",
    session_id: "5b540d9c-20261115-004542978",
    device_id: "4b960d52-0f9e-4cc8-9720-6438cd85fb23",
    ip: "127.0.0.1",
    user_agent: expect.stringContaining("HeadlessChrome/156"),
    claimed_at: "2026-11-15T00:45:50.742Z",
    origin: "browser",
    browser: {
      sdk: "aws-solution-clickstream-sdk 0.12.6",
      locale: "en-US",
      accept_language: "en-US",
      zone_offset_minutes: 60,
      screen: "1280x800",
      viewport: "1280x800",
      page_title: "Checkout",
      page_url: "http://localhost:5600/checkout",
      signs: ["foreign-tenant-id", "screen-equals-viewport", "clock-shifted"],
    },
  });
  expect(payment?.attributes).toEqual({
    _items_count: 1,
    _items_value: 99.5,
    _value: 99.5,
    _currency: "USD",
    order_id: "o-1001",
    payment_method: "card",
    tenant_id: "tenant-a",
  });
});

test("captures: with two people on one device, each event has the account that was logged in at the time", async () => {
  const site = await Site.create(service.current, { allowed_origins: [origin] });
  await replay(site, "users_logout_switch.json");
  const stored = (await site.stored()).filter((each) => each.type.startsWith("custom:after_"));
  // Each request was shifted by its own delay, so sort by the browser's clock.
  const told = stored.toSorted((a, b) => ((a.claimed_at ?? "") < (b.claimed_at ?? "") ? -1 : 1));
  expect(told.map((each) => [each.type, each.website_account_id])).toEqual([
    ["custom:after_login_A", "A"],
    ["custom:after_logout_A", undefined],
    ["custom:after_login_B", "B"],
    ["custom:after_logout_B", undefined],
    ["custom:after_login_A_again", "A"],
  ]);
  expect(new Set(told.map((each) => each.device_id)).size).toBe(1);
});
