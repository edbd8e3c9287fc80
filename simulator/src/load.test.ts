import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { eventsIn } from "./delivery.ts";
import { loadTimeline } from "./load.ts";

const startMs = Date.UTC(2026, 10, 15);
const options = { seed: "load", startMs, eventsPerSecond: 2000, appKey: "key", origin: "https://shop.example" };

const firstOf = (count: number, more: Partial<typeof options> = {}) =>
  loadTimeline({ ...options, ...more })
    .take(count)
    .toArray();

test("load: events arrive at the requested rate, in requests of 5 to 20 from browsers and servers", () => {
  const deliveries = firstOf(1000);
  const events = deliveries.reduce((sum, delivery) => sum + eventsIn(delivery), 0);
  const lastMs = deliveries.at(-1)?.at_ms ?? 0;
  expect(events / ((lastMs - startMs) / 1000)).toBeGreaterThan(1950);
  expect(events / ((lastMs - startMs) / 1000)).toBeLessThan(2050);
  const sizes = deliveries.map(eventsIn);
  expect(Math.min(...sizes)).toBe(5);
  // A page view and its search are two events at the same moment.
  expect(Math.max(...sizes)).toBeLessThanOrEqual(22);
  const servers = deliveries.filter(({ kind }) => kind === "server").length;
  expect(servers / deliveries.length).toBeGreaterThan(0.05);
  expect(servers / deliveries.length).toBeLessThan(0.2);
});

test("load: bodies have the right hash, ids are unique, and no event is later than its request", () => {
  const ids = new Set<string>();
  let events = 0;
  for (const delivery of firstOf(300)) {
    events += eventsIn(delivery);
    if (delivery.kind === "server") for (const { activity_id } of delivery.activities) ids.add(activity_id);
    if (delivery.kind !== "browser") continue;
    const { body, path, at_ms } = delivery;
    expect(path).toContain(`hashCode=${createHash("sha256").update(body).digest("hex").slice(0, 8)}`);
    for (const [, id = "", timestamp] of body.matchAll(/"event_id":"([^"]+)".*?"timestamp":(\d+)/g)) {
      ids.add(id);
      if (Number(timestamp) > at_ms + 1) throw new Error(`An event ${Number(timestamp) - at_ms} ms ahead of its request`);
    }
  }
  expect(ids.size).toBe(events);
});

test("load: a shopper keeps the same account, device and address on every visit", () => {
  const devices = new Map<string, Set<string>>();
  for (const delivery of loadTimeline({ ...options, users: 20 }).take(200)) {
    if (delivery.kind !== "browser") continue;
    const [, device = ""] = /"device_id":"([^"]+)"/.exec(delivery.body) ?? [];
    const [, account = ""] = /"_user_id":\{"value":"([^"]+)"/.exec(delivery.body) ?? [];
    const known = devices.get(account) ?? new Set();
    devices.set(account, known.add(`${device} ${delivery.headers["x-forwarded-for"]}`));
  }
  expect(devices.size).toBe(20);
  expect(new Set(devices.values().map((known) => known.size))).toEqual(new Set([1]));
});

test("load: the same seed gives the same bytes, and another seed gives others", () => {
  expect(JSON.stringify(firstOf(50))).toBe(JSON.stringify(firstOf(50)));
  expect(JSON.stringify(firstOf(50))).not.toBe(JSON.stringify(firstOf(50, { seed: "other" })));
});
