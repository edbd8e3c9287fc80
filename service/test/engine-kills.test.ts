import { afterAll, beforeAll, expect, test } from "vitest";
import { clock } from "../src/clock.ts";
import { Database } from "../src/db/postgres/database.ts";
import { unpackParcel } from "../src/db/parcels.ts";
import { sql } from "../src/db/postgres/sql.ts";
import { createTenant } from "../src/tenancy.ts";
import { newDatabase, send } from "./harness.ts";
import { freePort, type ServiceProcess } from "./launch.ts";
import { Caller, eventually, useProcesses } from "./process.ts";
import { browserEvent } from "./site.ts";

const processes = useProcesses();
const kills = 2;
const senders = 12;
const answersBeforeKill = 60;

type World = {
  database: Database;
  made: Awaited<ReturnType<typeof createTenant>>;
  start: () => Promise<ServiceProcess>;
  port: number;
};

let world: World;
beforeAll(async () => {
  const databaseUrl = await newDatabase();
  const database = new Database({ connectionString: databaseUrl });
  const made = await createTenant(database, { slug: "killed" }, clock);
  const port = await freePort();
  const start = () => processes.start({ DATABASE_URL: databaseUrl, PORT: String(port), LOG_LEVEL: "error" });
  world = { database, made, start, port };
});
afterAll(() => world.database.end());

// Half of them come from a server through the API, half from a page through the collector. Returns whether it was accepted.
async function sendOne(caller: Caller, id: string, n: number): Promise<boolean> {
  const activity = {
    activity_id: id,
    type: "login_failed",
    occurred_at: clock.now(),
    website_account_id: `u-${n % 9}`,
    device_id: "d",
  };
  const answer = id.startsWith("server")
    ? await caller.call("POST", "/activities", { body: { activities: [activity] } })
    : await send(world.port, "POST", `/collect/${world.made.app_key}`, { body: [browserEvent({ event_id: id, user: {} })] });
  return answer.status === 202 || answer.status === 200;
}

type Sent = { answered: Set<string>; unanswered: Set<string> };

// Sends until the service is gone. What was in flight then may or may not be stored.
async function sendUntilGone(caller: Caller, sent: Sent, kind: string): Promise<void> {
  for (;;) {
    const n = sent.answered.size + sent.unanswered.size;
    const id = `${kind}-${n}`;
    sent.unanswered.add(id);
    try {
      if (!(await sendOne(caller, id, n))) continue;
      sent.unanswered.delete(id);
      sent.answered.add(id);
    } catch {
      return;
    }
  }
}

async function storedIds(): Promise<string[]> {
  const rows = await world.database.query<{ parcel: Buffer | null; activity_id: string }>(sql`
    select parcel, null as activity_id from inbox
    union all
    select null, activity_id from activities`);
  const ids = rows.flatMap((row) =>
    row.parcel === null ? row.activity_id : unpackParcel(row.parcel).map((each) => each.activity_id),
  );
  return ids.toSorted((a, b) => (a < b ? -1 : 1));
}

test("kill -9: activity answered with 202 or 200 under load is stored exactly once, and all of it is scored after the restart", async () => {
  const sent: Sent = { answered: new Set(), unanswered: new Set() };
  for (let round = 0; round < kills; round++) {
    const service = await world.start();
    const caller = await Caller.signIn(world.port, world.made);
    const wanted = sent.answered.size + answersBeforeKill;
    const sending = Array.from({ length: senders }, (_, n) => sendUntilGone(caller, sent, n % 2 === 0 ? "server" : "browser"));
    await eventually(() => expect(sent.answered.size).toBeGreaterThanOrEqual(wanted));
    service.signal("SIGKILL");
    await service.exited;
    await Promise.all(sending);
  }
  expect(sent.unanswered.size).toBeGreaterThanOrEqual(senders);
  const afterKills = await storedIds();
  expect(new Set(afterKills).size).toBe(afterKills.length);
  expect([...sent.answered].filter((id) => !afterKills.includes(id))).toEqual([]);
  const last = await world.start();
  // A client that got no response sends again with the same id.
  const caller = await Caller.signIn(world.port, world.made);
  for (const [n, id] of [...sent.unanswered].entries()) expect(await sendOne(caller, id, n)).toBe(true);
  await eventually(async () => expect(await world.database.query(sql`select 1 as waiting from inbox limit 1`)).toEqual([]));
  expect(await storedIds()).toEqual([...sent.answered, ...sent.unanswered].toSorted());
  // One device that failed on many accounts is one case, however often the engine was killed.
  const cases = await world.database.query(sql`select subject from cases where subject = 'device:d'`);
  expect(cases).toHaveLength(1);
  await last.stop();
}, 90_000);
