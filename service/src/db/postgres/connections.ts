import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool, types, type ClientBase, type ClientConfig } from "pg";
import { shownTime } from "../../domain/field.ts";
import { sql, type Row, type Statement } from "./sql.ts";
import { TurnSocket, send, statementTimeoutMs } from "./wire.ts";

export type DatabaseAddress = { connectionString: string } | { host: string; user: string; database: string };

const lockTimeoutMs = 2_000;
const briefLockTimeoutMs = 50;
const connectTimeoutMs = 3_000;
const keepAliveMs = 10_000;
const goodbyeTimeoutMs = 3_000;
const readersMax = 2;

// The connections that run under one database role: two pools for transactions, and a few connections for reads. A connection
// never changes its role, because that would invalidate all its prepared plans.
export class RoleConnections {
  readonly #options: ClientConfig;
  // Transactions that wait long for a lock use their own connections, so that they delay no others.
  readonly writers: Pool;
  readonly waiters: Pool;
  readonly #readers: (Promise<Reader> | undefined)[] = [];
  #nextReader = 0;

  // Without a role, the connections keep the role that the address logs in as.
  constructor(address: DatabaseAddress, { writersMax, role }: { writersMax: number; role?: string }) {
    this.#options = clientOptions(address, role);
    this.writers = makePool(this.#options, writersMax, briefLockTimeoutMs);
    this.waiters = makePool(this.#options, Math.ceil(writersMax / 2), lockTimeoutMs);
  }

  nextSlot(): number {
    return this.#nextReader++ % readersMax;
  }

  reader(slot: number): Promise<Reader> {
    const existing = this.#readers[slot];
    if (existing) return existing;
    const client = new Client({ ...this.#options, pipeline: true });
    const connecting = client.connect().then(() => new Reader(client));
    const drop = () => {
      if (this.#readers[slot] === connecting) this.#readers[slot] = undefined;
    };
    client.on("error", drop);
    client.on("end", drop);
    connecting.catch(drop);
    this.#readers[slot] = connecting;
    return connecting;
  }

  // The next read opens a new connection.
  dropReader(slot: number, dropped: Promise<Reader>): void {
    if (this.#readers[slot] === dropped) this.#readers[slot] = undefined;
    void dropped.then((reader) => reader.end()).catch(() => {});
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
  readonly #client: Client;
  #tenantId: string | null = null;
  #named: Promise<unknown> = Promise.resolve();

  constructor(client: Client) {
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

function makePool(options: ClientConfig, max: number, lock_timeout: number): Pool {
  // Pipelined: a transaction sends concurrent statements at once, and the database works while the next one is being written.
  const pool = new Pool({ ...options, pipeline: true, lock_timeout, max, idleTimeoutMillis: 60_000 });
  // A broken idle connection is replaced at its next use. Nobody needs to know earlier.
  pool.on("error", () => {});
  // If a connection breaks while in use, its query fails. Without a listener, the error would also end the process.
  pool.on("connect", (client) =>
    client.on("error", (error) => {
      if (!endings.has(client)) endings.set(client, error);
    }),
  );
  return pool;
}

// Why a connection was closed between two statements, such as by a timeout. The next statement's own error says only that the
// connection is gone.
const endings = new WeakMap<ClientBase, Error>();

export function endingOf(client: ClientBase): Error | undefined {
  return endings.get(client);
}

// A prepared statement keeps its plan until the statistics change. Planned while a table was nearly empty, it would scan the
// whole table for a minute while thousands of rows come in. Every frequent statement has an index, so sequential scans are turned
// off.
const planning = "-c enable_seqscan=off -c jit=off";

export function clientOptions(address: DatabaseAddress, role?: string): ClientConfig {
  return {
    ...address,
    application_name: "casehound",
    connectionTimeoutMillis: connectTimeoutMs,
    lock_timeout: lockTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    stream: () => new TurnSocket(),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    options: `-c timezone=UTC -c datestyle=ISO -c client_min_messages=warning ${planning}${role === undefined ? "" : ` -c role=${role}`}`,
    types: { getTypeParser },
  };
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
