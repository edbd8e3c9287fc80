import { pino } from "pino";
import { expect, test } from "vitest";
import { sql, statement } from "../src/db/postgres/sql.ts";
import { BatchTurns } from "../src/engine/batch-turns.ts";
import { UrgentLane } from "../src/engine/urgent-lane.ts";
import { activityOf, labDetector, newTenant, store, useLab, waiting } from "./engine-lab.ts";
import { whileHeld } from "./launch.ts";
import { eventually } from "./process.ts";

const lab = useLab();
const log = pino({ level: "silent" });

// Lists the tenants of all attempts, in order.
class ListedTurns extends BatchTurns {
  readonly attempts: string[] = [];

  override async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return super.run(key, () => {
      this.attempts.push(key);
      return work();
    });
  }
}

function startLane() {
  const turns = new ListedTurns();
  const detector = labDetector(lab.current.database);
  const lane = new UrgentLane({ detector, log, onPass: () => {}, onLeft: () => {}, turns });
  return { lane, turns };
}

function newTenants(count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => newTenant(lab.current)));
}

async function sendOne(tenantId: string): Promise<void> {
  await store(lab.current, tenantId, [activityOf({ type: "login_succeeded", website_account_id: "user-1" })]);
}

const slowLock = 4_711;

// From now on, taking these tenants' activity waits for a lock, and only the limit of a statement ends the wait.
async function slowDown(tenants: string[]): Promise<void> {
  const { database } = lab.current;
  await database.transaction(async (tx) => {
    const wait = `perform pg_advisory_xact_lock_shared(${slowLock}); return old;`;
    await tx.query(
      statement(`create function slow() returns trigger language plpgsql set lock_timeout = 0 as $$ begin ${wait} end $$`, []),
    );
    const slow = tenants.map((each) => `'${each}'`).join(", ");
    await tx.query(
      statement(
        `create trigger slow before delete on inbox for each row when (old.tenant_id in (${slow})) execute function slow()`,
        [],
      ),
    );
  });
}

async function countSlow(): Promise<number> {
  const rows = await lab.current.database.query(sql`select 1 from pg_locks where locktype = 'advisory' and not granted`);
  return rows.length;
}

test("urgent lane: four tenants with slow database work do not keep another one waiting, nor do they the next time", async () => {
  const slow = await newTenants(4);
  const [other = "", next = ""] = await newTenants(2);
  await slowDown(slow);
  const { lane } = startLane();
  const wakeSlow = async () => {
    for (const tenantId of slow) {
      await sendOne(tenantId);
      lane.wake(tenantId);
    }
  };
  const scoreMeanwhile = async (tenantId: string, slowCount: number) => {
    await eventually(async () => expect(await countSlow()).toBe(slowCount));
    await sendOne(tenantId);
    lane.wake(tenantId);
    await eventually(async () => expect(await waiting(lab.current, tenantId)).toBe(0));
    // None of them has ended meanwhile.
    expect(await countSlow()).toBe(slowCount);
  };
  const hold = `select pg_advisory_xact_lock(${slowLock})`;
  await whileHeld(lab.current.url, hold, async () => {
    await wakeSlow();
    await scoreMeanwhile(other, 4);
  });
  const isDone = async () => {
    for (const tenantId of slow) expect(await waiting(lab.current, tenantId)).toBe(0);
  };
  await eventually(isDone);
  // Now they are known as slow, so only a few of them run at once, and none in the others' places.
  await whileHeld(lab.current.url, hold, async () => {
    await wakeSlow();
    await scoreMeanwhile(next, 3);
  });
  await eventually(isDone);
  await lane.stop();
});

test("urgent lane: tenants whose turn another engine holds leave room for the others", async () => {
  const held = await newTenants(12);
  const [other = ""] = await newTenants(1);
  const { lane, turns } = startLane();
  const ids = held.map((each) => `'${each}'`).join(", ");
  await whileHeld(lab.current.url, `select 1 from engine_turns where tenant_id in (${ids}) for update`, async () => {
    for (const tenantId of held) lane.wake(tenantId);
    // Now every one of them is trying again.
    await eventually(() => expect(turns.attempts.length).toBeGreaterThan(24));
    const before = turns.attempts.length;
    lane.wake(other);
    await eventually(() => expect(turns.attempts.length).toBeGreaterThan(before));
    expect(turns.attempts[before]).toBe(other);
  });
  await lane.stop();
});
