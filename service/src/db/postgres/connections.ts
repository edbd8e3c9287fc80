import { setTimeout as sleep } from "node:timers/promises";
import { Pool, types, type ClientConfig, type PoolClient } from "pg";
import { shownTime } from "../../domain/text.ts";
import { SessionClient, type Route, type SessionOptions } from "./session.ts";
import { sql, type Row, type Statement } from "./sql.ts";
import { TurnSocket, send } from "./wire.ts";

export type DatabaseAddress = { connectionString: string } | { host: string; user: string; database: string };

const connectTimeoutMs = 3_000;
const keepAliveMs = 10_000;
const goodbyeTimeoutMs = 3_000;
const readersMax = 2;
// `brief` is for transactions that do not wait for locks.
const usual = { lock_timeout: "2s", statement_timeout: "10s", idle_in_transaction_session_timeout: "30s" };
const brief = { ...usual, lock_timeout: "50ms" };
export const unlimited = { lock_timeout: "0", statement_timeout: "0", idle_in_transaction_session_timeout: "0" };

// The connections that run under one database role: two pools for transactions, and a few connections for reads. A connection
// never changes its role, because that would invalidate all its prepared plans.
export class RoleConnections {
  readonly #route: Route;
  readonly #options: SessionOptions;
  // Transactions that wait long for a lock use their own connections, so that they delay no others.
  readonly writers: Pool;
  readonly waiters: Pool;
  readonly #readers: (Promise<Reader> | undefined)[] = [];
  readonly #pooled = new Set<SessionClient>();
  #nextReader = 0;

  // Without a role, the connections keep the role that the address logs in as.
  constructor(route: Route, { writersMax, role }: { writersMax: number; role?: string }) {
    // Pipelined: a transaction sends concurrent statements at once, and the database works while the next one is being written.
    const config = { ...clientConfig, pipeline: true };
    this.#route = route;
    this.#options = { config, limits: usual, ...(role !== undefined && { role }) };
    const writing = { ...this.#options, needsWrites: true };
    this.writers = this.#makePool({ ...writing, limits: brief }, writersMax);
    this.waiters = this.#makePool(writing, Math.ceil(writersMax / 2));
  }

  nextSlot(): number {
    return this.#nextReader++ % readersMax;
  }

  reader(slot: number): Promise<Reader> {
    const existing = this.#readers[slot];
    if (existing) return existing;
    const connecting = this.#openReader(() => drop());
    const drop = () => {
      if (this.#readers[slot] === connecting) this.#readers[slot] = undefined;
    };
    connecting.catch(drop);
    this.#readers[slot] = connecting;
    return connecting;
  }

  async #openReader(onEnd: () => void): Promise<Reader> {
    // Only then is it known which server to connect to.
    await this.#route.ready(false);
    const client = new SessionClient(this.#route, this.#options);
    client.on("error", onEnd);
    client.on("end", onEnd);
    await client.connect();
    return new Reader(client);
  }

  // The next read opens a new connection.
  dropReader(slot: number, dropped: Promise<Reader>): void {
    if (this.#readers[slot] === dropped) this.#readers[slot] = undefined;
    void dropped.then((reader) => reader.end()).catch(() => {});
  }

  // No connection is used again. With `isOther`, another server has taken over, so even the work that is under way ends.
  leave(isOther: boolean): void {
    for (const [slot, reader] of this.#readers.entries()) if (reader) this.dropReader(slot, reader);
    for (const client of this.#pooled) {
      if (isOther || !client.isLent) client.cut();
      else client.isStale = true;
    }
  }

  #makePool(options: SessionOptions, max: number): Pool {
    const route = this.#route;
    const Client = class extends SessionClient {
      constructor() {
        super(route, options);
      }
    };
    const pool = new Pool({ Client, max, idleTimeoutMillis: 60_000, connectionTimeoutMillis: connectTimeoutMs });
    // A broken idle connection is replaced at its next use. Nobody needs to know earlier.
    pool.on("error", () => {});
    pool.on("acquire", (client) => {
      sessionOf(client).isLent = true;
      this.#pooled.add(sessionOf(client));
    });
    pool.on("release", (_error, client) => (sessionOf(client).isLent = false));
    pool.on("remove", (client) => this.#pooled.delete(sessionOf(client)));
    return pool;
  }

  async end(): Promise<void> {
    const readers = await Promise.allSettled(this.#readers.filter((reader) => reader !== undefined));
    await Promise.allSettled([
      this.writers.end(),
      this.waiters.end(),
      ...readers.map((reader) => (reader.status === "fulfilled" ? reader.value.end() : undefined)),
    ]);
  }
}

// One pipelined connection for reads. It processes statements in order, so the last tenant that was set applies to every later
// statement.
export class Reader {
  readonly #client: SessionClient;
  #tenantId: string | null = null;
  #named: Promise<unknown> = Promise.resolve();

  constructor(client: SessionClient) {
    this.#client = client;
  }

  async ask<R extends Row>(statement: Statement, tenantId: string | null): Promise<R[]> {
    if (tenantId !== this.#tenantId) this.#name(tenantId);
    // If setting the tenant failed, the rows may belong to the previous tenant, so they are not returned.
    const [, answer] = await Promise.all([this.#named, send<R>(this.#client, statement)]);
    return answer.rows;
  }

  #name(tenantId: string | null): void {
    this.#tenantId = tenantId;
    this.#named = send(this.#client, sql`select set_config('casehound.tenant', ${tenantId ?? ""}, false)`);
    this.#named.catch(() => {
      this.#tenantId = null;
      void this.#client.end().catch(() => {});
    });
  }

  end(): Promise<void> {
    return this.#client.end();
  }
}

// An unresponsive database does not answer the closing message either.
export function givenUp(): Promise<void> {
  return sleep(goodbyeTimeoutMs, undefined, { ref: false });
}

// The pools make no other kind.
export function sessionOf(client: PoolClient): SessionClient {
  return client as unknown as SessionClient;
}

const timestamptz = 1184;
const int8 = 20;

// The text is always UTC and in ISO form except for the space and the zone. Parsing each one into a Date took a fifth of a list's
// time.
function toShownTime(value: string): string {
  return shownTime(`${value.slice(0, 10)}T${value.slice(11, -"+00".length)}Z`);
}

// Times stay texts in the API's format, so that no layer above handles Date objects.
function getTypeParser(oid: number, format?: "text" | "binary"): unknown {
  if (format !== "binary" && oid === timestamptz) return toShownTime;
  if (format !== "binary" && oid === int8) return Number;
  return Reflect.apply(types.getTypeParser, types, [oid, format]);
}

export const clientConfig: ClientConfig = {
  application_name: "casehound",
  stream: () => new TurnSocket(),
  keepAlive: true,
  keepAliveInitialDelayMillis: keepAliveMs,
  types: { getTypeParser },
};
