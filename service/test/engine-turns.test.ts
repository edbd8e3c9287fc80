import { afterEach, expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import type { EnrichedActivity } from "../src/detection/scene.ts";
import { Enrichment } from "../src/engine/enrichment.ts";
import type { Detector } from "../src/engine/detect.ts";
import { activityOf, decisionsOf, iso, labNow, labNowMs, newTenant, startEngine, store, useLab, waiting } from "./engine-lab.ts";
import { listWaiting, putParcel } from "./inbox.ts";
import { eventually } from "./process.ts";

const lab = useLab();
const backlog = 20_000;
// The engine takes tenants in order of their ids: one in the middle, and one at each end.
const uuid = (first: string) => `${first}0000000-0000-4000-8000-${String(Math.floor(Math.random() * 1e12)).padStart(12, "0")}`;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function runEngine(more: Partial<Detector> = {}): ReturnType<typeof startEngine> {
  const engine = startEngine(lab.current, more);
  stops.push(engine.stop);
  return engine;
}

// Stores them as the API does, but faster.
async function storeBacklog(tenantId: string): Promise<void> {
  await lab.current.database.transaction((tx) =>
    tx.query(sql`
      insert into inbox (tenant_id, received_at, parcel_id, events, parcel)
      select ${tenantId}::uuid, ${labNow}::timestamptz, gen_random_uuid(), 1, convert_to(jsonb_build_array(jsonb_build_object(
        'activity_id', 'flood-' || n, 'type', 'page_view', 'origin', 'server', 'device_id', 'd-' || n % 50,
        'received_at', ${labNow}::text, 'occurred_at', ${labNow}::text
      ))::text, 'UTF8')
      from generate_series(1, ${backlog}::int) as n`),
  );
}

test(`turns: one event of a tenant is scored while another tenant still has part of its backlog of ${backlog}`, async () => {
  const [before, flooded, after] = await Promise.all(["0", "8", "f"].map((first) => newTenant(lab.current, uuid(first))));
  await storeBacklog(flooded ?? "");
  const engine = runEngine();
  await eventually(async () => expect(await waiting(lab.current, flooded ?? "")).toBeLessThan(backlog));
  for (const tenantId of [before ?? "", after ?? ""]) {
    await store(lab.current, tenantId, [activityOf({ type: "fraud_report", website_account_id: "u-1" })]);
    const left = await eventually(async () => {
      expect((await decisionsOf(lab.current, tenantId)).size).toBe(1);
      return waiting(lab.current, flooded ?? "");
    });
    expect(left).toBeGreaterThan(0);
  }
  expect(engine.failures).toEqual([]);
  await lab.current.database.transaction((tx) => tx.query(sql`delete from inbox where tenant_id = ${flooded}`));
});

test("turns: a tenant whose batch fails delays no other tenant, and none of its own good activity is lost", async () => {
  const [bad, good] = await Promise.all([newTenant(lab.current, uuid("0")), newTenant(lab.current, uuid("f"))]);
  await putParcel(lab.current.database, bad, { received_at: iso(labNowMs - 1), text: "{ this is not JSON" });
  await store(lab.current, bad, [activityOf({ type: "fraud_report", activity_id: "kept", website_account_id: "u-1" })]);
  const engine = runEngine();
  await eventually(() => expect(engine.failures.length).toBeGreaterThan(0));
  for (let n = 1; n <= 3; n++) {
    await store(lab.current, good, [activityOf({ type: "fraud_report", website_account_id: `u-${n}` })]);
    await eventually(async () => expect((await decisionsOf(lab.current, good)).size).toBe(n));
  }
  await engine.stop();
  const rows = await lab.current.database.query(sql`
    select activity_id from activities where tenant_id = ${bad} and activity_id = 'kept'`);
  const left = await listWaiting(lab.current.database, bad);
  expect([...rows, ...left.filter((each) => each.activity_id === "kept")]).toHaveLength(1);
});

const pages = (count: number) => Array.from({ length: count }, () => activityOf({ type: "page_view", origin: "browser" }));

// Starts an engine that reports each activity when its batch begins.
function watchEngine(onTaken: (activity: RecordedActivity) => void): void {
  class WatchedEnrichment extends Enrichment {
    override enrich(activity: RecordedActivity): EnrichedActivity {
      onTaken(activity);
      return super.enrich(activity);
    }
  }
  runEngine({ enrichment: new WatchedEnrichment([]) });
}

test("turns: server activity of the last tenant is scored before the page activity of all others", async () => {
  const flooded = await Promise.all(["0", "4", "8"].map((first) => newTenant(lab.current, uuid(first))));
  for (const tenantId of flooded) await store(lab.current, tenantId, pages(1_500));
  const last = await newTenant(lab.current, uuid("f"));
  await store(lab.current, last, [activityOf({ type: "fraud_report", website_account_id: "u-1" })]);
  const taken: string[] = [];
  watchEngine(({ origin }) => void taken.push(origin));
  await eventually(async () => {
    for (const tenantId of flooded) expect(await waiting(lab.current, tenantId)).toBe(0);
  });
  expect(taken.lastIndexOf("server")).toBeLessThan(taken.indexOf("browser"));
  expect((await decisionsOf(lab.current, last)).size).toBe(1);
});

test("turns: server activity that arrives during a flood of page activity waits for at most one batch of pages", async () => {
  const tenantId = await newTenant(lab.current);
  await store(lab.current, tenantId, pages(10_000));
  let isStored = false;
  let takenSince = 0;
  const begun = Promise.withResolvers<void>();
  const reported = Promise.withResolvers<number>();
  watchEngine(({ activity_id, origin }) => {
    if (activity_id === "the-report") reported.resolve(takenSince);
    if (origin === "browser" && isStored) takenSince++;
    begun.resolve();
  });
  // The first batch of pages has begun.
  await begun.promise;
  const report = activityOf({ type: "fraud_report", activity_id: "the-report", website_account_id: "u-1" });
  await store(lab.current, tenantId, [report]);
  isStored = true;
  // A batch takes whole parcels of 250, so it can exceed 1,000.
  expect(await reported.promise).toBeLessThan(1_250);
  expect(await waiting(lab.current, tenantId)).toBeGreaterThan(0);
  await lab.current.database.transaction((tx) => tx.query(sql`delete from inbox where tenant_id = ${tenantId}`));
});
