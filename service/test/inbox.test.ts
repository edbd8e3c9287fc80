import { expect, test } from "vitest";
import { countUnscored, listWaitingDays } from "../src/db/inbox.ts";
import { claimActivities, claimOldest } from "../src/db/inbox-claims.ts";
import { eraseFromInbox } from "../src/db/inbox-erasure.ts";
import type { Queryable } from "../src/db/postgres/database.ts";
import { statement } from "../src/db/postgres/sql.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { activityOf, iso, labDetector, labNowMs, newTenant, store, useLab, waiting } from "./engine-lab.ts";
import { listWaiting, withoutPlace } from "./inbox.ts";

const lab = useLab();
const dayMs = 24 * 60 * 60 * 1000;

const pages = (count: number, more: (n: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, n) => activityOf({ type: "page_view", ...more(n) }));

const byId = (a: { activity_id: string }, b: { activity_id: string }) => (a.activity_id < b.activity_id ? -1 : 1);

async function parcels(tenantId: string): Promise<{ events: number; first: number; day: string }[]> {
  const text = `
    select events, get_byte(parcel, 0) as first, to_char(received_at at time zone 'UTC', 'YYYY-MM-DD') as day
    from inbox
    where tenant_id = $1
    order by received_at, events desc`;
  return lab.current.database.query(statement(text, [tenantId]));
}

test("inbox: activity that arrives together is stored together, compressed if that pays; a parcel holds at most 250 events of one day", async () => {
  const tenantId = await newTenant(lab.current);
  const yesterday = iso(labNowMs - dayMs);
  const given = [...pages(300), ...pages(2, () => ({ received_at: yesterday, occurred_at: yesterday }))];
  await store(lab.current, tenantId, given);
  const bracket = "[".charCodeAt(0);
  const [today, before] = [iso(labNowMs).slice(0, 10), yesterday.slice(0, 10)];
  expect(await parcels(tenantId)).toEqual([
    { events: 2, first: bracket, day: before },
    { events: 250, first: 0x28, day: today },
    { events: 50, first: 0x28, day: today },
  ]);
  expect(await listWaitingDays(lab.current.database, tenantId)).toEqual([before, today]);
  const kept = await listWaiting(lab.current.database, tenantId);
  expect(kept.toSorted(byId)).toEqual(given.toSorted(byId));
});

test("inbox: large activities make smaller parcels", async () => {
  const tenantId = await newTenant(lab.current);
  await store(
    lab.current,
    tenantId,
    pages(10, () => ({ attributes: { text: "x".repeat(60_000) } })),
  );
  expect((await parcels(tenantId)).map((each) => each.events)).toEqual([4, 4, 2]);
});

test("inbox: a small batch takes exactly its number and leaves the rest of the parcel in place", async () => {
  const tenantId = await newTenant(lab.current);
  const given = pages(20);
  await store(lab.current, tenantId, given);
  const take = (count: number) => lab.current.database.transaction((tx) => claimActivities(tx, tenantId, { size: count }));
  const waiting = () => listWaiting(lab.current.database, tenantId);
  const first = await take(7);
  expect(first.map((each) => withoutPlace(each.activity))).toEqual(given.slice(0, 7));
  expect(await waiting()).toEqual(given.slice(7));
  await store(
    lab.current,
    tenantId,
    pages(1, () => ({ received_at: iso(labNowMs + 1) })),
  );
  expect((await take(13)).map((each) => withoutPlace(each.activity))).toEqual(given.slice(7));
  expect(await waiting()).toHaveLength(1);
});

test("inbox: a large batch takes whole parcels, oldest first, until it is full", async () => {
  const tenantId = await newTenant(lab.current);
  const given = pages(600, (n) => ({ received_at: iso(labNowMs + n) }));
  await store(lab.current, tenantId, given);
  const claimed = await lab.current.database.transaction((tx) => claimActivities(tx, tenantId, { size: 300 }));
  expect(claimed.map((each) => withoutPlace(each.activity))).toEqual(given.slice(0, 500));
  expect(await listWaiting(lab.current.database, tenantId)).toEqual(given.slice(500));
});

test("inbox: an erased account is removed from every parcel, compressed or not, and all other activity is kept", async () => {
  const tenantId = await newTenant(lab.current);
  const given = pages(5_000, (n) => ({
    website_account_id: n % 3 === 0 ? "gone" : `u-${n}`,
    received_at: iso(labNowMs + n),
    origin: n < 2_500 ? "server" : "browser",
  }));
  await store(lab.current, tenantId, given);
  const alone = pages(1, () => ({ website_account_id: "gone", received_at: iso(labNowMs + 9_000) }));
  await store(lab.current, tenantId, alone);
  await lab.current.database.transaction((tx) => eraseFromInbox(tx, tenantId, { id: "gone", pseudonym: "erased" }));
  expect(await listWaiting(lab.current.database, tenantId)).toEqual(given.filter((_, n) => n % 3 !== 0));
  const counted = (await parcels(tenantId)).reduce((sum, each) => sum + each.events, 0);
  expect(counted).toBe(given.filter((_, n) => n % 3 !== 0).length);
  expect(await countUnscored(lab.current.database)).toBeGreaterThanOrEqual(counted);
});

const pageViews = (count: number, more: (n: number) => object = () => ({})) =>
  pages(count, (n) => ({ origin: "browser", ...more(n) }));

test("inbox: the next batch contains only server activity, even if browsers sent 40,000 events before it", async () => {
  const tenantId = await newTenant(lab.current);
  await store(
    lab.current,
    tenantId,
    pageViews(40_000, (n) => ({ received_at: iso(labNowMs - 60_000 + (n % 50_000)) })),
  );
  const report = activityOf({ type: "fraud_report", website_account_id: "victim", activity_id: "the-report" });
  await store(lab.current, tenantId, [report]);
  expect(await detectBatch(labDetector(lab.current.database), tenantId)).toMatchObject({ scored: 1, opened: 1 });
  const [logged] = await lab.current.database.query<{ score: number }>(
    statement("select score from activities where tenant_id = $1 and activity_id = 'the-report'", [tenantId]),
  );
  expect(logged).toEqual({ score: 5 });
  expect(await waiting(lab.current, tenantId)).toBe(40_000);
});

test("inbox: server activity comes first, in batches of its own; a batch without server activity is filled with page activity", async () => {
  const tenantId = await newTenant(lab.current);
  const server = pages(1_100, (n) => ({ received_at: iso(labNowMs + n) }));
  const browser = pageViews(1_000, () => ({ received_at: iso(labNowMs - 60_000) }));
  await store(lab.current, tenantId, browser);
  await store(lab.current, tenantId, server);
  expect(await takeByOrigin(tenantId)).toEqual({ server: 1_000, browser: 0 });
  expect(await takeByOrigin(tenantId)).toEqual({ server: 100, browser: 0 });
  expect(await takeByOrigin(tenantId)).toEqual({ server: 0, browser: 1_000 });
  expect(await takeByOrigin(tenantId)).toEqual({ server: 0, browser: 0 });
});

test("inbox: a batch of server activity includes a few waiting page activities, so that a visit is scored in order of time", async () => {
  const tenantId = await newTenant(lab.current);
  await store(lab.current, tenantId, [...pageViews(100), ...pages(2)]);
  expect(await takeByOrigin(tenantId)).toEqual({ server: 2, browser: 100 });
  await store(lab.current, tenantId, [...pageViews(101), ...pages(2)]);
  expect(await takeByOrigin(tenantId)).toEqual({ server: 2, browser: 0 });
});

test("inbox: a batch finds the rows that it deletes by their position, even with the statistics of another inbox", async () => {
  const { database } = lab.current;
  const [before, tenantId] = [await newTenant(lab.current), await newTenant(lab.current)];
  await store(lab.current, before, pageViews(2_000));
  await database.transaction((tx) => tx.query(statement("analyze inbox", [])));
  await store(lab.current, tenantId, pages(100));
  const plans: string[] = [];
  await database.transaction((tx) => {
    const explaining: Queryable = {
      query: async ({ text, values }) => {
        const rows = await tx.query<{ "QUERY PLAN": string }>(statement(`explain ${text}`, values));
        plans.push(...rows.map((row) => row["QUERY PLAN"]));
        return [];
      },
    };
    return claimActivities(explaining, tenantId, { size: 1_000 });
  });
  expect(plans.join("\n")).toContain("Tid Scan on inbox");
});

async function takeByOrigin(tenantId: string): Promise<{ server: number; browser: number }> {
  const claimed = await lab.current.database.transaction((tx) => claimActivities(tx, tenantId, { size: 1_000, alongMax: 100 }));
  const count = (origin: string) => claimed.filter(({ activity }) => activity.origin === origin).length;
  return { server: count("server"), browser: count("browser") };
}

test("inbox: a small batch of both origins is exact, and begins with the activities that a batch of one origin would take", async () => {
  const tenantId = await newTenant(lab.current);
  const [server, browser] = [pages(5), pageViews(20, () => ({ received_at: iso(labNowMs - 60_000) }))];
  await store(lab.current, tenantId, [...browser, ...server]);
  const { database } = lab.current;
  const oldest = await database.transaction((tx) => claimOldest(tx, tenantId, "server"));
  expect(JSON.parse(oldest?.activity ?? "")).toMatchObject(server[0] ?? {});
  const claimed = await database.transaction((tx) => claimActivities(tx, tenantId, { size: 10, alongMax: 100 }));
  expect(claimed.map(({ activity }) => withoutPlace(activity))).toEqual([...server.slice(1), ...browser.slice(0, 6)]);
  const alone = await database.transaction((tx) => claimActivities(tx, tenantId, { size: 1, only: "browser" }));
  expect(alone.map(({ activity }) => withoutPlace(activity))).toEqual([browser[6]]);
  expect(await listWaiting(database, tenantId)).toEqual(browser.slice(7));
  expect(await database.transaction((tx) => claimActivities(tx, tenantId, { size: 10, only: "server" }))).toEqual([]);
});

test("inbox: no parcel mixes origins, whatever arrives together", async () => {
  const tenantId = await newTenant(lab.current);
  await store(lab.current, tenantId, [...pages(2), ...pageViews(3), ...pages(1)]);
  const text = "select is_browser, events from inbox where tenant_id = $1 order by is_browser, events";
  expect(await lab.current.database.query(statement(text, [tenantId]))).toEqual([
    { is_browser: false, events: 1 },
    { is_browser: false, events: 2 },
    { is_browser: true, events: 3 },
  ]);
});
