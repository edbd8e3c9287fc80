import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { Site, browserEvent, shop, useCollector } from "./site.ts";

const service = useCollector();
// With the quotas, most of a flood would not even be unpacked.
const none = { events: null, names: null };
const unlimited = useCollector({ collectorQuotas: { address: none, key: none } });
const mebi = 1024 * 1024;
const gzip = { query: { compression: "gzip" } };

function packed(text: string | Buffer): string {
  return gzipSync(text).toString("base64");
}

test("POST collect 200: accepts gzip in base64, as mobile SDKs send it, with the hash of either form", async () => {
  const site = await Site.create(service.current);
  const text = JSON.stringify([browserEvent(), browserEvent({ event_type: "ä😀" })]);
  expect((await site.collect(packed(text), gzip)).status).toBe(200);
  expect(await site.stored()).toHaveLength(2);
  const again = JSON.stringify([browserEvent()]);
  const hashCode = createHash("sha256").update(again).digest("hex").slice(0, 8);
  expect((await site.collect(packed(again), { query: { compression: "gzip", hashCode } })).status).toBe(200);
  expect((await site.stored()).flatMap((each) => each.browser?.signs ?? [])).toEqual([]);
  expect(await site.stored()).toHaveLength(3);
});

// Bodies that are invalid as a whole: the name, the body, the query, and the quarantine reason.
const bad: [string, () => string | Uint8Array<ArrayBuffer>, { query?: Record<string, string> }, string][] = [
  ["no body", () => "", {}, "not-json"],
  ["broken JSON", () => '[{"event_id":"1"', {}, "not-json"],
  ["two documents", () => "[][]", {}, "not-json"],
  ["an object", () => JSON.stringify(browserEvent()), {}, "not-an-array"],
  ["null", () => "null", {}, "not-an-array"],
  ["text", () => '"[]"', {}, "not-an-array"],
  ["JSON nested 33 levels deep", () => "[".repeat(33) + "]".repeat(33), {}, "too-deep"],
  ["JSON with a million values", () => `[${"1,".repeat(mebi - 2)}1]`, {}, "too-many-members"],
  [
    "gzip of JSON with too many members",
    () => packed(`[{${Array.from({ length: 400_000 }, (_, n) => `"k${n}":1`).join(",")}}]`),
    gzip,
    "too-many-members",
  ],
  ["JSON nested a million levels deep", () => "[".repeat(mebi) + "]".repeat(mebi), {}, "too-deep"],
  ["objects that are nested and never closed", () => '{"a":'.repeat(300_000), {}, "too-deep"],
  ["text that is declared as gzip", () => "this is not gzip", gzip, "bad-gzip"],
  ["gzip without base64", () => new Uint8Array(gzipSync("[]")), gzip, "bad-gzip"],
  ["truncated gzip", () => packed(JSON.stringify([browserEvent()])).slice(0, -40), gzip, "bad-gzip"],
  ["gzip of text that is not JSON", () => packed("x"), gzip, "not-json"],
  ["gzip of 8 MiB plus one byte", () => packed(Buffer.alloc(8 * mebi + 1, " ")), gzip, "unpacked-too-large"],
  ["gzip of 256 MiB", () => packed(Buffer.alloc(256 * mebi)), gzip, "unpacked-too-large"],
  ["gzip of JSON nested four million levels deep", () => packed("[".repeat(4 * mebi) + "]".repeat(4 * mebi)), gzip, "too-deep"],
];

describe("invalid as a whole", () => {
  test.each(bad)(
    "POST collect 200: %s is quarantined and counted once",
    { timeout: 60_000 },
    async (_name, body, options, reason) => {
      const site = await Site.create(service.current);
      const answer = await site.collect(body(), options);
      expect(answer).toMatchObject({ status: 200, text: "{}" });
      expect(answer.headers.get("access-control-allow-origin")).toBe(shop);
      expect(await site.stored()).toEqual([]);
      expect(await site.counts()).toEqual({ [reason]: 1 });
      expect((await site.quarantined()).quarantine).toMatchObject([{ reason }]);
    },
  );
});

test("POST collect 200: accepts exactly 8 MiB unpacked, and 32 levels of nesting", async () => {
  const site = await Site.create(service.current);
  const nested = browserEvent({ more: JSON.parse("[".repeat(30) + "]".repeat(30)) });
  const text = JSON.stringify([nested]).padEnd(8 * mebi, " ");
  expect((await site.collect(packed(text), gzip)).status).toBe(200);
  await site.storedOne();
  expect(await site.counts()).toEqual({});
});

test("POST collect 200: brackets in strings and escaped quotes do not count as nesting", async () => {
  const site = await Site.create(service.current);
  await site.post([browserEvent({}, { a: `${"[{".repeat(100)}\\"${"[".repeat(100)}`, b: '"[[' })]);
  expect((await site.storedOne()).attributes?.["a"]).toContain("[{[{");
});

test("POST collect 200: the first 2,000 events are kept, and the rest is one quarantine entry with their count", async () => {
  const site = await Site.create(service.current);
  const small = { event_type: "x", timestamp: Date.now() };
  const events = Array.from({ length: 2003 }, (_, index) => ({ ...small, event_id: `e${index}` }));
  await site.post(events);
  expect(await site.stored()).toHaveLength(2000);
  expect((await site.stored()).map((each) => each.activity_id)).not.toContain("e2000");
  expect(await site.counts()).toEqual({ "too-many-events": 3 });
  const { quarantine } = await site.quarantined();
  expect(quarantine).toHaveLength(1);
  expect(quarantine[0]?.detail).toContain("3 more were dropped");
});

test("POST collect 200: the valid events of a mixed batch are kept, and each of the others gets its reason", async () => {
  const site = await Site.create(service.current);
  const good = [browserEvent(), browserEvent()];
  const { event_id: _id, ...nameless } = browserEvent();
  await site.post([
    good[0],
    null,
    nameless,
    browserEvent({ event_type: "" }),
    browserEvent({ timestamp: "now" }),
    browserEvent({ timestamp: 1_000_000_000_000 }),
    browserEvent({ event_id: "a\0" }),
    { ...good[0], event_type: "other" },
    good[1],
  ]);
  expect((await site.stored()).map((each) => each.activity_id).toSorted()).toEqual(good.map((each) => each.event_id).toSorted());
  const one = {
    "not-an-object": 1,
    "no-event-id": 1,
    "no-event-type": 1,
    "bad-timestamp": 1,
    "too-old": 1,
    unstorable: 1,
    "id-reused": 1,
  };
  expect(await site.counts()).toEqual(one);
});

test("POST collect 200: invalid bytes, U+0000 and lone surrogates are stored as U+FFFD", async () => {
  const site = await Site.create(service.current);
  const text = JSON.stringify([browserEvent({ device_id: "d\0" }, { a: "x\0y\ud800z" })]);
  expect((await site.collect(Uint8Array.from(Buffer.from(text.replace("add_to_cart", "caf\u00e9"), "latin1")))).status).toBe(200);
  expect(await site.storedOne()).toMatchObject({
    type: "custom:caf_",
    device_id: "d\ufffd",
    attributes: { a: "x\ufffdy\ufffdz" },
  });
});

test("POST collect 200: values over a limit are truncated and flagged, and the event is kept", async () => {
  const site = await Site.create(service.current);
  const attributes = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`a${index}`, "x".repeat(2000)]));
  await site.post([browserEvent({ device_id: "d".repeat(1000) }, attributes)]);
  const activity = await site.storedOne();
  expect(activity.browser?.signs).toEqual(["oversized"]);
  expect(activity.device_id).toHaveLength(128);
  expect(Object.keys(activity.attributes ?? {})).toHaveLength(64);
  expect(Math.max(...Object.values(activity.attributes ?? {}).map((value) => String(value).length))).toBe(1024);
});

test("POST collect 200: a hundred concurrent requests store a hundred events in fewer transactions", async () => {
  const site = await Site.create(service.current);
  const events = Array.from({ length: 100 }, () => browserEvent());
  await Promise.all(events.map((event) => site.post([event])));
  expect((await site.stored()).map((each) => each.activity_id).toSorted()).toEqual(
    events.map((each) => each.event_id).toSorted(),
  );
  const [row] = await service.current.database.query<{ transactions: number }>(sql`
    select count(distinct xmin::text) as transactions from inbox where tenant_id = ${site.tenant.tenantId}`);
  expect(row?.transactions).toBeLessThan(100);
});

test("POST collect 200: a flood of compressed bodies for one key does not delay other tenants", async () => {
  const [flooded, other] = [await Site.create(unlimited.current), await Site.create(unlimited.current)];
  const large = packed(Buffer.alloc(8 * mebi, " "));
  let left = 30;
  const flood = Array.from({ length: left }, async () => {
    await flooded.collect(large, gzip);
    left--;
  });
  await Promise.race(flood);
  expect((await other.collect(packed(JSON.stringify([browserEvent()])), gzip)).status).toBe(200);
  expect(left).toBeGreaterThan(10);
  await Promise.all(flood);
});

test("POST collect 200: a hundred concurrent requests with the same event store it once", async () => {
  const site = await Site.create(service.current);
  const event = browserEvent();
  await Promise.all(Array.from({ length: 100 }, () => site.post([event])));
  await site.storedOne();
  expect(await site.counts()).toEqual({});
});

test("POST collect 200: any JSON is answered with 200 and either stored or counted", { timeout: 60_000 }, async () => {
  const site = await Site.create(service.current);
  const member = fc.oneof(fc.jsonValue({ depthSize: "small" }), fc.string({ unit: "binary" }));
  const event = fc.oneof(
    fc.record({
      event_id: fc.uuid(),
      event_type: member,
      timestamp: fc.constant(Date.now()),
      attributes: fc.dictionary(fc.string({ unit: "binary" }), member),
      user: fc.record({ _user_id: fc.record({ value: member }) }),
    }),
    member,
  );
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 5 }), async (events) => {
      sent += events.length;
      await site.post(events);
    }),
    { numRuns: 100, endOnFailure: true },
  );
  const aside = Object.values(await site.counts()).reduce((sum, count) => sum + count, 0);
  expect((await site.stored()).length + aside).toBe(sent);
});
