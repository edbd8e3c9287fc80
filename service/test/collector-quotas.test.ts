import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import { Site, browserEvent, useCollector } from "./site.ts";

const service = useCollector();
const eventsMax = 2_000;

const forged = (count: number) =>
  Array.from({ length: count }, () => browserEvent({ device_id: randomUUID(), user: {} }, { _session_id: randomUUID() }));

// Quotas belong to an address, so each test has its own.
let addresses = 0;
const newAddress = () => ({ headers: { "x-forwarded-for": `198.51.100.${++addresses}` } });

async function readOverQuota(): Promise<number> {
  const text = await service.current.metrics.text();
  return Number(/casehound_quarantined_total\{reason="over-quota"\} (\d+)/.exec(text)?.[1] ?? 0);
}

test("POST collect 200: of 40,000 forged events from one address, some are kept and all others are counted and shown", async () => {
  const site = await Site.create(service.current);
  const [from, before] = [newAddress(), await readOverQuota()];
  for (let sent = 0; sent < 40_000; sent += eventsMax) await site.post(forged(eventsMax), from);
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
  expect(await readOverQuota()).toBe(before + (counts[0]?.count ?? 0));
}, 120_000);

test("POST collect 200: two full requests from one visitor who was offline are accepted completely", async () => {
  const site = await Site.create(service.current);
  const from = newAddress();
  for (let request = 0; request < 2; request++)
    await site.post(
      Array.from({ length: eventsMax }, () => browserEvent({ event_type: "scroll" })),
      from,
    );
  expect(await site.stored()).toHaveLength(2 * eventsMax);
  expect(await site.counts()).toEqual({});
}, 60_000);

test("POST collect 200: a flood from one address does not affect visitors from other addresses", async () => {
  const site = await Site.create(service.current);
  const flooding = newAddress();
  for (let request = 0; request < 3; request++) await site.post(forged(eventsMax), flooding);
  const { ["over-quota"]: before } = await site.counts();
  await site.post(forged(100), newAddress());
  expect(before).toBeGreaterThan(0);
  expect(await site.counts()).toEqual({ "over-quota": before });
}, 60_000);

test("POST collect 200: packed bodies from one address that unpack to much more than the quota are counted and not unpacked", async () => {
  const site = await Site.create(service.current);
  const attributes = Object.fromEntries(Array.from({ length: 140 }, (_, n) => [`a${n}`, "x".repeat(20)]));
  const events = Array.from({ length: 1_900 }, (_, n) => ({ ...browserEvent({ event_id: `e${n}` }), attributes }));
  const body = gzipSync(JSON.stringify(events)).toString("base64");
  const from = newAddress();
  const send = (text: string) => site.collect(text, { query: { compression: "gzip" }, ...from });
  for (let request = 0; request < 2; request++) await send(body);
  const { ["over-quota"]: before = 0, ...others } = await site.counts();
  // If they were unpacked, they would be counted as damaged.
  const damaged = "x".repeat(body.length);
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(damaged)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await site.counts()).toEqual({ ...others, "over-quota": before + 20 });
  await site.collect(damaged, { query: { compression: "gzip" }, ...newAddress() });
  expect(Object.keys(await site.counts()).toSorted()).not.toEqual(Object.keys({ ...others, "over-quota": 0 }).toSorted());
}, 60_000);
