import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Site, browserEvent, useCollector } from "./site.ts";

const service = useCollector();
const minute = 60_000;

function near(time: string | undefined, ms: number): void {
  expect(Math.abs(Date.parse(time ?? "") - ms)).toBeLessThan(30_000);
}

test("believe: the app key decides the tenant; a different tenant in the event is flagged, quarantined once a day and counted", async () => {
  const [site, other] = [await Site.create(service.current), await Site.create(service.current)];
  const named = [other.tenant.tenantId, other.tenant.slug, other.key, "tenant-a"];
  for (const tenant_id of named) await site.post([browserEvent({ app_id: other.key }, { tenant_id })]);
  const stored = await site.stored();
  expect(stored.map((each) => String(each.attributes?.["tenant_id"])).toSorted()).toEqual(named.toSorted());
  expect(stored.map((each) => each.browser?.signs)).toEqual(named.map(() => ["foreign-tenant-id"]));
  expect(await other.stored()).toEqual([]);
  expect(await site.counts()).toEqual({ "foreign-tenant-id": 4 });
  const { quarantine } = await site.quarantined();
  expect(quarantine.map(({ reason }) => reason)).toEqual(["foreign-tenant-id"]);
  expect(quarantine[0]?.excerpt).toContain(other.tenant.tenantId);
  expect(await other.counts()).toEqual({});
});

test("believe: the tenant's own id, slug or key as tenant_id is not flagged", async () => {
  const site = await Site.create(service.current);
  for (const tenant_id of [site.tenant.tenantId, site.tenant.slug, site.key]) await site.post([browserEvent({}, { tenant_id })]);
  expect((await site.stored()).map((each) => each.browser?.signs)).toEqual([undefined, undefined, undefined]);
  expect(await site.counts()).toEqual({});
});

test("believe: the account is the page's claim and is stored with the session", async () => {
  const site = await Site.create(service.current);
  await site.post([browserEvent({ user: { _user_id: { value: "user-42" } } }, { _session_id: "a13e16e2-20261115-004554475" })]);
  expect(await site.storedOne()).toMatchObject({ website_account_id: "user-42", session_id: "a13e16e2-20261115-004554475" });
});

test("believe: a page cannot report fraud", async () => {
  const site = await Site.create(service.current);
  await site.post([browserEvent({ event_type: "fraud_report" })]);
  expect(await site.storedOne()).toMatchObject({ type: "custom:fraud_report", origin: "browser" });
});

test("believe: a resend counts once, even on the next visit, with another clock or in another batch", async () => {
  const site = await Site.create(service.current);
  const event = browserEvent();
  await site.post([event]);
  const first = await site.storedOne();
  await site.post([event]);
  await site.post([browserEvent(), event, event], { query: { upload_timestamp: String(Date.now() - 60 * minute) } });
  const stored = await site.stored();
  expect(stored).toHaveLength(2);
  expect(stored.find((each) => each.activity_id === first.activity_id)).toEqual(first);
  expect(await site.counts()).toEqual({});
});

test("believe: an id used by one tenant, or by a tenant's server, is free for other pages", async () => {
  const [site, other] = [await Site.create(service.current), await Site.create(service.current)];
  const event = browserEvent();
  const activity = { activity_id: event.event_id, type: "login_succeeded", occurred_at: new Date().toISOString() };
  const answer = await site.tenant.call("POST", "/activities", { body: { activities: [activity] } });
  expect(answer.json.data).toEqual({ accepted: 1, duplicates: 0 });
  await site.post([event]);
  await other.post([event]);
  expect((await site.stored()).map((each) => each.origin).toSorted()).toEqual(["browser", "server"]);
  await other.storedOne();
});

test("believe: an id that is reused with other contents is quarantined, and the first event is kept", async () => {
  const site = await Site.create(service.current);
  const event = browserEvent();
  await site.post([event]);
  const first = await site.storedOne();
  await site.post([{ ...event, event_type: "purchase" }]);
  await site.post([{ ...event, attributes: { ...event.attributes, amount: 1 } }]);
  expect(await site.storedOne()).toEqual(first);
  expect(await site.counts()).toEqual({ "id-reused": 2 });
  const { quarantine } = await site.quarantined();
  expect(quarantine[0]?.excerpt).toContain(event.event_id);
  for (const { excerpt } of quarantine) expect(excerpt).not.toMatch(/user-42|127\.0\.0\.1/);
});

test("believe: a late event keeps the time when it happened", async () => {
  const site = await Site.create(service.current);
  const hourAgo = Date.now() - 60 * minute;
  await site.post([browserEvent({ event_type: "second" })]);
  await site.post([browserEvent({ event_type: "first", timestamp: hourAgo })]);
  const [first, second] = await site.stored();
  expect([first?.type, second?.type]).toEqual(["custom:first", "custom:second"]);
  expect(first?.occurred_at).toBe(new Date(hourAgo).toISOString());
  expect(first?.claimed_at).toBeUndefined();
});

test("believe: a clock more than ten minutes off is corrected, and both times are kept", async () => {
  const site = await Site.create(service.current);
  const now = Date.now();
  for (const off of [-60 * minute, 60 * minute]) {
    await site.post([browserEvent({ event_type: "off", timestamp: now + off - minute })], {
      query: { upload_timestamp: String(now + off) },
    });
  }
  for (const activity of await site.stored()) {
    near(activity.occurred_at, now - minute);
    expect(activity.browser?.signs).toEqual(["clock-shifted"]);
    expect(Math.abs(Date.parse(activity.claimed_at ?? "") - now)).toBeGreaterThan(50 * minute);
  }
});

test("believe: an event from the future is stored as of now, even without an upload time", async () => {
  const site = await Site.create(service.current);
  const ahead = Date.now() + 5 * minute;
  for (const upload of [String(Date.now()), "", "soon", "-1", "1e99", "0"]) {
    await site.post([browserEvent({ timestamp: ahead })], { query: { upload_timestamp: upload } });
  }
  const stored = await site.stored();
  expect(stored).toHaveLength(6);
  for (const activity of stored) {
    near(activity.occurred_at, Date.now());
    expect(activity.occurred_at <= activity.received_at).toBe(true);
    expect(activity.claimed_at).toBe(new Date(ahead).toISOString());
  }
});

test("believe: URLs are stripped before they are stored, except for the parameters that the tenant allows", async () => {
  const site = await Site.create(service.current, { url_parameters: ["utm_source"] });
  const attributes = {
    _page_url: "https://shop.example/reset?token=secret&utm_source=mail#secret",
    _latest_referrer: "https://mail.example/?q=secret",
    _page_referrer: "https://shop.example/?session=secret",
  };
  await site.post([browserEvent({}, attributes), { ...browserEvent({}, attributes), event_id: "" }]);
  const activity = await site.storedOne();
  expect(activity.browser).toMatchObject({
    page_url: "https://shop.example/reset?utm_source=mail",
    referrer: "https://mail.example/",
  });
  const { quarantine } = await site.quarantined();
  expect(quarantine).toHaveLength(1);
  expect(JSON.stringify([activity, quarantine])).not.toContain("secret");
});

test("believe: a wrong hash is flagged and counted, and the events are kept", async () => {
  const site = await Site.create(service.current);
  for (const hashCode of ["00000000", "x", "0".repeat(64)])
    await site.post([browserEvent(), browserEvent()], { query: { hashCode } });
  const stored = await site.stored();
  expect(stored.map((each) => each.browser?.signs)).toEqual(Array.from({ length: 6 }, () => ["wrong-hash"]));
  expect(await site.counts()).toEqual({ "wrong-hash": 3 });
  expect((await site.quarantined()).quarantine).toHaveLength(3);
});

test("believe: a hash in another letter case is accepted, and a missing one is not flagged", async () => {
  const site = await Site.create(service.current);
  const body = JSON.stringify([browserEvent()]);
  const hashCode = createHash("sha256").update(body).digest("hex").slice(0, 8).toUpperCase();
  expect((await site.collect(body, { query: { hashCode } })).status).toBe(200);
  await site.post([browserEvent()], { query: { hashCode: "" } });
  expect((await site.stored()).map((each) => each.browser?.signs)).toEqual([undefined, undefined]);
});

test("believe: user agent and languages come from the request, and differences from the page's values are flagged as weak signs", async () => {
  const site = await Site.create(service.current);
  const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0";
  const headers = {
    "user-agent": agent,
    "accept-language": "de-DE,de;q=0.9",
    "sec-ch-ua": '"Chromium";v="156"',
    "sec-ch-ua-platform": '"Windows"',
  };
  const sizes = { viewport_width: 1920, viewport_height: 1080 };
  await site.post([browserEvent({ user_agent: "claimed", ...sizes }, { _session_id: "mine" })], { headers });
  expect(await site.storedOne()).toMatchObject({
    user_agent: agent,
    browser: {
      accept_language: "de-DE,de;q=0.9",
      signs: ["session-id-mismatch", "screen-equals-viewport", "locale-differs", "agent-differs"],
    },
  });
});
