import { afterEach, expect, test } from "vitest";
import { sql } from "../src/db/postgres/sql.ts";
import type { RecordedActivity } from "../src/domain/activity.ts";
import {
  activityOf,
  decisionsOf,
  drain,
  iso,
  labDetector,
  labNow,
  newTenant,
  startEngine,
  store,
  useLab,
  waiting,
  type Sketched,
} from "./engine-lab.ts";
import { putParcel } from "./inbox.ts";
import { eventually } from "./process.ts";

const lab = useLab();
const yearMs = 365 * 24 * 60 * 60 * 1000;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function scored(...batches: Sketched[][]): Promise<string> {
  const tenantId = await newTenant(lab.current);
  for (const batch of batches) {
    await store(lab.current, tenantId, batch.map(activityOf));
    await drain(labDetector(lab.current.database), tenantId);
  }
  return tenantId;
}

test("accounts: a clock that runs ahead does not set the last session in the future", async () => {
  const session = { type: "page_view", website_account_id: "u-1", session_id: "s-1" };
  const tenantId = await scored([{ ...session, occurred_at: "9999-12-31T23:59:59.999Z" }]);
  const [row] = await lab.current.database.query<{ at: string }>(sql`
    select last_session_updated_on as at
    from accounts
    where tenant_id = ${tenantId}`);
  expect(row?.at).toBe(labNow);
});

test("rules: a hit whose clock runs ahead does not stay the latest of its subject", async () => {
  const robot = { type: "login_succeeded", website_account_id: "u-1", user_agent: "curl/8.5.0" };
  const tenantId = await scored(
    [{ ...robot, activity_id: "ahead", occurred_at: "9999-12-31T23:59:59.999Z" }],
    [{ ...robot, activity_id: "next" }],
  );
  const [row] = await lab.current.database.query<{ last_at: string; last: string }>(sql`
    select last_at, last_activity ->> 'activity_id' as last
    from rule_subjects
    where tenant_id = ${tenantId} and rule_id = 'bot_past_login'`);
  expect(row).toEqual({ last_at: labNow, last: "next" });
});

test("windows: history from before 2020 is counted like today's", async () => {
  const failures = Array.from({ length: 8 }, (_, n) => ({
    type: "login_failed",
    occurred_at: iso(Date.UTC(2015, 0, 1) + n * 60_000),
    website_account_id: `u-${n}`,
    device_id: "d-1",
  }));
  const decisions = [...(await decisionsOf(lab.current, await scored(failures))).values()];
  const counted = decisions.map(({ features }) => Number(features["device.failed_accounts_1h"]));
  expect(counted.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(decisions.filter(({ rules }) => rules.includes("stuffing_device"))).toHaveLength(4);
});

test("windows: events of different years are never in the same window", async () => {
  const failures = Array.from({ length: 8 }, (_, n) => ({
    type: "login_failed",
    occurred_at: iso(Date.UTC(2010, 0, 1) + n * yearMs),
    website_account_id: `u-${n}`,
    device_id: "d-1",
  }));
  const decisions = [...(await decisionsOf(lab.current, await scored(failures))).values()];
  expect(decisions.flatMap(({ rules }) => rules)).toEqual([]);
  expect(decisions.filter(({ features }) => Number(features["device.failed_accounts_1h"] ?? 0) > 1)).toEqual([]);
});

test("ages: a clock that was reset does not make an account, a device or a session old", async () => {
  const named = { website_account_id: "u-1", device_id: "d-1", session_id: "s-1" };
  const reset = ["0001-01-01T00:00:00.000Z", "1970-01-01T00:00:05.000Z"].map((occurred_at) => ({
    type: "page_view",
    occurred_at,
    ...named,
  }));
  const tenantId = await scored(reset, [{ type: "page_view", activity_id: "now", ...named }]);
  const features = (await decisionsOf(lab.current, tenantId)).get("now")?.features ?? {};
  const ages = ["account.age_minutes", "device.age_minutes", "session.age_seconds"].map((name) => features[name] ?? 0);
  expect(ages).toEqual([0, 0, 0]);
});

const unreadable = "{ this is not JSON";
const bad = ["null", "{}", '{"activity_id":"x","type":"login_failed"}', "7", '"text"', "[]"];

test("turns: activity that cannot be scored is set aside completely, and the rest of the tenant's activity is scored", async () => {
  const tenantId = await newTenant(lab.current);
  const good: RecordedActivity[] = Array.from({ length: 250 }, (_, n) =>
    activityOf({ type: "page_view", activity_id: `good-${n}`, website_account_id: "u-1" }),
  );
  await store(lab.current, tenantId, good);
  for (const text of [unreadable, ...bad.map((each) => `[${each}]`)])
    await putParcel(lab.current.database, tenantId, { received_at: labNow, text });
  const engine = startEngine(lab.current);
  stops.push(engine.stop);
  await eventually(async () => expect(await waiting(lab.current, tenantId)).toBe(0));
  expect([...(await decisionsOf(lab.current, tenantId)).keys()].toSorted()).toEqual(
    good.map((each) => each.activity_id).toSorted(),
  );
  const aside = await lab.current.database.query<{ activity: string; fault: string }>(sql`
    select activity, fault
    from unscorable
    where tenant_id = ${tenantId}`);
  const whole = Buffer.from(unreadable).toString("base64");
  expect(aside.map((row) => row.activity).toSorted()).toEqual([whole, ...bad].toSorted());
  expect(aside.filter((row) => row.fault === "")).toEqual([]);
});

test("turns: a page event that cannot be scored does not delay server activity, and is set aside in the same pass", async () => {
  const tenantId = await newTenant(lab.current);
  const [first, second] = [0, 1].map((n) => iso(Date.parse(labNow) + n));
  const views = (origin: "server" | "browser", count: number) =>
    Array.from({ length: count }, () => activityOf({ type: "page_view", origin, received_at: second ?? labNow }));
  await putParcel(lab.current.database, tenantId, { received_at: first ?? labNow, text: unreadable, is_browser: true });
  const good = [...views("browser", 3), ...views("server", 900)];
  await store(lab.current, tenantId, good);
  const passes: { scored: number }[] = [];
  const engine = startEngine(lab.current, {}, (pass) => void (pass.scored > 0 && passes.push(pass)));
  stops.push(engine.stop);
  await eventually(async () => expect(await waiting(lab.current, tenantId)).toBe(0));
  await eventually(() => expect(passes.map((pass) => pass.scored)).toEqual([903]));
  const aside = await lab.current.database.query(sql`select activity from unscorable where tenant_id = ${tenantId}`);
  expect(aside).toEqual([{ activity: Buffer.from(unreadable).toString("base64") }]);
});
