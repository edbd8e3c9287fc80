import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool, types, type ClientConfig } from "pg";
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

// The connections that work under one role of the database: two pools for transactions, and a few for reads. One connection
// never changes its role, for it would plan all that it has prepared anew.
export class Lane {
  readonly #options: ClientConfig;
  // What has to wait long for a lock does so on connections of its own, so that it holds up none of the others.
  readonly writers: Pool;
  readonly waiters: Pool;
  readonly #readers: (Promise<Reader> | undefined)[] = [];
  #nextReader = 0;

  // Without a role: the one that the address logs in as.
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

  // A new connection takes its place.
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

// One pipelined connection for reads. It answers in the order in which it was asked, so that the tenant that was named last
// is the one for all that is sent behind.
export class Reader {
  readonly #client: Client;
  #tenantId: string | null = null;
  #named: Promise<unknown> = Promise.resolve();

  constructor(client: Client) {
    this.#client = client;
  }

  async ask<R extends Row>(statement: Statement, tenantId: string | null): Promise<R[]> {
    if (tenantId !== this.#tenantId) this.#name(tenantId);
    // Where the tenant could not be named, what comes back may be of the one before, and is not given to anybody.
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

// A database that is silent does not answer a goodbye either.
export function givenUp(): Promise<void> {
  return sleep(goodbyeTimeoutMs, undefined, { ref: false });
}

function makePool(options: ClientConfig, max: number, lock_timeout: number): Pool {
  // Pipelined: what a transaction asks at once is sent at once, and the database works while the next statement is written.
  const pool = new Pool({ ...options, pipeline: true, lock_timeout, max, idleTimeoutMillis: 60_000 });
  // An idle connection that breaks is replaced at the next use; there is nobody to tell before.
  pool.on("error", () => {});
  // One that breaks while it is lent out fails its query; without a listener it would end the process as well.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

// A prepared statement keeps its plan until statistics change. One that was planned while a table was all but empty would walk
// over all of it, and be used for a minute while thousands of rows come in. Everything asked often has an index, so that is taken.
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

// Always in UTC and as ISO writes it, but for the space and the zone. A calendar for each took a fifth of a list's time.
function toShownTime(value: string): string {
  return shownTime(`${value.slice(0, 10)}T${value.slice(11, -"+00".length)}Z`);
}

// Times come as the wire writes them, so that no layer above has to know of dates.
function getTypeParser(oid: number, format?: "text" | "binary"): unknown {
  if (format !== "binary" && oid === timestamptz) return toShownTime;
  if (format !== "binary" && oid === int8) return Number;
  return Reflect.apply(types.getTypeParser, types, [oid, format]);
}
