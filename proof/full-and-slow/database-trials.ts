import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { dataOf, typeOf, type Answer } from "../writers/call.ts";
import type { Figures, House, Trial } from "./house.ts";

const tooManyCode = "53300";
const takenMs = { short: 1_000, full: 3_000 };
// The lock timeout is 2 s.
const heldMs = { short: 2_800, full: 4_000 };

// Takes every database connection, including the service's, which it terminates.
async function takeConnections(house: House): Promise<Figures> {
  const { crew, admin, stand, scale } = house;
  const taken: Client[] = [];
  const over = new AbortController();
  let taking: Promise<void> = Promise.resolve();
  const take = async () => {
    while (!over.signal.aborted) {
      const client = new Client({ ...stand.postgres.address, application_name: "another" });
      client.on("error", () => {});
      const code = await client.connect().then(
        () => "",
        (error: Error & { code?: string }) => error.code ?? "unknown",
      );
      if (code === "") taken.push(client);
      else if (code === tooManyCode) await sleep(5);
    }
  };
  const figures = await crew.goThrough({
    name: "no free connection",
    begin: async () => {
      taking = take();
      await house.until("others take the connections", () => taken.length > 60);
      await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'casehound' and pid <> pg_backend_pid()",
      );
    },
    lastsMs: takenMs[scale],
    end: async () => {
      over.abort();
      await taking;
      await Promise.all(taken.map((client) => client.end()));
    },
    mustSee: ["502"],
  });
  return { ...figures, "no free connection: used by others": taken.length };
}

type Flagged = { is_blocked: boolean };

function expectAnswer(house: House, what: string, answer: Answer | null, type: string): void {
  const seen = answer === null ? "nothing" : typeOf(answer);
  if (seen !== type) house.ledger.violate(`${what}: expected ${type}, but got ${seen}`);
}

// An account that nobody else works on.
async function makeAccount({ probe }: House, id: string): Promise<void> {
  const answer = await probe.call({ method: "POST", path: "/enduseraccounts", body: { website_account_id: id } });
  if (answer?.status !== 201) throw new Error(`no account: ${answer?.text}`);
}

async function isBlocked({ probe }: House, id: string): Promise<boolean> {
  const answer = await probe.call({ method: "GET", path: `/enduseraccounts/${id}` });
  if (answer?.status !== 200) throw new Error(`no account: ${answer?.text}`);
  return (dataOf(answer) as Flagged).is_blocked;
}

// A statement that takes longer than the statement timeout.
async function takeTooLong(house: House): Promise<Figures> {
  const { crew, admin, probe, ledger } = house;
  const id = `slow-${randomUUID()}`;
  const path = `/enduseraccounts/${id}`;
  const block = () => probe.call({ method: "PUT", path, body: { is_blocked: true } });
  await makeAccount(house, id);
  await admin.query(`
    create function sleep_long() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$;
    create trigger sleep_long before update on accounts for each row
    when (old.website_account_id = '${id}') execute function sleep_long()`);
  return crew.goUnharmed("a slow statement", async () => {
    const began = performance.now();
    expectAnswer(house, "a slow statement", await block(), "bad-gateway");
    const seconds = (performance.now() - began) / 1000;
    await admin.query("drop trigger sleep_long on accounts; drop function sleep_long");
    if (await isBlocked(house, id)) ledger.violate("a slow statement returned 502, but was applied");
    if ((await block())?.status !== 200 || !(await isBlocked(house, id)))
      ledger.violate("after the disturbance, the statement is not applied");
    return { "a slow statement: seconds until 502": Number(seconds.toFixed(1)) };
  });
}

// Locks a row, then a table.
async function holdLocks(house: House): Promise<Figures> {
  const { crew, admin, probe, ledger, stand, tenant, scale } = house;
  const id = `held-${randomUUID()}`;
  await makeAccount(house, id);
  const block = () => probe.call({ method: "PUT", path: `/enduseraccounts/${id}`, body: { is_blocked: true } });
  const holder = await stand.database.connect();
  await holder.query("begin");
  await holder.query("select 1 from accounts where tenant_id = $1 and website_account_id = $2 for update", [
    tenant.tenant_id,
    id,
  ]);
  expectAnswer(house, "a locked row", await block(), "transaction-contended");
  if (await isBlocked(house, id)) ledger.violate("a change was reported as contended, but was applied");
  await holder.query("rollback");
  await holder.end();
  if ((await block())?.status !== 200) ledger.violate("a row cannot be changed after its lock was released");
  return crew.goThrough({
    name: "a locked table",
    begin: async () => {
      await admin.query("begin");
      await admin.query("lock table accounts in exclusive mode");
    },
    lastsMs: heldMs[scale],
    end: async () => void (await admin.query("rollback")),
    mustSee: ["409"],
  });
}

// A broken network: nothing gets through, and nothing is closed.
function fallSilent({ crew, proxy }: House): Promise<Figures> {
  return crew.goThrough({
    name: "a silent database",
    begin: async () => proxy.silence(),
    lastsMs: 14_000,
    end: async () => proxy.speak(),
    mustSee: ["502"],
  });
}

function fallSilentAtCommit({ crew, proxy }: House): Promise<Figures> {
  return crew.goThrough({
    name: "a database silent from a COMMIT on",
    begin: async () => proxy.silenceAtCommit(),
    lastsMs: 14_000,
    end: async () => proxy.speak(),
    mustSee: ["500", "502"],
  });
}

// The first trial does not affect reads, so unread lists have time to pile up.
export const databaseTrials: Trial[] = [
  { name: "a slow statement", isShort: false, run: takeTooLong },
  { name: "no free connection", isShort: true, run: takeConnections },
  { name: "held locks", isShort: true, run: holdLocks },
  { name: "a silent database", isShort: false, run: fallSilent },
  { name: "a database silent from a COMMIT on", isShort: false, run: fallSilentAtCommit },
];
