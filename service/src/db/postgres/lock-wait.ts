import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { advisoryLocks } from "./advisory-locks.ts";

const tryMs = 200;
// A holder that runs no statement for this long is most likely stuck.
const waitMsMax = { idle: 60_000, working: 15 * 60_000 };

// A lock was not released in time.
export class LockFault extends Error {}

type LockName = keyof typeof advisoryLocks;
type Holder = { pid: number; name: string; address: string; user_name: string; since: string; is_idle: boolean };

// Takes the lock until the connection ends. A working holder, such as a process that migrates, is waited for much longer than one
// that does nothing. After that, fails with the name of the holder.
export async function takeLock(client: Client, name: LockName, waitMs = waitMsMax): Promise<void> {
  const began = performance.now();
  let idleSince = began;
  for (;;) {
    if (await tryLock(client, name)) return;
    const holder = await findHolder(client, name);
    const now = performance.now();
    if (holder?.is_idle !== true) idleSince = now;
    if (now - idleSince >= waitMs.idle || now - began >= waitMs.working) throw new LockFault(describe(name, holder, now - began));
    await sleep(tryMs);
  }
}

export async function tryLock(client: Client, name: LockName): Promise<boolean> {
  const lock = advisoryLocks[name];
  const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1) as got", [lock]);
  return rows[0]?.got === true;
}

async function findHolder(client: Client, name: LockName): Promise<Holder | undefined> {
  // PostgreSQL shows a number as its two halves.
  const { rows } = await client.query<Holder>(
    `select l.pid, coalesce(nullif(a.application_name, ''), 'unnamed') as name, coalesce(host(a.client_addr), 'this machine') as address,
       coalesce(a.usename::text, 'unknown') as user_name, coalesce(to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS'), 'unknown') as since,
       coalesce(a.state, 'idle') = 'idle' as is_idle
     from pg_locks as l
     left join pg_stat_activity as a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = $1 and l.objsubid = 1
       and l.database = (select oid from pg_database where datname = current_database())`,
    [advisoryLocks[name]],
  );
  return rows[0];
}

function describe(name: LockName, holder: Holder | undefined, waitedMs: number): string {
  const waited = `the lock "${name}" was not released within ${Math.round(waitedMs / 1000)} s`;
  if (!holder) return `${waited}, because other connections keep taking it: try again`;
  const { pid, address, user_name, since } = holder;
  const who = `process ${pid} of PostgreSQL holds it (${holder.name}, user ${user_name}, from ${address}, connected since ${since} UTC)`;
  const next = `stop it, or run select pg_terminate_backend(${pid})`;
  return `${waited}: ${who}. If that process is stuck, ${next}`;
}
