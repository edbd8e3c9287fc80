import { expect, test } from "vitest";
import { insertQuarantine } from "../src/db/quarantine.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { quarantineMeanings } from "../src/domain/quarantine.ts";
import { uuidV7 } from "../src/domain/uuid.ts";
import { expectProblem } from "./harness.ts";
import { Site, browserEvent, useCollector, type Quarantined } from "./site.ts";

const service = useCollector();
const dayMs = 24 * 60 * 60 * 1000;

function shown(reason: keyof typeof quarantineMeanings, excerpt: string) {
  return {
    quarantine_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    reason,
    detail: quarantineMeanings[reason],
    excerpt,
  };
}

test("GET quarantine 200: shows what arrived, when and why, newest first, with counts per day", async () => {
  const site = await Site.create(service.current);
  await site.post([{ event_id: "e-1", event_type: "x" }]);
  await site.collect("no JSON");
  const answer = await site.tenant.call("GET", "/quarantine");
  const today = new Date().toISOString().slice(0, 10);
  expect(answer.json).toEqual({
    data: {
      quarantine: [shown("not-json", "no JSON"), shown("bad-timestamp", '{"event_id":"e-1","event_type":"x"}')],
      counts: [
        { day: today, reason: "bad-timestamp", count: 1 },
        { day: today, reason: "not-json", count: 1 },
      ],
      next_cursor: null,
    },
  });
});

test("GET quarantine 200: without entries the list is empty, and another tenant's entries are not shown", async () => {
  const [site, other] = [await Site.create(service.current), await Site.create(service.current)];
  await other.collect("no JSON");
  expect(await site.quarantined()).toEqual({ quarantine: [], counts: [], next_cursor: null });
});

async function fill(site: Site, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await site.collect(index % 2 === 0 ? `no JSON ${index}` : `{"index":${index}}`);
}

async function pages(site: Site, query: string): Promise<Quarantined["quarantine"]> {
  const all: Quarantined["quarantine"] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = await site.quarantined(`${query}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    all.push(...page.quarantine);
    cursor = page.next_cursor;
  }
  return all;
}

test("GET quarantine 200: paging returns the same list, complete or for one reason", async () => {
  const site = await Site.create(service.current);
  await fill(site, 7);
  const { quarantine: all } = await site.quarantined();
  expect(all.map((each) => each.excerpt.replace(/\D/g, ""))).toEqual(["6", "5", "4", "3", "2", "1", "0"]);
  expect(await pages(site, "limit=3")).toEqual(all);
  const ofOne = all.filter((each) => each.reason === "not-an-array");
  expect(ofOne).toHaveLength(3);
  expect(await pages(site, "reason=not-an-array&limit=1")).toEqual(ofOne);
  const answer = await site.tenant.call("GET", "/quarantine?limit=3");
  expect(answer.headers.get("link")).toMatch(/^<.*\/quarantine\?limit=3&cursor=.*>; rel="next"$/);
});

test("GET quarantine 400: an unknown reason, an invalid limit and a cursor of another list are rejected", async () => {
  const site = await Site.create(service.current);
  await fill(site, 2);
  const { next_cursor: cursor } = await site.quarantined("limit=1");
  for (const query of ["reason=boredom", "limit=0", "limit=1001", "cursor=x", `reason=not-json&cursor=${cursor}`]) {
    const answer = await site.tenant.call("GET", `/quarantine?${query}`);
    expect([query, expectProblem(answer, 400, "bad-request").type]).toEqual([query, "bad-request"]);
  }
});

test("quarantine: for one request and reason ten are shown; the last one mentions the rest, which are counted", async () => {
  const site = await Site.create(service.current);
  await site.post([...Array.from({ length: 25 }, (_, index) => ({ event_id: `e-${index}` })), null]);
  expect(await site.counts()).toEqual({ "no-event-type": 25, "not-an-object": 1 });
  const { quarantine } = await site.quarantined("reason=no-event-type");
  expect(quarantine).toHaveLength(10);
  expect(quarantine.filter((each) => each.detail.includes("The request had 15 more such events."))).toHaveLength(1);
});

function entryOf(index: number, receivedAtMs = Date.now()) {
  const random = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, index >> 8, index & 255]);
  const received_at = new Date(receivedAtMs).toISOString();
  return {
    quarantine_id: uuidV7(receivedAtMs, random),
    received_at,
    reason: "not-json" as const,
    detail: "",
    excerpt: "",
    count: 1,
  };
}

test("quarantine: a thousand entries are kept per day and all are counted; the next day starts again", async () => {
  const site = await Site.create(service.current);
  const insert = (entries: ReturnType<typeof entryOf>[]) =>
    service.current.database.transaction((tx) => insertQuarantine(tx, site.tenant.tenantId, entries));
  // Use noon, so that the day does not end in between.
  const noon = Date.now() - (Date.now() % dayMs) - dayMs / 2;
  await insert(Array.from({ length: 990 }, (_, index) => entryOf(index, noon)));
  await insert(Array.from({ length: 40 }, (_, index) => entryOf(2000 + index, noon + 1)));
  await insert([entryOf(0, noon + 2)]);
  expect((await site.quarantined()).quarantine).toHaveLength(1000);
  expect(await site.counts()).toEqual({ "not-json": 1031 });
  await site.collect("no JSON");
  expect((await site.quarantined("limit=1")).quarantine).toMatchObject([{ excerpt: "no JSON" }]);
});

test("quarantine: entries older than 14 days and their counts are not shown, and are deleted with the next entry", async () => {
  const site = await Site.create(service.current);
  const { database } = service.current;
  const { tenantId } = site.tenant;
  const old = [entryOf(0, Date.now() - 15 * dayMs), entryOf(1, Date.now() - 13 * dayMs)];
  for (const entry of old) await database.transaction((tx) => insertQuarantine(tx, tenantId, [entry]));
  const kept = async () => {
    const rows = await database.query<{ quarantine_id: string }>(
      sql`select quarantine_id from quarantine where tenant_id = ${tenantId}`,
    );
    return rows.map((row) => row.quarantine_id);
  };
  const { quarantine, counts } = await site.quarantined();
  expect([quarantine.map((each) => each.quarantine_id), counts.length]).toEqual([[old[1]?.quarantine_id], 1]);
  expect(await kept()).toContain(old[0]?.quarantine_id);
  await site.collect("no JSON");
  expect(await kept()).toHaveLength(2);
  expect(await kept()).not.toContain(old[0]?.quarantine_id);
});

test("quarantine: concurrent writes lose no count and do not block each other", async () => {
  const site = await Site.create(service.current);
  const { database } = service.current;
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      database.transaction((tx) => {
        const [one, two] = [entryOf(index), { ...entryOf(1000 + index), reason: "too-deep" as const }];
        return insertQuarantine(tx, site.tenant.tenantId, index % 2 === 0 ? [one, two] : [two, one]);
      }),
    ),
  );
  expect(await site.counts()).toEqual({ "not-json": 8, "too-deep": 8 });
});

test("quarantine: no entry contains the user of its event", async () => {
  const site = await Site.create(service.current);
  await site.post([browserEvent({ timestamp: 0, user: { _user_id: { value: "someone@example.com" } } })]);
  const rows = await service.current.database.query(sql`
    select 1 as found from quarantine as q where tenant_id = ${site.tenant.tenantId} and q::text like '%someone%'`);
  expect(rows).toEqual([]);
  expect((await site.quarantined()).quarantine).toHaveLength(1);
});
