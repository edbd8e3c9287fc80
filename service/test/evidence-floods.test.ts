import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { makePartition } from "../src/db/activities.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { detectBatch } from "../src/engine/detect.ts";
import { newDetector } from "./harness.ts";
import { Site, browserEvent, useCollector } from "./site.ts";

// The test runs the engine's batches itself, so that each falls between a read and a close.
const service = useCollector({ collectorQuotas: { address: { events: null, names: null }, key: { events: null, names: null } } });

// All floods of a test have the same times. Otherwise the rhythm of the forged session, and with it the rules that fire, would
// depend on how long the test takes.
let began = 0;

beforeEach(async () => {
  began = Date.now();
  const today = new Date().toISOString().slice(0, 10);
  await service.current.database.transaction((tx) => makePartition(tx, today));
});

// Anybody who knows the app key can send this about any account, with new sessions or in a scripted rhythm.
function forgedSecond(round: number): unknown[] {
  const device_id = "flooding-device";
  return Array.from({ length: 100 }, (_, n) => {
    const session = {
      _session_id: n % 2 === 0 ? `forged-${round}-${randomUUID()}` : "forged-session",
      _casehound_webdriver: true,
    };
    const timestamp = began - 100_000 + n * 1000;
    const user = { _user_id: { value: "victim", set_timestamp: timestamp } };
    return browserEvent({ device_id, unique_id: device_id, timestamp, user, event_type: "check_stock" }, session);
  });
}

async function score(site: Site): Promise<void> {
  const detector = newDetector(service.current.database);
  while ((await detectBatch(detector, site.tenant.tenantId))?.scored !== 0);
}

async function flood(site: Site, round: number): Promise<void> {
  await site.post(forgedSecond(round));
  await score(site);
}

async function countChanges(site: Site, caseId: string): Promise<number> {
  const [row] = await service.current.database.query<{ count: number }>(sql`
    select count(*) as count
    from events
    where tenant_id = ${site.tenant.tenantId} and resource_type = 'case' and resource_id = ${caseId}`);
  return row?.count ?? 0;
}

test("PUT case 200: while 100 forged events per second arrive, 8 of 8 closes with the version that was read succeed", async () => {
  const site = await Site.create(service.current);
  const { tenant } = site;
  // A real case for the account, and every case that the forged events open.
  await tenant.report("victim", { type: "fraud_report" });
  await score(site);
  for (let round = 0; round < 5; round++) await flood(site, round);
  const closed: number[] = [];
  for (let round = 5; closed.length < 8; round++) {
    await flood(site, round);
    const open = await tenant.list("status=OPEN");
    expect(open.length).toBeGreaterThan(0);
    for (const { case_id } of open) {
      const read = await tenant.read(case_id);
      const before = await countChanges(site, case_id);
      await flood(site, round + 0.5);
      expect(await countChanges(site, case_id)).toBe(before);
      const body = { status: "CLOSED", case_version: read.case_version };
      closed.push((await tenant.call("PUT", `/cases/${case_id}`, { body, key: randomUUID() })).status);
    }
  }
  expect(closed).toEqual(closed.map(() => 200));
}, 120_000);

test("GET case 200: 263 forged events on an account with a case leave its real evidence and its score unchanged", async () => {
  const site = await Site.create(service.current);
  const { tenant } = site;
  await tenant.report("victim", { type: "fraud_report", attributes: { note: "The owner called." } });
  await score(site);
  const [listed] = await tenant.list("website_account_id=victim");
  const before = await tenant.read(listed?.case_id ?? "");
  for (let round = 0; round < 3; round++) await flood(site, round);
  const after = await tenant.read(listed?.case_id ?? "");
  expect(after.fraud_occurrences).toMatchObject(before.fraud_occurrences);
  const { overall_risk_score, recommended_action, primary_fraud_label, summary } = before.details;
  expect(after.details).toMatchObject({ overall_risk_score, recommended_action, primary_fraud_label, summary });
  expect(after.details.highlights.slice(0, before.details.highlights.length)).toEqual(before.details.highlights);
  expect(after.case_version).toBeLessThan(before.case_version + 10);
}, 60_000);
