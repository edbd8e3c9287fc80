import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { Site, browserEvent, useCollector } from "./site.ts";

const service = useCollector();
const eventsMax = 2_000;

const forged = (count: number) =>
  Array.from({ length: count }, () => browserEvent({ device_id: randomUUID(), user: {} }, { _session_id: randomUUID() }));

test("POST collect 200: of 40,000 forged events from one address, some are kept and all others are counted and shown", async () => {
  const site = await Site.create(service.current);
  for (let sent = 0; sent < 40_000; sent += eventsMax) await site.post(forged(eventsMax));
  const { database } = service.current;
  const [row] = await database.query<{ events: number }>(sql`
    select coalesce(sum(events), 0) as events
    from inbox
    where tenant_id = ${site.tenant.tenantId}`);
  const { quarantine, counts } = await site.quarantined();
  expect(counts).toMatchObject([{ reason: "over-quota", count: 40_000 - (row?.events ?? 0) }]);
  expect(quarantine).toMatchObject([{ reason: "over-quota", detail: expect.stringMatching(/^More events or new sessions/) }]);
  // Expect ten seconds' worth of new names at once, and one in 16 of the others. The quota may have refilled a little while they
  // were sent.
  expect(row?.events).toBeGreaterThan(1_000);
  expect(row?.events).toBeLessThan(12_000);
  const metrics = await service.current.metrics.text();
  expect(metrics).toContain(`casehound_quarantined_total{reason="over-quota"} ${counts[0]?.count}`);
}, 120_000);

test("POST collect 200: two full requests from one visitor who was offline are accepted completely", async () => {
  const site = await Site.create(service.current);
  for (let request = 0; request < 2; request++)
    await site.post(Array.from({ length: eventsMax }, () => browserEvent({ event_type: "scroll" })));
  expect(await site.stored()).toHaveLength(2 * eventsMax);
  expect(await site.counts()).toEqual({});
}, 60_000);

test("POST collect 200: a flood from one address does not affect visitors from other addresses", async () => {
  const site = await Site.create(service.current);
  for (let request = 0; request < 3; request++) await site.post(forged(eventsMax));
  const { ["over-quota"]: before } = await site.counts();
  const from = { headers: { "x-forwarded-for": "198.51.100.7" } };
  await site.post(forged(100), from);
  expect(before).toBeGreaterThan(0);
  expect(await site.counts()).toEqual({ "over-quota": before });
}, 60_000);

test("POST collect 200: packed bodies from one address that unpack to much more than the quota are counted and not unpacked", async () => {
  const site = await Site.create(service.current);
  const attributes = Object.fromEntries(Array.from({ length: 140 }, (_, n) => [`a${n}`, "x".repeat(20)]));
  const events = Array.from({ length: 1_900 }, (_, n) => ({ ...browserEvent({ event_id: `e${n}` }), attributes }));
  const body = gzipSync(JSON.stringify(events)).toString("base64");
  const query = { compression: "gzip" };
  const send = (from = "192.0.2.66") => site.collect(body, { query, headers: { "x-forwarded-for": from } });
  for (let request = 0; request < 2; request++) await send();
  const { ["over-quota"]: before = 0, ...others } = await site.counts();
  const began = process.cpuUsage();
  const answers = await Promise.all(Array.from({ length: 20 }, () => send()));
  const { user, system } = process.cpuUsage(began);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await site.counts()).toEqual({ ...others, "over-quota": before + 20 });
  // Unpacking and reading one of them takes about half a second.
  expect((user + system) / 1_000_000).toBeLessThan(2);
}, 60_000);
