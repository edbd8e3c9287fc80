import { expect, test } from "vitest";
import type { RecordedActivity } from "./activity.ts";
import { browserSigns } from "./browser-signs.ts";
import { cutAddress, readEvent, type Delivery } from "./clickstream.ts";

const received = Date.parse("2026-11-15T12:00:00.000Z");
const minute = 60_000;
const day = 24 * 60 * minute;
const tenant = { tenant_id: "0d1b7f3e-0000-4000-8000-000000000001", slug: "acme", app_key: "abcdef", url_parameters: [] };
const delivery: Delivery = {
  tenant,
  received_at: "2026-11-15T12:00:00.000Z",
  uploaded_ms: received,
  isHashWrong: false,
  checkIdentity: () => "bad-token",
  agent: {},
};

const session = { _session_id: "a13e16e2-20261115-115000000", _session_start_timestamp: received - 10 * minute };

function rawEvent(changed: Record<string, unknown> = {}, attributes: Record<string, unknown> = {}) {
  return {
    event_id: "1",
    event_type: "add_to_cart",
    timestamp: received - 1000,
    ...changed,
    attributes: { ...session, ...attributes },
  };
}

function read(raw: unknown, more: Partial<Delivery> = {}): RecordedActivity {
  const activity = readEvent(raw, { ...delivery, ...more });
  if (typeof activity === "string") throw new Error(`quarantined as ${activity}`);
  return activity;
}

function signsOf(raw: unknown, more: Partial<Delivery> = {}): string[] {
  const signs = read(raw, more).browser?.signs ?? [];
  expect(signs.filter((sign) => !browserSigns.some((known) => known === sign))).toEqual([]);
  return signs;
}

test.each([
  [null, "not-an-object"],
  [[], "not-an-object"],
  ["text", "not-an-object"],
  [rawEvent({ event_id: undefined }), "no-event-id"],
  [rawEvent({ event_id: "" }), "no-event-id"],
  [rawEvent({ event_id: 7 }), "no-event-id"],
  [rawEvent({ event_id: "x".repeat(65) }), "no-event-id"],
  [rawEvent({ event_id: "a\0" }), "unstorable"],
  [rawEvent({ event_id: "a\ud800" }), "unstorable"],
  [rawEvent({ event_type: undefined }), "no-event-type"],
  [rawEvent({ event_type: "  " }), "no-event-type"],
  [rawEvent({ event_type: 1 }), "no-event-type"],
  [rawEvent({ timestamp: undefined }), "bad-timestamp"],
  [rawEvent({ timestamp: String(received) }), "bad-timestamp"],
  [rawEvent({ timestamp: 0 }), "bad-timestamp"],
  [rawEvent({ timestamp: -1 }), "bad-timestamp"],
  [rawEvent({ timestamp: 1e18 }), "bad-timestamp"],
  [rawEvent({ timestamp: Infinity }), "bad-timestamp"],
  [rawEvent({ timestamp: received - 90 * day - 1 }), "too-old"],
])("clickstream: %j is quarantined as %s", (raw, reason) => {
  expect(readEvent(raw, delivery)).toBe(reason);
});

test("clickstream: accepts ids of 64 characters and events that are 90 days old", () => {
  expect(read(rawEvent({ event_id: "😀".repeat(64) })).activity_id).toBe("😀".repeat(64));
  expect(read(rawEvent({ timestamp: received - 90 * day })).occurred_at).toBe("2026-08-17T12:00:00.000Z");
});

test.each([
  ["_page_view", "page_view"],
  ["page_view", "page_view"],
  ["login", "login_succeeded"],
  ["sign_in", "login_succeeded"],
  ["login_failed", "login_failed"],
  ["sign_up", "signup"],
  ["purchase", "payment"],
  ["sign_out", "logout"],
  ["password_changed", "password_changed"],
  ["_first_open", "custom:_first_open"],
  ["add_to_cart", "custom:add_to_cart"],
  ["fraud_report", "custom:fraud_report"],
  ["custom:x", "custom:custom_x"],
  ["1bad-name äö😀\ud800\0!", "custom:1bad-name_______"],
  ["constructor", "custom:constructor"],
  ["__proto__", "custom:__proto__"],
  ["x".repeat(100), `custom:${"x".repeat(64)}`],
])("clickstream: an event called %j gets the type %s", (name, type) => {
  expect(read(rawEvent({ event_type: name })).type).toBe(type);
});

test("clickstream: a failed result makes a log-in a failed one, but not if the site calls it login_succeeded itself", () => {
  for (const result of ["failure", "failed", "error", false]) {
    expect(read(rawEvent({ event_type: "login" }, { result })).type).toBe("login_failed");
    expect(read(rawEvent({ event_type: "login_succeeded" }, { result })).type).toBe("login_succeeded");
  }
  expect(read(rawEvent({ event_type: "login" }, { result: "success" })).type).toBe("login_succeeded");
});

// [time by the sender's clock, time of upload by that clock, stored time, whether the clock-shifted sign is set]
test.each<[string, number, number | undefined, number, boolean]>([
  ["the clock is right", -5000, 0, -5000, false],
  ["the clock is right, and the event is an hour old", -60 * minute, 0, -60 * minute, false],
  ["the clock is ten minutes behind, which is within the tolerance", -15 * minute, -10 * minute, -15 * minute, false],
  ["the clock is more than ten minutes behind", -15 * minute, -10 * minute - 1, -5 * minute + 1, true],
  ["the clock is an hour behind", -61 * minute, -60 * minute, -minute, true],
  ["the clock is an hour ahead", 59 * minute, 60 * minute, -minute, true],
  ["the clock is an hour ahead, and the event is old", -30 * minute, 60 * minute, -90 * minute, true],
  ["the clock is a second ahead", 900, 1000, -100, false],
  ["the event is later than its upload", 2000, 1000, 0, false],
  ["the event is in the future, and the time of upload is unknown", 20 * minute, undefined, 0, true],
  ["the event is in the past, and the time of upload is unknown", -20 * minute, undefined, -20 * minute, false],
])("clickstream: %s", (_name, claimed, uploaded, kept, isTold) => {
  const { uploaded_ms: _, ...without } = delivery;
  const sent = uploaded === undefined ? without : { ...without, uploaded_ms: received + uploaded };
  const activity = readEvent(rawEvent({ timestamp: received + claimed }), sent);
  if (typeof activity === "string") throw new Error(activity);
  expect(Date.parse(activity.occurred_at) - received).toBe(kept);
  // If they differ, both times are stored.
  expect(activity.claimed_at).toBe(kept === claimed ? undefined : new Date(received + claimed).toISOString());
  expect(activity.browser?.signs?.includes("clock-shifted") ?? false).toBe(isTold);
  expect(activity.browser?.session_started_at).toBe(new Date(received - 10 * minute + kept - claimed).toISOString());
});

test.each([
  ["user-42", "user-42"],
  [42, "42"],
  ["unknown", "unknown"],
  ["x".repeat(512), "x".repeat(512)],
])("clickstream: the page's account %j is kept as %j", (value, account) => {
  expect(read(rawEvent({ user: { _user_id: { value } } }))).toMatchObject({ website_account_id: account });
});

test.each([
  "UNKNOWN",
  ".",
  "..",
  "erased-019a8b1c-0000-7000-8000-000000000000",
  "x".repeat(513),
  "a\0",
  "a\udc00",
  1.5,
  2 ** 60,
  true,
  {},
  [],
])("clickstream: %j is not an account id, so the event is stored without one and gets a sign", (value) => {
  const raw = rawEvent({ user: { _user_id: { value } } });
  expect(read(raw).website_account_id).toBeUndefined();
  expect(signsOf(raw)).toEqual(["bad-account-id"]);
});

test.each([
  undefined,
  null,
  {},
  { _user_id: null },
  { _user_id: {} },
  { _user_id: { value: null } },
  { _user_id: { value: "" } },
  "x",
])("clickstream: the user %j names no account, and the event gets no sign", (user) => {
  expect(read(rawEvent({ user })).website_account_id).toBeUndefined();
  expect(signsOf(rawEvent({ user }))).toEqual([]);
});

test("clickstream: a tenant_id that is not the key's tenant adds a sign and changes nothing else", () => {
  for (const own of [tenant.tenant_id, tenant.slug, tenant.app_key, "", undefined, null])
    expect(signsOf(rawEvent({}, { tenant_id: own }))).toEqual([]);
  for (const other of ["tenant-EVIL", "ACME", 7, "acme "]) {
    const { browser, attributes, ...rest } = read(rawEvent({}, { tenant_id: other }));
    expect(browser?.signs).toEqual(["foreign-tenant-id"]);
    expect(attributes).toEqual({ tenant_id: other });
    const { browser: _b, attributes: _a, ...plain } = read(rawEvent());
    expect(rest).toEqual(plain);
  }
});

test.each<[string, string[], string]>([
  ["https://shop.example/a?token=secret#x", [], "https://shop.example/a"],
  ["https://shop.example/a#access_token=secret", [], "https://shop.example/a"],
  ["https://shop.example/a#x?q=1", ["q"], "https://shop.example/a"],
  [
    "https://shop.example/a?q=shoes&token=secret&utm_source=mail#x",
    ["utm_source", "q"],
    "https://shop.example/a?q=shoes&utm_source=mail",
  ],
  ["https://shop.example/a?Q=1&%71=2&qq=3", ["q"], "https://shop.example/a"],
  ["https://shop.example/a?q", ["q"], "https://shop.example/a?q"],
  ["https://user:password@shop.example/a@b", [], "https://shop.example/a@b"],
  ["/a/b", [], "/a/b"],
  ["?token=secret", [], ""],
])("clickstream: the address %s with %j allowed is stored as %s", (address, kept, left) => {
  expect(cutAddress(address, kept)).toBe(left);
});

test("clickstream: page and referrer addresses lose their queries, and values with a field of their own are not attributes", () => {
  const attributes = {
    _page_title: "Shoes",
    _page_url: "https://shop.example/?q=1&s=2",
    _latest_referrer: "https://search.example/?q=me#me",
    _page_referrer: "https://shop.example/login?token=secret",
    _engagement_time_msec: 1500,
    _casehound_inputs: 12,
    _casehound_input_spread: 0.8,
    _casehound_webdriver: true,
    _casehound_keys: 3,
    plan: "gold",
  };
  const { browser, attributes: left } = read(rawEvent({ event_type: "_user_engagement" }, attributes), {
    tenant: { ...tenant, url_parameters: ["s"] },
  });
  expect(browser).toMatchObject({
    page_title: "Shoes",
    page_url: "https://shop.example/?s=2",
    referrer: "https://search.example/",
    engagement_ms: 1500,
    inputs: 12,
    input_spread: 0.8,
    is_webdriver: true,
  });
  expect(left).toEqual({ _casehound_keys: 3, plan: "gold" });
  expect(JSON.stringify(browser)).not.toContain("secret");
  expect(read(rawEvent({}, { ...attributes, _latest_referrer: "" })).browser?.referrer).toBe("https://shop.example/login");
});
