import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { Database } from "./database.ts";
import { PoolerFault, sessionAdvice, type SessionClient } from "./session.ts";

const clientsMax = 4;
const rounds = 3;
const answerMsMax = 5_000;

type Seat = { client: SessionClient; mark: string; pid: number };
type Seen = { pid: number; mark: string | null };

// Refuses a pooler that gives a connection another server from one transaction to the next: locks, settings and prepared
// statements would be left on one server and missed on the other. A connection without a pooler needs no more than a look.
export async function requireSessions(database: Database): Promise<void> {
  const first = await database.connect();
  const clients = [first];
  try {
    if (!first.isPooled) return;
    const more = await Promise.allSettled(Array.from({ length: clientsMax - 1 }, () => database.connect()));
    for (const each of more) if (each.status === "fulfilled") clients.push(each.value);
    if (await areShared(clients))
      throw new PoolerFault(`DATABASE_URL: the pooler moves connections between servers: ${sessionAdvice}`);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

// Two open connections never have the same server, and each keeps its server and its settings while others come and go in between.
// Every round asks in another order, so that it does not matter which free server the pooler gives to the next.
async function areShared(clients: SessionClient[]): Promise<boolean> {
  const seats: Seat[] = [];
  for (const client of clients) {
    const mark = randomUUID();
    const seen = await ask(client, `select set_config('casehound.seat', '${mark}', false)`);
    if (!seen) continue;
    if (seats.some(({ pid }) => pid === seen.pid)) return true;
    seats.push({ client, mark, pid: seen.pid });
  }
  for (let round = 1; round <= rounds; round++) {
    const held: Client[] = [];
    try {
      for (const at of seats.keys()) {
        const seat = seats[(at + round) % seats.length];
        if (!seat) continue;
        const seen = await ask(seat.client, "begin");
        // Others hold all servers that the pooler has: with a server of its own, this one would have answered.
        if (!seen || seen.pid !== seat.pid || seen.mark !== seat.mark) return true;
        held.push(seat.client);
      }
    } finally {
      await Promise.allSettled(held.map((client) => client.query("commit")));
    }
  }
  return false;
}

// Null without an answer in time.
async function ask(client: SessionClient, before: string): Promise<Seen | null> {
  const timer = setTimeout(() => client.cut(), answerMsMax);
  try {
    await client.query(before);
    const { rows } = await client.query<Seen>("select pg_backend_pid() as pid, current_setting('casehound.seat', true) as mark");
    return rows[0] ?? null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
